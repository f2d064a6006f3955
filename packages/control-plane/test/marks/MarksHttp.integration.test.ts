import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { participantSeen } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { AT, commits, opened, RISK, recorded, votes } from "../support/Committee.ts"
import { endRun } from "../support/EndedRuns.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"

const KEYS = ["key-of-ann", "key-of-bob", "key-of-vera", "key-of-adam"]
const SETTINGS = {
  AUTH_API_KEYS: KEYS.join(","),
  AUTH_API_KEY_NAMES: "ann,bob,vera,adam",
  AUTH_API_KEY_ROLES: "operator,operator,viewer,admin",
  PROTO_REDACT_PATTERNS: "secret-\\d+",
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true"
}
const [ANN = {}, BOB = {}, VERA = {}, ADAM = {}] = KEYS.map((key) => ({ authorization: `Bearer ${key}` }))

const quality = (over: Readonly<Record<string, unknown>> = {}) => ({
  target: { kind: "run" },
  name: "quality",
  value: 0.5,
  source: "human",
  ...over
})
const add = (runId: string, body: unknown = quality(), headers = ANN) =>
  call("POST", `/runs/${runId}/marks`, { body, headers })
const list = (runId: string, query = "") =>
  Effect.map(call("GET", `/runs/${runId}/marks?${query}`, { headers: VERA }), ({ body }) => body)
const remove = (runId: string, markId: string, headers = ANN) =>
  call("DELETE", `/runs/${runId}/marks/${markId}`, { headers })
const define = (name: string, body: unknown) => call("PUT", `/marks/definitions/${name}`, { body, headers: ADAM })

const eventsOf = (runId: string, type = "") =>
  Effect.map(
    call("GET", `/runs/${runId}/events?limit=100${type === "" ? "" : `&type=${type}`}`, { headers: VERA }),
    ({ body }): ReadonlyArray<{ readonly id: string; readonly index: number }> => body.data ?? body
  )

const seen = participantSeen(AT, RISK)
const decided = recorded(...opened, seen, votes(RISK, "APPROVE"), commits, commits)

