import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { PeopleAnswer, PeopleItem } from "@runplane/domain"
import { ParticipantClient } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type LoggedMessage, type NewRecord, type Posted, RunRecords } from "../../src/control-plane/RunRecords.ts"
import { NoAnswer } from "../../src/control-plane/Submission.ts"
import { AnswerRows } from "../../src/people/AnswerRows.ts"
import { Answers } from "../../src/people/Answers.ts"
import { SeatRunner } from "../../src/people/SeatRunner.ts"
import { SeatWork } from "../../src/people/SeatWork.ts"
import {
  addSeat,
  ana,
  commit,
  DECISION,
  evaluate,
  itemsWhen,
  itemWhen,
  makeWorld,
  propose,
  SEAT,
  shown,
  start
} from "./SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"

/** A control plane in memory: what was posted, by the answer that a test chooses. */
const makePlane = (
  answer: (record: NewRecord, tries: number) => Effect.Effect<Posted> = () => Effect.succeed({ _tag: "kept" }),
  message: Effect.Effect<LoggedMessage | undefined, NoAnswer> = Effect.succeed(undefined)
) => {
  const posts: Array<NewRecord> = []
  const records = RunRecords.of({
    isConfigured: true,
    post: ({ content, idempotencyKey, kind, label, sessionId }) =>
      Effect.suspend(() => {
        const tries = posts.filter((one) => one.idempotencyKey === idempotencyKey).length
        const record = { content, idempotencyKey, kind, label, sessionId }
        posts.push(record)
        return answer(record, tries)
      }),
    message: () => message
  })
  return { posts, records }
}

/** The records in the rows: key, tries, and how they ended. */
const rows = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql<{
    readonly key: string
    readonly tries: number
    readonly ended: boolean
    readonly reason: string | null
  }>`
    SELECT idempotency_key AS key, tries, ended_at IS NOT NULL AS ended, ended_reason AS reason
    FROM people.records ORDER BY id`
)
const whenAllEnded = until(rows, (all) => all.length > 0 && all.every(({ ended }) => ended))

const answerAs = (content: Parameters<Answers["Service"]["submit"]>[2]["content"]) =>
  Effect.gen(function* () {
    const item = yield* itemWhen(SESSION, "open")
    const answers = yield* Answers
    return yield* answers.submit(item.id, ana, {
      content,
      proposalHash: item.proposalHash,
      basis: yield* shown(SESSION)
    })
  })

const asked = Effect.gen(function* () {
  yield* addSeat(SESSION)
  yield* start(SESSION)
  yield* propose(SESSION)
  return yield* itemWhen(SESSION, "open")
})

const decodeItem = Schema.decodeUnknownEffect(PeopleItem)
const decodeAnswer = Schema.decodeUnknownEffect(PeopleAnswer)

