import { createHash, randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import { encodePayload } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { HASH, item, PAYLOAD, post, postAnswer, postItem, SEAT, say, sha256, TIME, votedRun } from "./PeopleRuns.ts"

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
            ...{ askedAt: "2026-11-30T10:00:00.000Z", answeredAt: TIME, revealed: "after", proof: "session" }
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