layer(layerTestService({ settings: SETTINGS }), { excludeTestServices: true })("marks of a run", (it) => {
  it.effect("have their caller as author, and are listed with the newest first", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const { body, status } = yield* add(runId, quality({ comment: "calm" }))
      assert.strictEqual(status, 201)
      const { createdAt, id, ...mark } = body
      assert.deepStrictEqual(mark, { runId, ...quality(), comment: "calm", author: "ann" })
      assert.isFalse(Number.isNaN(Date.parse(createdAt)))
      yield* add(runId, quality({ value: "fine", name: "tone" }), BOB)
      const page = yield* list(runId)
      assert.deepStrictEqual(
        { ...page, data: page.data.map((one: { id: string }) => one.id === id) },
        {
          ...{ data: [false, true], total: 2, limit: 100, offset: 0 }
        }
      )
      assert.deepStrictEqual((yield* list(runId, "limit=1&offset=1")).data, [body])
      assert.strictEqual((yield* list(runId, "name=tone")).data[0].author, "bob")
      assert.strictEqual((yield* list(runId, "kind=event")).total, 0)
      assert.strictEqual((yield* list(runId, "source=api")).total, 0)
    })
  )

  it.effect("named comment stay beside each other, each with a text, redacted and erased as others are", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const remark = (comment?: string, over = {}) =>
        add(runId, {
          target: { kind: "run" },
          name: "comment",
          value: true,
          source: "human",
          ...(comment !== undefined && { comment }),
          ...over
        })
      const { body: first } = yield* remark("seen on Monday, secret-77")
      const { body: second } = yield* remark("seen on Monday, secret-77")
      assert.notInclude(first.comment, "secret-77")
      const { data } = yield* list(runId, "name=comment&history=true")
      assert.deepStrictEqual(data, [second, first])
      for (const [answer, message] of [
        [yield* remark(), "comment must have the text of the remark"],
        [yield* remark(" \n"), "comment must have the text of the remark"],
        [yield* remark("x", { value: false }), "value of comment must be true"]
      ] as const) {
        assert.deepStrictEqual([answer.status, answer.body.message], [400, message])
      }
      assert.strictEqual((yield* remove(runId, first.id)).status, 204)
      assert.deepStrictEqual((yield* list(runId)).data, [second])
      const [, erased] = (yield* list(runId, "history=true")).data
      assert.notProperty(erased, "comment")
    })
  )

  it.effect("replace the current mark of the same author, or of the same judge", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const judged = (model: string) => quality({ source: "judge", judge: { name: "strict", model } })
      const first = (yield* add(runId)).body
      const second = (yield* add(runId, quality({ value: true }))).body
      yield* add(runId, quality(), BOB)
      yield* add(runId, judged("a"))
      yield* add(runId, judged("b"), BOB)
      const current = (yield* list(runId)).data
      assert.deepStrictEqual(
        current.map(({ author, judge, value }: Record<string, unknown>) => [author, judge, value]),
        [
          ["bob", { name: "strict", model: "b" }, 0.5],
          ["bob", undefined, 0.5],
          ["ann", undefined, true]
        ]
      )
      const history = (yield* list(runId, "history=true")).data
      assert.lengthOf(history, 5)
      assert.deepStrictEqual(history.at(-1), { ...first, replacedBy: second.id })
    })
  )

  it.effect("judge what exists in the run", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const other = yield* decided
      const [proposal] = yield* eventsOf(runId, "proposal.created")
      const [first, last] = yield* eventsOf(runId, "decision.finalized")
      const [foreign] = yield* eventsOf(other, "proposal.created")
      assert(proposal && first && last && foreign)
      const targets: ReadonlyArray<readonly [target: object, resolved: object]> = [
        [{ kind: "run" }, { target: { kind: "run" } }],
        [{ kind: "decision" }, { target: { kind: "decision", id: last.id }, index: last.index }],
        [
          { kind: "decision", id: first.id.toUpperCase() },
          { target: { kind: "decision", id: first.id }, index: first.index }
        ],
        [
          { kind: "event", id: proposal.id },
          { target: { kind: "event", id: proposal.id }, index: proposal.index }
        ],
        [{ kind: "participant", id: RISK }, { target: { kind: "participant", id: RISK } }]
      ]
      for (const [target, resolved] of targets) {
        const { body, status, text } = yield* add(runId, quality({ target }))
        assert.strictEqual(status, 201, text)
        assert.deepInclude(body, resolved)
      }
      const refused: ReadonlyArray<readonly [target: object, text: string]> = [
        [{ kind: "run", id: runId }, "target.id must be absent for a run"],
        [{ kind: "participant" }, "target.id must be the id of a participant"],
        [
          { kind: "participant", id: "agent://stranger" },
          "target.id must be a participant of the run that has events: agent://stranger"
        ],
        [{ kind: "event", id: foreign.id }, `target.id must be an event of the run: ${foreign.id}`],
        [{ kind: "event", id: "x" }, "target.id must be an event of the run: x"],
        [
          { kind: "llmCall", id: proposal.id },
          `target.id must be an event llm.call.completed of the run: ${proposal.id}`
        ],
        [
          { kind: "decision", id: proposal.id },
          `target.id must be an event decision.finalized of the run: ${proposal.id}`
        ]
      ]
      for (const [target, text] of refused) {
        const { body, status } = yield* add(runId, quality({ target }))
        assert.deepStrictEqual([status, body.errorCode, body.message], [400, "VALIDATION_ERROR", text])
      }
      const undecided = yield* add(yield* createRun(), quality({ target: { kind: "decision" } }))
      assert.strictEqual(undecided.status, 400)
      assert.match(undecided.body.message, /^target\.id /)
    })
  )

  it.effect("repeat an idempotency key with the first mark, and refuse it with another body", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const keyed = quality({ idempotencyKey: "crm-1", comment: "calm" })
      const first = yield* add(runId, keyed)
      assert.strictEqual(first.status, 201)
      yield* add(runId, quality({ value: 1 }))
      const again = yield* add(runId, keyed, BOB)
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.body.id, first.body.id)
      const other = yield* add(runId, { ...keyed, comment: "angry" })
      assert.deepStrictEqual(
        [other.status, other.body.errorCode, other.body.message],
        [409, "CONFLICT", "the idempotencyKey crm-1 has been used with another body"]
      )
      assert.strictEqual((yield* add(yield* createRun(), keyed)).status, 201)
      yield* remove(runId, first.body.id)
      const deleted = yield* add(runId, keyed)
      assert.strictEqual(deleted.status, 200)
      assert.isString(deleted.body.deletedAt)
      assert.strictEqual((yield* list(runId, "history=true")).total, 2)
    })
  )

  it.effect("are deleted by their author and administrators, and leave a tombstone", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const body = quality({ source: "judge", comment: "calm", judge: { name: "strict", model: "m" } })
      const { judge: _, comment: __, value: ___, ...mark } = (yield* add(runId, body)).body
      assert.strictEqual((yield* remove(runId, mark.id, VERA)).status, 403)
      const foreign = yield* remove(runId, mark.id, BOB)
      assert.deepStrictEqual([foreign.status, foreign.body.errorCode], [403, "FORBIDDEN"])
      assert.strictEqual((yield* remove(runId, randomUUID())).status, 404)
      assert.strictEqual((yield* remove(yield* createRun(), mark.id)).status, 404)
      assert.strictEqual((yield* remove(runId, mark.id)).status, 204)
      assert.strictEqual((yield* list(runId)).total, 0)
      const [tombstone] = (yield* list(runId, "history=true")).data
      const { deletedAt, ...rest } = tombstone
      assert.deepStrictEqual(rest, { ...mark, deletedBy: "ann" })
      assert.strictEqual((yield* remove(runId, mark.id, ADAM)).status, 204)
      assert.deepStrictEqual((yield* list(runId, "history=true")).data, [tombstone])
      const bob = (yield* add(runId, quality(), BOB)).body
      assert.strictEqual((yield* remove(runId, bob.id, ADAM)).status, 204)
      const sql = yield* PgClient.PgClient
      const [row] = yield* sql`SELECT row_to_json(m)::text AS text FROM marks m WHERE id = ${mark.id}::uuid`
      assert.notMatch(JSON.stringify(row), /calm|strict/)
    })
  )

  it.effect("of archived runs are taken, and are gone with a deleted run", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* endRun(runId)
      assert.strictEqual((yield* call("POST", `/runs/${runId}/archive`, { headers: ANN })).status, 201)
      const { body, status } = yield* add(runId)
      assert.strictEqual(status, 201)
      assert.strictEqual((yield* call("DELETE", `/runs/${runId}`, { headers: ADAM })).status, 204)
      const sql = yield* PgClient.PgClient
      assert.lengthOf(yield* sql`SELECT FROM marks WHERE run_id = ${runId}::uuid`, 0)
      assert.lengthOf(yield* sql`SELECT FROM mark_chains WHERE run_id = ${runId}::uuid`, 0)
      for (const answer of [yield* add(runId), yield* remove(runId, body.id)]) {
        assert.deepStrictEqual([answer.status, answer.body.errorCode], [404, "RUN_NOT_FOUND"])
      }
    })
  )

  it.effect("are redacted before they are stored", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const judge = { name: "strict secret-3", model: "secret-4" }
      const body = quality({ value: "secret-1", comment: "of secret-2", source: "judge", judge })
      const { body: mark } = yield* add(runId, body)
      assert.deepInclude(mark, {
        value: "[REDACTED]",
        comment: "of [REDACTED]",
        judge: { name: "strict [REDACTED]", model: "[REDACTED]" }
      })
      assert.deepStrictEqual((yield* list(runId)).data, [mark])
    })
  )

  it.effect("are refused by their form and by their role", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      assert.strictEqual((yield* add(runId, quality(), VERA)).status, 403)
      for (const over of [{ name: "9" }, { value: "two\nlines" }, { value: null }, { source: "dog" }, { more: 1 }]) {
        assert.strictEqual((yield* add(runId, quality(over))).status, 400, JSON.stringify(over))
      }
      const judge = yield* add(runId, quality({ judge: { name: "strict" } }))
      assert.strictEqual(judge.body.message, "judge is for marks whose source is judge")
      assert.strictEqual((yield* list(runId, "history=true")).total, 0)
    })
  )

  it.effect("are bounded in number", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const { body } = yield* add(runId)
      const sql = yield* PgClient.PgClient
      yield* sql`UPDATE mark_chains SET marks = 10000 WHERE run_id = ${runId}::uuid`
      const full = yield* add(runId)
      assert.deepStrictEqual(
        [full.status, full.body.errorCode, full.body.message],
        [409, "CONFLICT", `run ${runId} has 10000 marks already`]
      )
      assert.strictEqual((yield* remove(runId, body.id)).status, 204)
    })
  )

  it.effect("are one when the same author adds several at the same time", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const answers = yield* Effect.all(
        Array.from({ length: 12 }, (_, value) => add(runId, quality({ value, idempotencyKey: `k${value % 8}` }))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [201, 409])
      const current = (yield* list(runId)).data
      assert.lengthOf(current, 1)
      const history = (yield* list(runId, "history=true")).data
      assert.lengthOf(history, 8)
      assert.deepStrictEqual(
        history.slice(1).map(({ replacedBy }: { replacedBy: string }) => replacedBy),
        history.slice(0, -1).map(({ id }: { id: string }) => id)
      )
    })
  )

  it.effect("are delivered to webhooks, which forget a deleted one", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* webhookReceiver()
      const events = ["mark.added"]
      const { body: hook } = yield* call("POST", "/webhooks", { body: { url, secret: "s", events }, headers: ADAM })
      const runId = yield* createRun()
      const { body: mark } = yield* add(runId, quality({ comment: "calm" }))
      const { body } = yield* Queue.take(requests)
      assert.deepStrictEqual(JSON.parse(body), {
        event: "mark.added",
        runId,
        status: "queued",
        timestamp: mark.createdAt,
        data: { mark }
      })
      yield* remove(runId, mark.id)
      const deliveries = yield* call("GET", `/webhooks/${hook.id}/deliveries`, { headers: ADAM })
      assert.lengthOf(deliveries.body.data, 1)
      assert.notInclude(deliveries.text, "calm")
      yield* call("DELETE", `/webhooks/${hook.id}`, { headers: ADAM })
    })
  )
})