describe("the records of people", () => {
  it.live("given an answer of a person, has the question, the answer and its end", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { posts, records } = makePlane()
      yield* Effect.gen(function* () {
        const item = yield* asked
        const sql = yield* PgClient.PgClient
        // Two messages that the person is not shown are between the basis and the answer.
        const basis = yield* shown(SESSION)
        yield* evaluate(SESSION, "a")
        yield* evaluate(SESSION, "b")
        yield* until(shown(SESSION), ({ ordinal }) => ordinal === 4)
        const answers = yield* Answers
        const content = { act: "reject", reason: "the loss is not covered" } as const
        yield* answers.submit(item.id, ana, { content, proposalHash: item.proposalHash, basis })
        yield* itemWhen(SESSION, "accepted")
        yield* until(rows, (all) => all.length === 3 && all.every(({ ended }) => ended))
        const byKey = new Map(posts.map((post) => [post.idempotencyKey, post]))
        assert.sameMembers(
          [...byKey.keys()],
          [`people.item:${item.id}:opened`, `people.answer:${item.id}`, `people.item:${item.id}:closed`]
        )
        assert.deepStrictEqual(new Set(posts.map(({ sessionId }) => sessionId)), new Set([SESSION]))
        const opened = yield* decodeItem(byKey.get(`people.item:${item.id}:opened`)?.content)
        assert.deepInclude(opened, { state: "open", seat: SEAT, scenario: "test/people@1.0.0", unanswered: false })
        const closed = yield* decodeItem(byKey.get(`people.item:${item.id}:closed`)?.content)
        assert.deepInclude(closed, { state: "accepted", person: "ana", unanswered: false })
        const answer = yield* decodeAnswer(byKey.get(`people.answer:${item.id}`)?.content)
        const [row] = yield* sql<{ readonly message_id: string; readonly payload_sha256: string }>`
          SELECT message_id, payload_sha256 FROM people.answers`
        assert.deepInclude(answer, {
          ...{ item: item.id, seat: SEAT, origin: "person", person: "ana", proof: "session", act: "reject" },
          ...{ messageId: row?.message_id ?? "", payloadSha256: row?.payload_sha256 ?? "", ordinal: 5, channel: "api" },
          ...{ proposalHash: item.proposalHash, revealed: "after", couldHaveSeen: true }
        })
        assert.deepStrictEqual(answer.unseen, [
          { ordinal: 3, type: "Evaluation" },
          { ordinal: 4, type: "Evaluation" }
        ])
        assert.strictEqual(new Set([opened.nonce, closed.nonce, answer.nonce]).size, 3)
        for (const text of posts.map(({ content }) => JSON.stringify(content))) {
          assert.notInclude(text, "not covered", "a reason is in the session alone")
          assert.notInclude(text, "option p1", "no record has a text of the proposal")
        }
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("given an answer without a basis that others have left, has nothing unseen", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { posts, records } = makePlane()
      yield* Effect.gen(function* () {
        yield* asked
        yield* answerAs({ act: "reject", reason: "no" })
        yield* itemWhen(SESSION, "accepted")
        yield* until(rows, (all) => all.length === 3 && all.every(({ ended }) => ended))
        const answer = yield* decodeAnswer(posts.find(({ kind }) => kind === "people.answer")?.content)
        assert.deepStrictEqual(answer.unseen, [])
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("given an act of the deadline, says that no person answered", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { posts, records } = makePlane()
      yield* Effect.gen(function* () {
        yield* addSeat(SESSION, { deadline: "1s", onDeadline: "abstain" })
        yield* start(SESSION)
        yield* propose(SESSION)
        const item = yield* itemWhen(SESSION, "accepted")
        yield* until(rows, (all) => all.length === 3 && all.every(({ ended }) => ended))
        const answer = yield* decodeAnswer(posts.find(({ kind }) => kind === "people.answer")?.content)
        assert.deepInclude(answer, { origin: "deadline", act: "abstain", couldHaveSeen: false })
        assert.isUndefined(answer.person)
        const closed = posts.find(({ idempotencyKey }) => idempotencyKey === `people.item:${item.id}:closed`)
        assert.deepInclude(yield* decodeItem(closed?.content), { state: "accepted", unanswered: true })
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("given a question that is open at the end of the session, says that it is unanswered", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { posts, records } = makePlane()
      yield* Effect.gen(function* () {
        yield* asked
        yield* commit(SESSION)
        yield* itemsWhen(SESSION, (items) => items[0]?.state === "withdrawn")
        yield* until(rows, (all) => all.length === 2 && all.every(({ ended }) => ended))
        const closed = yield* decodeItem(
          posts.find(({ idempotencyKey }) => idempotencyKey.endsWith(":closed"))?.content
        )
        assert.deepInclude(closed, { state: "withdrawn", unanswered: true, reason: "the session is RESOLVED" })
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("given a message that the log does not have yet, tries again with the same content", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const { posts, records } = makePlane(({ kind }, tries) =>
        Effect.succeed(
          kind === "people.answer" && tries < 2 ? { _tag: "refused", reason: "not on record yet" } : { _tag: "kept" }
        )
      )
      yield* Effect.gen(function* () {
        yield* asked
        yield* answerAs({ act: "reject", reason: "no" })
        const all = yield* until(rows, (found) => found.length === 3 && found.every(({ ended }) => ended))
        const answer = all.find(({ key }) => key.startsWith("people.answer"))
        assert.deepInclude(answer, { tries: 3, reason: null })
        const contents = posts.filter(({ kind }) => kind === "people.answer").map(({ content }) => content)
        assert.lengthOf(contents, 3)
        assert.deepStrictEqual(contents[2], contents[0])
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("given a service that ends before the answer of the control plane, posts the same again", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const silent = makePlane(() => Effect.never)
      yield* Effect.gen(function* () {
        yield* asked
        yield* until(
          Effect.sync(() => silent.posts.length),
          (count) => count > 0
        )
      }).pipe(Effect.provide(layer(silent.records)))
      const plane = makePlane()
      yield* Effect.provide(whenAllEnded, layer(plane.records))
      assert.deepStrictEqual(plane.posts, silent.posts)
    })
  )

  it.live.each([
    ["that refuses the content", { _tag: "never", reason: "it answered 400: no" }, "0 seconds"],
    ["that has not known the run for a day", { _tag: "refused", reason: "it answered 404: no" }, "25 hours"],
    ["that is away for a week", { _tag: "away", reason: "ECONNREFUSED" }, "8 days"]
  ] as const)("given a control plane %s, end with the reason", ([_, posted, age]) =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      let isOld = false
      const { records } = makePlane(() =>
        Effect.succeed(isOld || posted._tag === "never" ? posted : { _tag: "away", reason: "not yet" })
      )
      yield* Effect.gen(function* () {
        yield* asked
        const sql = yield* PgClient.PgClient
        yield* until(rows, (all) => all.length === 1)
        isOld = true
        yield* sql`UPDATE people.records SET created_at = created_at - ${age}::text::interval`
        assert.deepStrictEqual(
          (yield* whenAllEnded).map(({ reason }) => reason),
          [posted.reason]
        )
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("without a control plane, end with that reason", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        yield* asked
        const [row] = yield* whenAllEnded
        assert.strictEqual(row?.reason, "no control plane is configured: PROTO_CONTROL_PLANE_URL is not set")
      }).pipe(Effect.provide(layer()))
    })
  )
})

describe("an answer whose session the runtime has lost", () => {
  /** A stored answer, whose message runtime A may have taken; then the service runs on runtime B, which has nothing. */
  const stage = Effect.fnUntraced(function* (isSent: boolean) {
    const { layer, rows: rowsOf } = yield* makeWorld
    const given = yield* Effect.gen(function* () {
      const item = yield* asked
      const read = (yield* SeatRunner).sessionOf(SESSION, SEAT)
      if (read === undefined) throw new Error("the seat has no session")
      return { read, item, basis: { ...(yield* shown(SESSION)), withheld: [] } }
    }).pipe(Effect.provide(layer()))
    const due = yield* Effect.gen(function* () {
      const work = yield* SeatWork
      const by = { origin: "person", person: "ana", proof: "session", channel: "api" } as const
      const { basis, item, read } = given
      const answer = { content: { act: "reject", reason: "no" }, basis, item, by } as const
      yield* work.inTransaction(work.store(read, answer))
      const [message] = yield* (yield* AnswerRows).due(SESSION, SEAT)
      if (message === undefined) throw new Error("nothing is due")
      if (isSent) {
        const { messageId, messageType, payload } = message
        const seat = (yield* ParticipantClient).as(Redacted.make(SEAT))
        const about = { sessionId: SESSION, mode: DECISION, timestampUnixMs: 0 }
        assert.isTrue((yield* seat.send({ ...about, messageId, messageType, payload })).ok)
      }
      return message
    }).pipe(Effect.provide(rowsOf()))
    const empty = Context.get(yield* Layer.build(Sandbox.layer({ port: 0 })), Sandbox)
    return { due, layer: (records: RunRecords["Service"]) => layer(records, empty.address) }
  })

  it.live("is accepted when the log of the control plane has its message", () =>
    Effect.gen(function* () {
      const { due, layer } = yield* stage(true)
      const found = { sender: SEAT, ordinal: 5, payloadSha256: due.payloadSha256 }
      const { posts, records } = makePlane(undefined, Effect.succeed(found))
      yield* Effect.gen(function* () {
        yield* itemWhen(SESSION, "accepted")
        yield* until(rows, (all) => all.length === 3 && all.every(({ ended }) => ended))
        const answer = yield* decodeAnswer(posts.find(({ kind }) => kind === "people.answer")?.content)
        assert.deepInclude(answer, { ordinal: 5, person: "ana" })
        assert.deepStrictEqual(
          answer.unseen.map(({ ordinal }) => ordinal),
          [3, 4]
        )
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("waits for a control plane that is away, says so, and is accepted then", () =>
    Effect.gen(function* () {
      const { due, layer } = yield* stage(true)
      let looks = 0
      const message = Effect.suspend(() => {
        looks += 1
        return looks < 3
          ? Effect.fail(new NoAnswer({ message: "ECONNREFUSED" }))
          : Effect.succeed({ sender: SEAT, ordinal: 3, payloadSha256: due.payloadSha256 })
      })
      const { records } = makePlane(undefined, message)
      yield* Effect.gen(function* () {
        const item = yield* itemWhen(SESSION, "accepted")
        assert.isAtLeast(looks, 3)
        assert.strictEqual(item.reason, undefined)
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live.each([
    [
      "that has no such message for 30 s",
      Effect.succeed(undefined),
      "31 seconds",
      /nor in the log of the control plane$/
    ],
    [
      "that is away for an hour",
      Effect.fail(new NoAnswer({ message: "ECONNREFUSED" })),
      "61 minutes",
      /and the control plane was away for an hour$/
    ]
  ] as const)("is unknown after a log %s", ([_, message, age, reason]) =>
    Effect.gen(function* () {
      const { layer } = yield* stage(false)
      const { records } = makePlane(undefined, message)
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const sought = sql<{ readonly is: boolean }>`SELECT sought_at IS NOT NULL AS is FROM people.answers`
        yield* until(sought, ([row]) => row?.is === true)
        assert.strictEqual((yield* itemsWhen(SESSION, () => true))[0]?.state, "answered", "it is still looked up")
        yield* sql`UPDATE people.answers SET sought_at = sought_at - ${age}::text::interval`
        const item = yield* itemWhen(SESSION, "unknown")
        assert.match(item.reason ?? "", reason)
      }).pipe(Effect.provide(layer(records)))
    })
  )

  it.live("is unknown when the log has the message of another participant by its id", () =>
    Effect.gen(function* () {
      const { layer } = yield* stage(false)
      const { records } = makePlane(undefined, Effect.succeed({ sender: "a", ordinal: 3, payloadSha256: undefined }))
      yield* Effect.gen(function* () {
        const item = yield* itemWhen(SESSION, "unknown")
        assert.match(item.reason ?? "", /has another message of a by its id$/)
      }).pipe(Effect.provide(layer(records)))
    })
  )
})
