import { randomBytes } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { ERASED_TEXT, memberDigest, memberSalt, textFinder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { LedgerWriter } from "../../../src/platform/ledger/LedgerWriter.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { appendMessages } from "../../support/Appends.ts"
import { COST, opened, RISK, said } from "../../support/Committee.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService, openStream } from "../../support/HttpService.ts"
import { aDeletion, createRun, removeRuns } from "../../support/Runs.ts"
import { assertFolded, dumped, eraseText, PERSON, personRun, REASON, rowsWith, verifiedExports } from "./PersonRuns.ts"

const post = (runId: string, body: object) => call("POST", `/runs/${runId}/erasures`, { body })

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Events of the run as they are served. */
const eventsOf = (runId: string) => Effect.map(call("GET", `/runs/${runId}/events?limit=200`), ({ body }) => body)

layer(layerTestService(), { excludeTestServices: true })("an erasure", (it) => {
  it.effect("leaves nothing of a text in the database, and exports that verify", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      assert.isAbove((yield* rowsWith(PERSON)).length, 5)
      const { erased, planned } = yield* eraseText(runId)
      assert.strictEqual(erased.members, planned.members)
      assert.isAbove(erased.members, 4)
      assert.deepStrictEqual(erased.rows, planned.rows)
      assert.deepStrictEqual(erased.remains, planned.remains)
      assert.isNull(erased.pending)
      assert.isAbove(erased.notReached.length, 5)
      // The label of the artifact is in its audit entry, whose digest is in the ledger.
      assert.deepStrictEqual(
        erased.remains.map(({ of }: { of: string }) => of),
        ["audit entry"]
      )
      const left = yield* rowsWith(PERSON)
      assert.lengthOf(left, 1, left.join("\n"))
      yield* assertFolded(runId)
      for (const { text, verified } of yield* verifiedExports(runId)) {
        assert.isFalse(textFinder(PERSON)(text), text)
        assert.isTrue(verified.ok && verified.erased === erased.members)
      }
    })
  )

  it.effect("is said in events, in the state and in the explanation", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      yield* eraseText(runId)
      const events = yield* eventsOf(runId)
      const votes = events.filter(({ data }: { data: { messageType?: string } }) => data.messageType === "Vote")
      assert.strictEqual(votes[1].data.decodedPayload.reason, "")
      assert.deepInclude(votes[1].erased[0], { pointer: "/data/decodedPayload/reason", reason: REASON })
      assert.isUndefined(votes[0].erased)
      for (const path of ["state", "decision/why", "forecast"]) {
        const { status, text } = yield* call("GET", `/runs/${runId}/${path}`)
        assert.strictEqual(status, 200, path)
        if (path !== "forecast") assert.include(text, ERASED_TEXT, path)
        assert.isFalse(textFinder(PERSON)(text), path)
      }
    })
  )

  it.effect("is in every answer that was cached before", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const [, , third] = yield* eventsOf(runId)
      const paths = [
        "decision/why",
        "forecast",
        "decision/card",
        "state",
        `replay/state?seq=${third.seq}`,
        "replay/state"
      ]
      const read = Effect.forEach(paths, (path) =>
        Effect.map(call("GET", `/runs/${runId}/${path}`), ({ text }) => text)
      )
      const isIn = textFinder(PERSON)
      assert.isTrue((yield* read).some(isIn))
      yield* read
      yield* eraseText(runId)
      for (const [at, text] of (yield* read).entries()) assert.isFalse(isIn(text), paths[at])
    })
  )

  it.effect("changes nothing as a dry run, and is refused without its plan", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const before = yield* rowsWith(PERSON)
      const planned = yield* post(runId, { find: PERSON, reason: REASON, dryRun: true })
      assert.strictEqual(planned.status, 200)
      assert.deepStrictEqual(yield* rowsWith(PERSON), before)
      const refused = yield* post(runId, { find: PERSON, reason: REASON })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.body.message, "plan is required")
      yield* (yield* EventLog).record({
        runId,
        events: [said("proposal.updated", "Objection", COST, { severity: "low", reason: PERSON })]
      })
      const outdated = yield* post(runId, { find: PERSON, reason: REASON, plan: planned.body.plan })
      assert.strictEqual(outdated.status, 409)
      assert.match(outdated.body.message, /the plan is out of date: it erased \d+ members, now \d+ members match/)
      assert.isAbove((yield* rowsWith(PERSON)).length, before.length)
    })
  )

  it.effect("is refused with the field that is wrong", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const refusals: ReadonlyArray<readonly [object, string]> = [
        [{ reason: REASON, dryRun: true }, "either find or members"],
        [{ find: PERSON, members: [{ index: 1, pointer: "/data/x" }], reason: REASON, dryRun: true }, "either find or"],
        [{ find: PERSON, dryRun: true }, "reason"],
        [{ find: PERSON, reason: `${PERSON} asked`, dryRun: true }, "reason must not contain"],
        [{ find: "x", reason: REASON, dryRun: true }, "find"],
        [{ find: "   ", reason: REASON, dryRun: true }, "find"],
        [{ find: PERSON, reason: REASON, dryRun: true, force: true }, "force"],
        [{ members: [{ index: 999, pointer: "/data/reason" }], reason: REASON, dryRun: true }, "no event 999"]
      ]
      for (const [body, expected] of refusals) {
        const answer = yield* post(runId, body)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.include(answer.text, expected)
      }
      const kept = yield* post(runId, {
        members: [{ index: 1, pointer: "/data/sessionId" }],
        ...{ reason: REASON, dryRun: true }
      })
      assert.strictEqual(kept.status, 409)
      assert.include(kept.body.message, "event 1 has no erasable member /data/sessionId: the decision is computed")
      assert.strictEqual((yield* call("POST", `/runs/${"0".repeat(36)}/erasures`, { body: {} })).status, 400)
    })
  )

  it.effect("erases named members and their raw frames, and names copies that stay", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const events = yield* eventsOf(runId)
      const { index } = events.find(({ data }: { data: { payload?: { note?: string } } }) => data.payload?.note)
      const members = [{ index, pointer: "/data/payload/note" }]
      const planned = yield* post(runId, { members, reason: REASON, dryRun: true })
      assert.strictEqual(planned.status, 200, planned.text)
      assert.deepStrictEqual(
        planned.body.erased.map(({ target }: { target: string }) => target),
        ["event", "frame"]
      )
      const copies = planned.body.remains.filter(({ why }: { why: string }) => why.includes("same value"))
      assert.isAbove(copies.length, 0)
      const erased = yield* post(runId, { members, reason: REASON, plan: planned.body.plan })
      assert.strictEqual(erased.status, 200, erased.text)
      const again = yield* post(runId, { members, reason: REASON, dryRun: true })
      assert.strictEqual(again.status, 409)
      assert.include(again.body.message, "is erased already")
      yield* verifiedExports(runId)
      yield* assertFolded(runId)
    })
  )

  it.effect("takes the content of an artifact with its digest", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const events = yield* eventsOf(runId)
      const { index } = events.find(({ type }: { type: string }) => type === "artifact.created")
      const members = [{ index, pointer: "/data/contentSha256" }]
      const planned = yield* post(runId, { members, reason: REASON, dryRun: true })
      yield* post(runId, { members, reason: REASON, plan: planned.body.plan })
      const { body } = yield* call("GET", `/runs/${runId}/artifacts`)
      assert.isUndefined(body[0].inline)
      yield* verifiedExports(runId)
    })
  )

  it.effect("keeps what the decision is computed with, and names it", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* (yield* EventLog).record({
        runId,
        events: [
          ...opened.filter(({ type }) => type !== "session.bound"),
          said("proposal.created", "Proposal", RISK, { option: `pay ${PERSON}`, rationale: `${PERSON} waits` })
        ]
      })
      const { erased } = yield* eraseText(runId)
      const kept = erased.remains.find(({ pointer }: { pointer?: string }) => pointer === "/data/decodedPayload/option")
      assert.include(kept.why, "the decision is computed with it")
      assert.isTrue(
        erased.remains.some(({ of, why }: { of: string; why: string }) => of === "run" && /is open/.test(why))
      )
    })
  )

  it.effect("is refused for a run of version 1", () =>
    Effect.gen(function* () {
      const runId = yield* createRun({ chain: 1 })
      const answer = yield* post(runId, { find: PERSON, reason: REASON, dryRun: true })
      assert.strictEqual(answer.status, 409)
      assert.include(answer.body.message, "sealed in version 1")
    })
  )

  it.effect("is refused for a run that has left the database", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      yield* removeRuns([runId], { ...aDeletion, reason: "expired" })
      const answer = yield* post(runId, { find: PERSON, reason: REASON, dryRun: true })
      assert.strictEqual(answer.status, 409, answer.text)
      assert.include(answer.body.message, "has left the database")
      assert.strictEqual(
        (yield* post("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10", { find: PERSON, reason: REASON, dryRun: true })).status,
        404
      )
    })
  )

  it.effect("of a yes or no leaves nothing that shows which it was", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* createRun()
      yield* (yield* EventLog).record({
        runId,
        events: [said("proposal.updated", "Objection", COST, { severity: "low", reason: "x", isVip: true })]
      })
      const pointer = "/data/decodedPayload/isVip"
      const members = [{ index: 2, pointer }]
      const [stored] = yield* sql<{ readonly seed: Uint8Array }>`
        SELECT seed FROM canonical_events WHERE run_id = ${runId}::uuid AND index = 2`
      const salt = memberSalt(sha256, stored?.seed ?? new Uint8Array(), pointer)
      const { body } = yield* post(runId, { members, reason: REASON, dryRun: true })
      yield* post(runId, { members, reason: REASON, plan: body.plan })
      const [entry] = yield* sql<{ readonly digest: string }>`
        SELECT digest FROM run_erasures WHERE run_id = ${runId}::uuid`
      const isOf = (guess: string, value: string) =>
        memberDigest(sha256, guess, pointer, bytesOf(value)) === entry?.digest
      // The salt of before shows the value; it is not kept.
      assert.isTrue(isOf(salt, "true"))
      assert.isFalse(isOf(salt, "false"))
      const kept = (yield* dumped).map(({ text }) => text).join("\n")
      const { text: served } = yield* call("GET", `/runs/${runId}/export?includeRaw=true`)
      const found = [...`${kept} ${served}`.matchAll(/[\w-]{22}/g)].map(([text]) => text)
      const seeds = [...kept.matchAll(/\\\\x([0-9a-f]{32})(?![0-9a-f])/g)].map(([, hex = ""]) =>
        memberSalt(sha256, Buffer.from(hex, "hex"), pointer)
      )
      const random = Array.from({ length: 10_000 }, () => randomBytes(16).toString("base64url"))
      assert.isAbove(found.length, 10)
      assert.isAbove(seeds.length, 0)
      assert.isFalse([...found, ...seeds, ...random].some((guess) => isOf(guess, "true") || isOf(guess, "false")))
      assert.notInclude(kept, salt)
    })
  )

  it.effect("lets an open run go on, whose end is sealed over both", () =>
    Effect.gen(function* () {
      const runId = yield* personRun(PERSON, false)
      yield* eraseText(runId)
      yield* appendMessages(runId, 3)
      yield* (yield* EventLog).record({
        runId,
        events: [said("proposal.updated", "Objection", COST, { severity: "low", reason: `${PERSON} again` })]
      })
      yield* endRun(runId)
      const second = yield* eraseText(runId)
      assert.strictEqual(second.erased.members, 1)
      for (const { text, verified } of yield* verifiedExports(runId)) {
        assert.isFalse(textFinder(PERSON)(text))
        assert.isTrue(verified.ok && verified.signature === "valid")
      }
      yield* assertFolded(runId)
    })
  )

  it.effect("has a line in the ledger, and an audit entry without the text", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* personRun()
      const { erased } = yield* eraseText(runId)
      yield* LedgerWriter.use(({ numberPending }) => numberPending)
      const [last] = yield* sql<{ readonly number: bigint }>`SELECT max(number) AS number FROM ledger`
      const path = `/ledger?limit=50&after=${Math.max(0, Number(last?.number ?? 0) - 50)}`
      const { body } = yield* call("GET", path)
      const subject = `${runId}/${erased.members}`
      const line = body.data.find((entry: { subject: string }) => entry.subject === subject)
      assert.deepInclude(line, { kind: "erasure", content: "kept", vouched: true })
      const entries = yield* sql<{ readonly details: string }>`
        SELECT details::text AS details FROM audit_log WHERE resource_id = ${runId} AND action = 'run.erase'`
      assert.lengthOf(entries, 1)
      assert.notInclude(entries[0]?.details ?? "", "Jürgen")
      // A writer of the database who takes an entry back leaves a line without its content.
      yield* sql`UPDATE run_erasure_ends SET entries = entries - 1 WHERE run_id = ${runId}::uuid`
      yield* sql`DELETE FROM run_erasures WHERE run_id = ${runId}::uuid AND position = ${erased.members}`
      const changed = yield* call("GET", path)
      assert.deepInclude(
        changed.body.data.find((entry: { subject: string }) => entry.subject === subject),
        { content: "missing" }
      )
    })
  )

  it.effect("does not count a mark of an agent as an erasure", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* (yield* EventLog).record({
        runId,
        events: [said("proposal.updated", "Objection", COST, { severity: "low", reason: "", erased: true })]
      })
      const [, event] = yield* eventsOf(runId)
      assert.isUndefined(event.erased)
      assert.notInclude((yield* call("GET", `/runs/${runId}/state`)).text, ERASED_TEXT)
    })
  )

  it.effect("leaves no text in the buffer of a log stream", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const readTo = Effect.fnUntraced(function* (
          stream: Effect.Success<ReturnType<typeof openStream>>,
          runId: string
        ) {
          let text = ""
          while (!(text.includes(runId) && text.includes("run.failed")))
            text += (yield* stream.nextText) ?? assert.fail(text)
          return text
        })
        const stream = yield* openStream("/events/stream")
        const runId = yield* personRun()
        const text = yield* readTo(stream, runId)
        assert.isTrue(textFinder(PERSON)(text))
        const first = Number(/id: (\d+)/.exec(text)?.[1])
        yield* eraseText(runId)
        const again = yield* openStream("/events/stream", { "last-event-id": String(first) })
        assert.isFalse(textFinder(PERSON)(yield* readTo(again, runId)))
      })
    )
  )

  it.effect("wins once against another one, and loses to a deletion", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const { body } = yield* post(runId, { find: PERSON, reason: REASON, dryRun: true })
      const both = yield* Effect.all(
        [1, 2].map(() => post(runId, { find: PERSON, reason: REASON, plan: body.plan })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [200, 409])
      yield* verifiedExports(runId)
      const gone = yield* personRun()
      const planned = yield* post(gone, { find: PERSON, reason: REASON, dryRun: true })
      const [deleted, erased] = yield* Effect.all(
        [call("DELETE", `/runs/${gone}`), post(gone, { find: PERSON, reason: REASON, plan: planned.body.plan })],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(deleted.status, 204)
      assert.include([200, 404], erased.status)
    })
  )

  it.effect("and the appends of the run leave each other whole", () =>
    Effect.gen(function* () {
      const runId = yield* personRun(PERSON, false)
      const { body } = yield* post(runId, { find: PERSON, reason: REASON, dryRun: true })
      const [erased] = yield* Effect.all(
        [post(runId, { find: PERSON, reason: REASON, plan: body.plan }), appendMessages(runId, 60)],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(erased.status, 200, erased.text)
      yield* appendMessages(runId, 5)
      yield* endRun(runId)
      yield* verifiedExports(runId)
      assert.isTrue(
        (yield* rowsWith(PERSON)).every((row) => !row.includes(runId) || row.startsWith("public.audit_log"))
      )
    })
  )
})