layer(layerTestService({ settings: SETTINGS }), { excludeTestServices: true })("definitions of marks", (it) => {
  it.effect("decide the values of their name", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const body = { kind: "category", categories: ["good", "bad"], better: "first" }
      const { body: definition, status } = yield* define("verdict", body)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(definition, { name: "verdict", ...body, reserved: false })
      assert.strictEqual((yield* add(runId, quality({ name: "verdict", value: "good" }))).status, 201)
      const refused = yield* add(runId, quality({ name: "verdict", value: "so" }))
      assert.deepStrictEqual(
        [refused.status, refused.body.message],
        [400, "value of verdict must be one of the following values: good, bad"]
      )
      yield* define("verdict", { kind: "flag" })
      assert.strictEqual((yield* add(runId, quality({ name: "verdict", value: true }))).status, 201)
      const path = "/marks/definitions/verdict"
      assert.strictEqual((yield* call("DELETE", path, { headers: ADAM })).status, 204)
      assert.strictEqual((yield* call("DELETE", path, { headers: ADAM })).status, 204)
      assert.strictEqual((yield* call("GET", path, { headers: VERA })).status, 404)
      assert.strictEqual((yield* add(runId, quality({ name: "verdict", value: 7 }))).status, 201)
    })
  )

  it.effect("are listed with the reserved ones, which do not change", () =>
    Effect.gen(function* () {
      yield* define("tone", { kind: "number", min: 0 })
      yield* define("mood", { kind: "number", max: 1 })
      const { body } = yield* call("GET", "/marks/definitions", { headers: VERA })
      assert.deepStrictEqual(
        body.map(({ name, reserved }: Record<string, unknown>) => [name, reserved]),
        [
          ["correct", true],
          ["comment", true],
          ["mood", false],
          ["tone", false]
        ]
      )
      const { body: one } = yield* call("GET", "/marks/definitions/correct", { headers: VERA })
      assert.deepStrictEqual(one, body[0])
      const path = "/marks/definitions/correct"
      for (const answer of [
        yield* define("correct", { kind: "flag" }),
        yield* call("DELETE", path, { headers: ADAM })
      ]) {
        assert.deepStrictEqual(
          [answer.status, answer.body.message],
          [403, "the definition of correct is reserved and cannot be changed"]
        )
      }
    })
  )

  it.effect("are of administrators, and without contradictions", () =>
    Effect.gen(function* () {
      const path = "/marks/definitions/tone"
      assert.strictEqual((yield* call("PUT", path, { body: { kind: "flag" }, headers: ANN })).status, 403)
      assert.strictEqual((yield* call("DELETE", path, { headers: ANN })).status, 403)
      assert.strictEqual(
        (yield* define("tone", { kind: "flag", min: 0 })).body.message,
        "min and max are for numbers, not a flag"
      )
      assert.strictEqual((yield* define("9", { kind: "flag" })).status, 400)
      assert.strictEqual((yield* define("tone", {})).status, 400)
    })
  )
})
