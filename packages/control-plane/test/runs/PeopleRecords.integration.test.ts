import { createHash, randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { encodePayload } from "@runplane/runtime"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { endRun } from "../support/EndedRuns.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"
import { subscribe } from "../support/Webhooks.ts"

const SEAT = "officer"
const MODE = "macp.mode.decision.v1"
const PAYLOAD = encodePayload("macp.modes.decision.v1.VotePayload", {
  proposalId: "p1",
  vote: "REJECT",
  reason: "no\n[person ada item i1 sha256:1a2b]"
})
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
const HASH = "1a2b3c4d".repeat(8)
const TIME = "2026-11-30T10:04:00.000Z"

/** An accepted message of the session of a run. */
const say = (runId: RunId, cursor: number, messageId: string, sender: string, messageType: string, payload = PAYLOAD) =>
  Effect.flatMap(EventLog, (log) =>
    log.observe({
      runId,
      cursor,
      frames: [
        observed(
          {
            kind: "stream-envelope",
            ambient: false,
            envelope: {
              ...{ macpVersion: "1.0", mode: MODE, messageType, messageId, sessionId: runId, sender, payload },
              timestampUnixMs: 1
            }
          },
          TIME
        )
      ]
    })
  )

/** A run with a proposal and the vote of the seat. */
const votedRun = Effect.gen(function* () {
  const runId = yield* createRun({ scenarioRef: "payments/limit@1.0.0" })
  const proposal = encodePayload("macp.modes.decision.v1.ProposalPayload", { proposalId: "p1", option: "raise" })
  yield* say(runId, 0, "m-p", "lead", "Proposal", proposal)
  yield* say(runId, 1, "m-own", SEAT, "Vote")
  return runId
})

const answer = (over: object = {}) => ({
  v: 1,
  item: "i1",
  seat: SEAT,
  origin: "person",
  person: "ada",
  proof: "session",
  act: "reject",
  messageId: "m-own",
  ordinal: 2,
  payloadSha256: sha256(PAYLOAD),
  proposalHash: HASH,
  basis: { ordinal: 1, sha256: HASH, withheld: [] },
  unseen: [],
  askedAt: "2026-11-30T10:00:00.000Z",
  answeredAt: TIME,
  channel: "api",
  revealed: "after",
  couldHaveSeen: false,
  nonce: "0f".repeat(32),
  ...over
})
const item = (over: object = {}) => ({
  v: 1,
  item: "i1",
  event: "opened",
  seat: SEAT,
  scenario: "payments/limit@1.0.0",
  state: "open",
  unanswered: false,
  proposalHash: HASH,
  openedAt: TIME,
  deadline: "2026-11-30T14:04:00.000Z",
  nonce: "0e".repeat(32),
  ...over
})

const post = (runId: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  call("POST", `/runs/${runId}/artifacts`, { body, headers })
const postAnswer = (runId: string, over: object = {}, key = "people.answer:i1") =>
  post(runId, { kind: "people.answer", label: "Answer of officer", inline: answer(over), idempotencyKey: key })
const postItem = (runId: string, over: object = {}, key: string = randomUUID()) =>
  post(runId, { kind: "people.item", label: "Question", inline: item(over), idempotencyKey: key })

const artifactsOf = (runId: string) => Effect.map(call("GET", `/runs/${runId}/artifacts`), ({ body }) => body)
const eventsOf = (runId: string) =>
  Effect.map(call("GET", `/runs/${runId}/events?limit=200`), ({ body }) =>
    (body.data ?? body).filter(({ type }: { type: string }) => type === "artifact.created")
  )

describe("records of people", () => {
  const service = layerTestService({ settings: { LAUNCHER_PUBLIC_URL: "https://launch.example.org/" } })
  layer(service, { excludeTestServices: true })("of a service without keys", (it) => {
    it.effect("given the message of the answer on record, keeps the answer with its event", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        const added = yield* postAnswer(runId)
        assert.strictEqual(added.status, 201, added.text)
        const [event] = yield* eventsOf(runId)
        const { contentSha256, ...data } = event.data
        assert.deepStrictEqual(data, {
          artifactId: added.body.id,
          kind: "people.answer",
          label: "Answer of officer",
          answer: {
            ...{ item: "i1", seat: SEAT, messageId: "m-own", hash: "1a2b3c4d", unseen: {}, person: "ada" },
            ...{ askedAt: "2026-11-30T10:00:00.000Z", answeredAt: TIME, revealed: "after" }
          }
        })
        assert.strictEqual(contentSha256, createHash("sha256").update(JSON.stringify(added.body.inline)).digest("hex"))
        const { body: why } = yield* call("GET", `/runs/${runId}/decision/why`)
        const claim = why.claims.find(({ person }: { person?: string }) => person === "ada")
        assert.strictEqual(
          claim?.text,
          "person:ada voted REJECT on p1 for officer at 2026-11-30 10:04 UTC, on the proposal as it stood " +
            '(hash 1a2b3c4d): "no"'
        )
      })
    )

    it.effect("given a repeated key, answers the first artifact, and 409 for another content", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        const first = yield* postAnswer(runId)
        const again = yield* postAnswer(runId)
        assert.deepStrictEqual([again.status, again.body], [201, first.body])
        const other = yield* postAnswer(runId, { person: "eve" })
        assert.strictEqual(other.status, 409, other.text)
        assert.match(other.body.message, /another artifact with the idempotencyKey people\.answer:i1/)
        assert.deepStrictEqual(yield* artifactsOf(runId), [first.body])
        assert.lengthOf(yield* eventsOf(runId), 1)
        // The key is that of the run alone.
        assert.strictEqual((yield* postAnswer(yield* votedRun)).status, 201)
      })
    )

    it.effect("given 20 requests of one key at the same moment, stores one artifact and one event", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        const all = yield* Effect.forEach(Array.from({ length: 20 }), () => postAnswer(runId), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          all.map(({ status }) => status),
          all.map(() => 201)
        )
        assert.strictEqual(new Set(all.map(({ body }) => body.id)).size, 1)
        assert.lengthOf(yield* artifactsOf(runId), 1)
        assert.lengthOf(yield* eventsOf(runId), 1)
      })
    )

    it.effect("given a key of any other artifact, answers it again", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const body = { kind: "report", label: "r", inline: { a: 1 }, idempotencyKey: "k" }
        const first = yield* post(runId, body)
        assert.deepStrictEqual((yield* post(runId, body)).body, first.body)
        assert.strictEqual((yield* post(runId, { ...body, label: "s" })).status, 409)
        const blank = yield* post(runId, { ...body, idempotencyKey: " " })
        assert.strictEqual(blank.status, 400, blank.text)
        assert.match(JSON.stringify(blank.body.message), /idempotencyKey/)
      })
    )

    it.effect("given no such message, answers 409, and takes the answer once it is on record", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const early = yield* postAnswer(runId)
        assert.strictEqual(early.status, 409, early.text)
        assert.match(early.body.message, /has no accepted message m-own on record yet/)
        yield* say(runId, 0, "m-own", SEAT, "Vote")
        assert.strictEqual((yield* postAnswer(runId)).status, 201)
      })
    )

    it.effect.each([
      ["the message of another", { seat: "a" }, /^inline\.seat: message m-own is of officer/],
      ["other bytes", { payloadSha256: HASH }, /^inline\.payloadSha256: message m-own has other bytes/],
      ["no nonce", { nonce: "" }, /^inline: nonce must be a string matching/],
      ["an unknown member", { text: "x" }, /^inline: property text should not exist/],
      ["an act that is none", { act: "yes" }, /^inline: act must be one of/]
    ] as const)("given an answer with %s, answers 400 with the name of the field", ([, over, message]) =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        const refused = yield* postAnswer(runId, over)
        assert.strictEqual(refused.status, 400, refused.text)
        assert.match(refused.body.message, message)
        assert.deepStrictEqual(yield* artifactsOf(runId), [])
      })
    )

    it.effect("given a run that has ended, takes the record, and the seal covers it", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        yield* endRun(runId)
        const before = yield* call("GET", `/runs/${runId}/seal`)
        assert.strictEqual((yield* postAnswer(runId)).status, 201)
        const { body: seal } = yield* call("GET", `/runs/${runId}/seal`)
        assert.isAbove(seal.events, before.body.events)
        assert.strictEqual(seal.previous?.events, before.body.events)
      })
    )

    it.effect("reads an accepted message by its id, with the digest of its bytes", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        const { body, status } = yield* call("GET", `/runs/${runId}/messages/m-own`)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body, {
          messageId: "m-own",
          messageType: "Vote",
          sender: SEAT,
          ordinal: 2,
          payloadSha256: sha256(PAYLOAD),
          receivedAt: TIME
        })
        assert.strictEqual((yield* call("GET", `/runs/${runId}/messages/m-none`)).status, 404)
        const { body: refused, status: refusal } = yield* call("GET", `/runs/${runId}/messages/m%00own`)
        assert.strictEqual(refusal, 400)
        assert.strictEqual(refused.message, "Validation failed (the path must not contain the character U+0000)")
        assert.strictEqual((yield* call("GET", `/runs/${randomUUID()}/messages/m-own`)).body.errorCode, "RUN_NOT_FOUND")
      })
    )

    it.effect("notifies webhooks of questions that open and close, without a text of the proposal", () =>
      Effect.gen(function* () {
        const { id } = yield* subscribe("https://example.org/hook", ["item.opened", "item.closed"])
        const runId = yield* votedRun
        yield* postItem(runId, {}, "k1")
        yield* postItem(runId, {}, "k1")
        yield* postItem(runId, {
          ...{
            event: "closed",
            state: "withdrawn",
            reason: "the session is RESOLVED",
            unanswered: true,
            closedAt: TIME
          }
        })
        const { body } = yield* call("GET", `/webhooks/${id}/deliveries`)
        const sent: ReadonlyArray<{ timestamp: string }> = body.data
          .map((delivery: { payload: object }) => delivery.payload)
          .toReversed()
        const data = {
          ...{ item: "i1", seat: SEAT, scenario: "payments/limit@1.0.0", hash: "1a2b3c4d" },
          ...{ deadline: "2026-11-30T14:04:00.000Z", link: "https://launch.example.org/inbox/i1" }
        }
        assert.deepStrictEqual(
          sent.map(({ timestamp, ...rest }) => rest),
          [
            { event: "item.opened", runId, data: { ...data, state: "open", unanswered: false } },
            { event: "item.closed", runId, data: { ...data, state: "withdrawn", unanswered: true } }
          ]
        )
      })
    )

    it.effect("sends what becomes of questions to chats in their format, and to others as JSON", () =>
      Effect.gen(function* () {
        const add = (body: object) =>
          call("POST", "/webhooks", { body: { url: "https://example.org/chat", secret: "s", ...body } })
        const slack = yield* add({ format: "slack", events: ["item.reminded", "item.undelivered"] })
        assert.strictEqual(slack.body.format, "slack", slack.text)
        const teams = yield* add({ format: "teams" })
        const generic = yield* add({ events: ["item.reminded"] })
        assert.isUndefined(generic.body.format)
        const runId = yield* votedRun
        yield* postItem(runId)
        yield* postItem(runId, { event: "reminded" })
        yield* postItem(runId, { event: "undelivered" })
        const sent = (of: { body: { id: string } }) =>
          Effect.map(call("GET", `/webhooks/${of.body.id}/deliveries`), ({ body }) =>
            body.data.map(({ event, payload }: { event: string; payload: object }) => [event, payload]).toReversed()
          )
        const [reminded, undelivered, ...more] = yield* sent(slack)
        assert.deepStrictEqual(more, [])
        assert.deepInclude(reminded[1], { text: `Reminder: question for ${SEAT}` })
        assert.include(JSON.stringify(reminded[1]), "<https://launch.example.org/inbox/i1|Open in Runplane>")
        assert.deepInclude(undelivered[1], { text: `No person was notified: question for ${SEAT}` })
        const cards = yield* sent(teams)
        assert.deepStrictEqual(
          cards.map(([event]: [string]) => event),
          ["item.opened", "item.reminded", "item.undelivered"],
          "no event of a run"
        )
        assert.isTrue(cards.every(([, body]: [string, { type: string }]) => body.type === "message"))
        const [json] = yield* sent(generic)
        assert.deepInclude(json[1], { event: "item.reminded", runId })
        const tested = yield* call("POST", `/webhooks/${slack.body.id}/test`)
        assert.strictEqual(tested.body.payload.text, "Test of a subscription", tested.text)
        const refused = yield* add({ format: "slack", events: ["item.opened", "run.failed"] })
        assert.strictEqual(refused.status, 400)
        assert.match(
          refused.body.message,
          /^events: the format slack has messages of item events alone, got run\.failed/
        )
        const changed = yield* call("PATCH", `/webhooks/${teams.body.id}`, { body: { events: ["run.failed"] } })
        assert.strictEqual(changed.status, 400, changed.text)
      })
    )

    it.effect("notifies webhooks of each escalation, and fires an alert for one without a person", () =>
      Effect.gen(function* () {
        const { id } = yield* subscribe("https://example.org/steps", ["item.escalated", "item.unreachable"])
        // The rule of the reference.
        const rule = yield* call("POST", "/alerts/rules", {
          body: {
            ...{
              id: "person.unreached",
              name: "person.unreached",
              measure: "personUnreached",
              per: "run",
              window: "run"
            },
            levels: [{ at: 1, severity: "warning", actions: [] }]
          }
        })
        assert.strictEqual(rule.status, 201, rule.text)
        const runId = yield* votedRun
        const escalation = { step: 1, to: ["group:leads"], cause: "time", reach: "persons" }
        const firings = Effect.map(call("GET", `/runs/${runId}/alerts`), ({ body }) => body.data)
        yield* postItem(runId, { event: "escalated", escalation }, "e1")
        yield* postItem(runId, { event: "escalated", escalation }, "e1")
        assert.deepStrictEqual(yield* firings, [], "a step that reaches a person fires nothing")
        const none = { ...escalation, step: 2, to: ["person:rita"], reach: "none", why: "rita is the requester" }
        yield* postItem(runId, { event: "unreachable", escalation: none }, "u2")
        const fired = yield* until(firings, (found) => found.length > 0)
        assert.deepStrictEqual(
          fired.map(({ ruleId, value }: { ruleId: string; value: number }) => [ruleId, value]),
          [["person.unreached", 1]]
        )
        const refused = yield* postItem(runId, { event: "escalated" }, "e3")
        assert.strictEqual(refused.status, 400, refused.text)
        assert.include(refused.text, "escalation")
        const { body } = yield* call("GET", `/webhooks/${id}/deliveries`)
        assert.deepStrictEqual(
          body.data
            .map(({ payload: { data, event } }: { payload: { data: object; event: string } }) => ({ event, ...data }))
            .map(({ event, reach, step, to }: Record<string, unknown>) => ({ event, step, to, reach }))
            .toReversed(),
          [
            { event: "item.escalated", step: 1, to: ["group:leads"], reach: "persons" },
            { event: "item.unreachable", step: 2, to: ["person:rita"], reach: "none" }
          ]
        )
      })
    )

    it.effect("counts the answers of a seat beside its record, and the persons", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        yield* postAnswer(runId, { answeredAt: "2026-11-30T10:00:01.000Z", revealed: "before" })
        const commitment = encodePayload("macp.v1.CommitmentPayload", {
          ...{ commitmentId: "c1", action: "decision.rejected", authorityScope: "s", reason: "no", modeVersion: "1" },
          ...{ configurationVersion: "1", outcomePositive: false }
        })
        yield* say(runId, 2, "m-c", "lead", "Commitment", commitment)
        const seat = {
          ...{ answers: 1, unanswered: 0, revealedBefore: 1, rubberStamps: 1 },
          persons: [{ person: "ada", runs: 1, judged: 0, right: 0 }]
        }
        const one = yield* call("GET", `/agents/${SEAT}/record?q=id:${runId}`)
        assert.deepStrictEqual(one.body.seat, seat, one.text)
        assert.include(
          one.body.summary,
          "A seat: people gave 1 answer; votes that count: ada 1. 1 answer came within 3 s of the question."
        )
        const all = yield* call("GET", `/agents/records?q=id:${runId}`)
        assert.deepStrictEqual(
          all.body.data.map((row: { participantId: string; seat?: object }) => [row.participantId, row.seat]),
          [[SEAT, seat]]
        )
      })
    )

    it.effect("keeps the key in the row of the artifact alone", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const runId = yield* createRun()
        const { body } = yield* postItem(runId, {}, "k")
        assert.notProperty(body, "idempotencyKey")
        const rows = yield* sql`SELECT idempotency_key FROM artifacts WHERE run_id = ${runId}::uuid`
        assert.deepStrictEqual(rows, [{ idempotency_key: "k" }])
      })
    )
  })

  const KEYS = {
    AUTH_API_KEYS: "key-of-the-launcher,key-of-the-team",
    AUTH_API_KEY_NAMES: "seats,team",
    AUTH_API_KEY_ROLES: "admin,admin"
  }
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const record = { kind: "people.item", label: "Question", inline: item() }

  layer(layerTestService({ settings: { ...KEYS, LAUNCHER_KEY_NAME: "seats" } }), { excludeTestServices: true })(
    "of a service with keys",
    (it) => {
      it.effect("are taken from the launch service alone", () =>
        Effect.gen(function* () {
          const runId = yield* createRun()
          const other = yield* post(runId, record, bearer("key-of-the-team"))
          assert.strictEqual(other.status, 403, other.text)
          assert.include(other.body.message, "LAUNCHER_KEY_NAME")
          assert.strictEqual(
            (yield* post(runId, { kind: "log", label: "l" }, bearer("key-of-the-team"))).status,
            201,
            "other kinds are of every operator"
          )
          assert.strictEqual((yield* post(runId, record, bearer("key-of-the-launcher"))).status, 201)
        })
      )
    }
  )

  layer(layerTestService({ settings: { AUTH_API_KEYS: "the-only-key" } }), { excludeTestServices: true })(
    "of a service with one key",
    (it) => {
      it.effect("are taken with it, whatever its name", () =>
        Effect.gen(function* () {
          assert.strictEqual((yield* post(yield* createRun(), record, bearer("the-only-key"))).status, 201)
        })
      )
    }
  )
})
