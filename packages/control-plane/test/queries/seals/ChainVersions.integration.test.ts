import { generateKeyPairSync } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import {
  type ErasureEntry,
  erasedEvent,
  erasuresNext,
  erasuresStart,
  eventBytes,
  eventErasure,
  makeErasuresHead,
  type RunId,
  type Signer,
  servedEvent,
  storedSalts,
  verifyExport
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import type * as HttpServer from "effect/http/HttpServer"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { sealKeyOf } from "../../../src/platform/ledger/SealKeys.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { appendMessages } from "../../support/Appends.ts"
import { commits, LEAD, proposes, RISK, recorded, said } from "../../support/Committee.ts"
import { testSealKey } from "../../support/ControlPlane.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun, readLog } from "../../support/Runs.ts"
import { assertSeals, forgetChain, publishedKeys } from "../../support/SealTests.ts"

const AT = "/data/decodedPayload"
const ERASED = { at: "2026-09-01T08:00:00.000Z", by: "key:1", reason: "request of the person" }
const NAME = "Ann Example"

const vote = said("proposal.updated", "Vote", RISK, { vote: "APPROVE", reason: `${NAME} waited`, isVip: true })

/** A run with a text about a person that has ended. */
const committeeRun = Effect.gen(function* () {
  const runId = yield* recorded(proposes, vote, commits)
  yield* endRun(runId)
  return runId
})

const indexOfVote = Effect.fnUntraced(function* (runId: RunId) {
  const { events } = yield* readLog(runId)
  return events.findIndex(({ event }) => event.includes('"Vote"')) + 1
})

/** Erases members of an event as the service does, or as a writer of the database can: with its key, or another. */
const erase = Effect.fnUntraced(function* (
  runId: RunId,
  index: number,
  pointers: ReadonlyArray<string>,
  signer: Signer | null = testSealKey
) {
  const sql = yield* PgClient.PgClient
  const row = (yield* readLog(runId)).events[index - 1]
  let { erased, text } = servedEvent(eventBytes(row?.event ?? ""))
  let salts = storedSalts(row?.salts ?? null)
  let head = erasuresStart(sha256, runId)
  for (const [at, pointer] of pointers.entries()) {
    const erasure = salts === undefined ? undefined : eventErasure(sha256, text, salts, pointer)
    if (erasure === undefined) return assert.fail(`not erasable: ${pointer}`)
    const entry: ErasureEntry = { target: "event", index, pointer, digest: erasure.digest, ...ERASED }
    head = erasuresNext(sha256, head, at + 1, entry)
    const hex = Buffer.from(head).toString("hex")
    salts = erasure.salts
    erased = [...erased, { pointer, at: ERASED.at, reason: ERASED.reason }]
    yield* sql`
      INSERT INTO run_erasures (run_id, position, target, index, pointer, digest, at, by, reason, head)
      VALUES (${runId}::uuid, ${at + 1}, 'event', ${index}, ${pointer}, ${entry.digest}, ${entry.at}::timestamptz,
              ${entry.by}, ${entry.reason}, ${hex})`
  }
  const end = makeErasuresHead(runId, pointers.length, head, signer ?? undefined)
  const served = Buffer.from(erasedEvent(text, erased) ?? "").toString()
  yield* sql`
    UPDATE canonical_events SET event = ${served}::text::json, seed = NULL, salts = ${JSON.stringify(salts)}::text::json
    WHERE run_id = ${runId}::uuid AND index = ${index}`
  yield* sql`
    INSERT INTO run_erasure_ends (run_id, entries, head, key_id, signature)
    VALUES (${runId}::uuid, ${end.entries}, ${end.head}, ${end.keyId}, ${end.signature})`
  assert.strictEqual((yield* call("POST", `/runs/${runId}/projection/rebuild`)).status, 201)
})

const exportOf = (runId: RunId, format = "json") =>
  Effect.map(call("GET", `/runs/${runId}/export?includeRaw=true&format=${format}`), ({ text }) => text)

/** What the check of an export finds, in both formats. */
const found = Effect.fnUntraced(function* (runId: RunId) {
  const check = yield* publishedKeys
  const results = yield* Effect.forEach(["json", "jsonl"], (format) =>
    Effect.map(exportOf(runId, format), (text) => {
      const result = verifyExport(sha256, check, Buffer.from(text))
      return result.ok ? result : { ...result, why: `${result.index ?? ""}: ${result.why}` }
    })
  )
  const [json, lines] = results
  assert(json !== undefined && lines !== undefined)
  assert.deepStrictEqual(json.ok ? { ...json, seal: null } : json, lines.ok ? { ...lines, seal: null } : lines)
  return json
})

const whyOf = (runId: RunId) => Effect.map(found(runId), (result) => (result.ok ? "it fits" : result.why))

layer(layerTestService(), { excludeTestServices: true })("the versions of the chain", (it) => {
  it.effect("2 is that of new runs: exports have salts, and events do not", () =>
    Effect.gen(function* () {
      const runId = yield* committeeRun
      const seal = yield* assertSeals(runId, (yield* call("GET", `/runs/${runId}/seal`)).body)
      assert.strictEqual(seal.chain, 2)
      const result = yield* found(runId)
      assert.deepInclude(result, { ok: true, erased: 0, signature: "valid" }, JSON.stringify(result))
      const events = yield* call("GET", `/runs/${runId}/events`)
      const log = yield* readLog(runId)
      assert.strictEqual(events.text, `[${log.events.map(({ event }) => event).join(",")}]`)
      const { salts } = JSON.parse(yield* exportOf(runId))
      assert.deepStrictEqual(
        salts.events,
        log.events.map(({ salts }) => salts)
      )
      assert.strictEqual(new Set(salts.events).size, log.events.length)
    })
  )

  it.effect("1 stays that of a run that an earlier release began, also of its later events", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun({ chain: 1 })
      yield* appendMessages(runId, 3, 3)
      const open = yield* found(runId)
      assert.deepInclude(open, { ok: true, seal: null }, JSON.stringify(open))
      yield* endRun(runId)
      yield* log.record({ runId, events: [vote] })
      const { body: seal } = yield* call("GET", `/runs/${runId}/seal`)
      assert.notProperty(seal, "chain")
      assert.deepInclude(seal, { provenAfter: 0, late: false, events: 6 })
      const result = yield* found(runId)
      assert.deepInclude(result, { ok: true, signature: "valid" }, JSON.stringify(result))
      const bundle = JSON.parse(yield* exportOf(runId))
      assert.notProperty(bundle, "salts")
      assert.isTrue((yield* readLog(runId)).events.every(({ salts }) => salts === null))
      const salts = yield* call("GET", `/runs/${runId}/salts`)
      assert.deepStrictEqual(salts.body, { data: [], erasures: null })
      const check = yield* publishedKeys
      const refused = verifyExport(sha256, check, Buffer.from(yield* exportOf(runId)), { minChain: 2 })
      assert.deepInclude(refused, { ok: false, why: "its chain is of version 1, and version 2 is required" })
    })
  )

  it.effect("cannot be changed in the database: no key vouches for the head then", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [ended, open] = [yield* committeeRun, yield* createRun()]
      yield* appendMessages(open, 2, 2)
      for (const runId of [ended, open]) {
        yield* sql`UPDATE run_heads SET chain_version = 1 WHERE run_id = ${runId}::uuid`
      }
      const { body: late } = yield* call("GET", `/runs/${ended}/seal`)
      assert.deepInclude(late, { late: true, provenAfter: late.events })
      assert.notProperty(late, "chain")
      yield* endRun(open)
      const { body: seal } = yield* call("GET", `/runs/${open}/seal`)
      assert.deepInclude(seal, { events: 4, provenAfter: 3 })
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("an erasure in the log", (it) => {
  it.effect("leaves the seal valid, and nothing of the value in an export", () =>
    Effect.gen(function* () {
      const runId = yield* committeeRun
      const { body: before } = yield* call("GET", `/runs/${runId}/seal`)
      const index = yield* indexOfVote(runId)
      yield* erase(runId, index, [`${AT}/reason`, `${AT}/isVip`])
      assert.deepStrictEqual((yield* call("GET", `/runs/${runId}/seal`)).body, before)
      const result = yield* found(runId)
      assert.deepInclude(result, { ok: true, erased: 2, signature: "valid" }, JSON.stringify(result))
      const text = yield* exportOf(runId)
      assert.notInclude(text, NAME)
      const { body: events } = yield* call("GET", `/runs/${runId}/events`)
      assert.deepInclude(events[index - 1].data.decodedPayload, { reason: "", isVip: null, vote: "APPROVE" })
      assert.deepStrictEqual(
        events[index - 1].erased.map(({ pointer }: { readonly pointer: string }) => pointer),
        [`${AT}/reason`, `${AT}/isVip`]
      )
      const { body: salts } = yield* call("GET", `/runs/${runId}/salts?afterSeq=${events[index - 2].seq}&limit=1`)
      assert.deepStrictEqual(Object.keys(salts.data[0].salts), [])
      assert.deepInclude(salts.erasures.head, { entries: 2, keyId: testSealKey.keyId })
      // A late seal covers the same chain.
      yield* forgetChain(runId)
      const { body: late } = yield* call("GET", `/runs/${runId}/seal`)
      assert.deepInclude(late, { late: true, chain: 2, head: before.head, events: before.events })
    })
  )

  it.effect("is found where a writer of the database without the key made it", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const reword = (from: string, to: string) => (runId: RunId, index: number) =>
        sql`
        UPDATE canonical_events SET event = replace(event::text, ${from}, ${to})::json
        WHERE run_id = ${runId}::uuid AND index = ${index}`
      const other = sealKeyOf(generateKeyPairSync("ed25519").privateKey)
      const unlike = "the events do not end in the head that was sealed"
      const cases: ReadonlyArray<
        readonly [
          string,
          (runId: RunId, index: number) => Effect.Effect<unknown, unknown, PgClient.PgClient | HttpServer.HttpServer>
        ]
      > = [
        [unlike, reword(`"reason":"${NAME} waited"`, '"reason":""')],
        [
          `${unlike}`,
          (runId) =>
            sql`UPDATE canonical_events SET seed = decode(repeat('00', 16), 'hex') WHERE run_id = ${runId}::uuid AND event::text LIKE '%"Vote"%'`
        ],
        [
          `the salt of ${AT}/reason is missing`,
          (runId, index) =>
            sql`UPDATE canonical_events SET seed = NULL WHERE run_id = ${runId}::uuid AND index = ${index}`
        ],
        [
          `${AT}/reason is erased without an entry`,
          (runId, index) =>
            Effect.andThen(
              erase(runId, index, [`${AT}/reason`]),
              Effect.andThen(
                sql`DELETE FROM run_erasure_ends WHERE run_id = ${runId}::uuid`,
                sql`DELETE FROM run_erasures WHERE run_id = ${runId}::uuid`
              )
            )
        ],
        [
          "appendix of erasures does not fit",
          (runId, index) =>
            Effect.andThen(
              erase(runId, index, [`${AT}/reason`, `${AT}/isVip`]),
              sql`DELETE FROM run_erasures WHERE run_id = ${runId}::uuid AND position = 2`
            )
        ],
        [
          "appendix of erasures does not fit",
          (runId, index) =>
            Effect.andThen(
              erase(runId, index, [`${AT}/reason`, `${AT}/isVip`]),
              sql`UPDATE run_erasures SET digest = (SELECT digest FROM run_erasures o WHERE o.run_id = run_erasures.run_id AND o.position = 3 - run_erasures.position) WHERE run_id = ${runId}::uuid`
            )
        ],
        [
          unlike,
          (runId, index) =>
            Effect.andThen(
              erase(runId, index, [`${AT}/reason`]),
              sql`UPDATE canonical_events SET salts = json_build_object(${`${AT}/isVip`}::text, repeat('A', 22)) WHERE run_id = ${runId}::uuid AND index = ${index}`
            )
        ],
        [
          "its seal is signed, and its appendix of erasures is not",
          (runId, index) => erase(runId, index, [`${AT}/reason`], null)
        ],
        ["is not known", (runId, index) => erase(runId, index, [`${AT}/reason`], other)],
        [
          "the signature of the erasures is not its key's",
          (runId, index) => erase(runId, index, [`${AT}/reason`], { ...other, keyId: testSealKey.keyId })
        ]
      ]
      for (const [why, forge] of cases) {
        const runId = yield* committeeRun
        yield* call("GET", `/runs/${runId}/seal`)
        yield* forge(runId, yield* indexOfVote(runId))
        assert.include(yield* whyOf(runId), why)
      }
    })
  )

  it.effect("keeps an erased member of an agent's own words apart", () =>
    Effect.gen(function* () {
      const runId = yield* recorded(proposes, said("proposal.updated", "Vote", LEAD, { vote: "APPROVE", erased: true }))
      yield* endRun(runId)
      assert.deepInclude(yield* found(runId), { ok: true, erased: 0 })
      const { body: events } = yield* call("GET", `/runs/${runId}/events`)
      assert.isTrue(events.every((event: object) => !("erased" in event)))
    })
  )
})
