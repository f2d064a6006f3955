import { assert, describe, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AnswerRows } from "../../src/people/AnswerRows.ts"
import { ANSWERS_PER_MINUTE, AnswerRefused, Answers, type SignedIn, type Submitted } from "../../src/people/Answers.ts"
import { SeatRunner } from "../../src/people/SeatRunner.ts"
import { SeatWork } from "../../src/people/SeatWork.ts"
import {
  accepted,
  addSeat,
  ana,
  bo,
  commit,
  evaluate,
  itemsWhen,
  itemWhen,
  makeWorld,
  propose,
  SEAT,
  say,
  shown,
  start,
  vote
} from "./SeatStage.ts"

/** How often two people answer one item at once. */
const RACES = Number(process.env["SEAT_RACES"] ?? 25)

let sessions = 0
const newSession = () => {
  sessions += 1
  return `00000000-0000-4000-8000-${String(sessions).padStart(12, "0")}`
}

/** An answer to the open item of a session, as the person sees it now. */
const answerTo = Effect.fnUntraced(function* (sessionId: string, content: Submitted["content"], at = 0) {
  const item = yield* itemWhen(sessionId, "open", at)
  return { item, submitted: { content, proposalHash: item.proposalHash, basis: yield* shown(sessionId) } }
})

const reject = { act: "reject", reason: "the loss is not covered" } as const

const submit = (id: string, person: SignedIn, submitted: Submitted) =>
  Effect.flatMap(Answers, (answers) => answers.submit(id, person, submitted))

const refusalOf = (id: string, person: SignedIn, submitted: Submitted) =>
  Effect.flip(submit(id, person, submitted)).pipe(
    Effect.map((error) => (error instanceof AnswerRefused ? error.why : undefined))
  )

describe("a seat over a runtime", () => {
  it.live("puts the answer of a person into the session once, and knows it again", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const session = newSession()
        yield* addSeat(session)
        yield* start(session)
        yield* propose(session)
        const { item, submitted } = yield* answerTo(session, reject)
        yield* evaluate(session, "a")
        // The fiber of the seat may have sent it already.
        assert.include(["answered", "sent", "accepted"], (yield* submit(item.id, ana, submitted)).state)
        assert.strictEqual((yield* submit(item.id, ana, submitted)).given?.person, "ana")
        const done = yield* itemWhen(session, "accepted")
        const messages = yield* accepted(session)
        assert.lengthOf(messages, 1)
        const [message] = messages
        assert.strictEqual(message?.statement.vote, "REJECT")
        assert.strictEqual(message?.messageId, done.answer?.messageId)
        const line = `[person ana item ${item.id} sha256:${item.proposalHash.slice(0, 16)}]`
        assert.strictEqual(message?.statement.reason, `the loss is not covered\n${line}`)
        assert.deepInclude(yield* refusalOf(item.id, bo, submitted), { _tag: "answered" })
        assert.lengthOf(yield* accepted(session), 1)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("takes an answer with its hash, basis, right and act alone", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const session = newSession()
        yield* addSeat(session, { assign: ["person:ana", "person:rita"] })
        yield* start(session)
        yield* propose(session)
        const { item, submitted } = yield* answerTo(session, reject)
        const refused = (person: SignedIn, members: Partial<Submitted> = {}) =>
          refusalOf(item.id, person, { ...submitted, ...members })
        assert.deepStrictEqual(yield* refused({ ...ana, id: "bo" }), {
          _tag: "forbidden",
          right: "not assigned"
        })
        assert.deepStrictEqual(yield* refused({ ...ana, id: "rita" }), {
          _tag: "forbidden",
          right: "is the requester"
        })
        assert.deepInclude(yield* refused(ana, { proposalHash: "00" }), {
          _tag: "stale",
          was: "00",
          now: item.proposalHash
        })
        assert.deepStrictEqual(yield* refused(ana, { basis: { ...submitted.basis, sha256: "00" } }), {
          _tag: "unknown-basis"
        })
        assert.deepInclude(yield* refused(ana, { content: { act: "object", reason: "x" } }), { field: "act" })
        assert.deepInclude(yield* refused(ana, { content: { act: "reject", reason: "" } }), { field: "reason" })
        const unknown = "99999999-9999-4999-8999-999999999999"
        assert.deepStrictEqual(yield* refusalOf(unknown, ana, submitted), { _tag: "no-item" })
        assert.strictEqual((yield* itemWhen(session, "open")).given, undefined)
        assert.lengthOf(yield* accepted(session), 0)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("replaces a question after another proposal, and answers the old one with the difference", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const session = newSession()
        yield* addSeat(session)
        yield* start(session)
        yield* propose(session)
        const { item, submitted } = yield* answerTo(session, reject)
        yield* propose(session, "p2")
        const items = yield* itemsWhen(session, (all) => all.filter(({ state }) => state === "open").length === 2)
        assert.deepStrictEqual(items.map(({ state, subject }) => [state, subject]).sort(), [
          ["open", 2],
          ["open", 3],
          ["stale", 2]
        ])
        assert.deepInclude(yield* refusalOf(item.id, ana, submitted), { _tag: "stale" })
        assert.lengthOf(yield* accepted(session), 0)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("restarts from its rows: the answer that was stored before goes in once", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      const session = newSession()
      const before = yield* Effect.gen(function* () {
        yield* addSeat(session)
        yield* start(session)
        yield* propose(session)
        const { item, submitted } = yield* answerTo(session, reject)
        yield* submit(item.id, ana, submitted)
        return item
      }).pipe(Effect.provide(layer()))
      for (let restarts = 0; restarts < 3; restarts += 1) {
        yield* Effect.gen(function* () {
          const items = yield* itemsWhen(session, (all) => all[0]?.state === "accepted")
          assert.lengthOf(items, 1)
          assert.strictEqual(items[0]?.id, before.id)
          assert.lengthOf(yield* until(accepted(session), (all) => all.length > 0), 1)
        }).pipe(Effect.provide(layer()))
      }
    })
  )

  it.live("gives the answer another id when a participant has used its own, and the vote counts once", () =>
    Effect.gen(function* () {
      const { layer, rows } = yield* makeWorld
      const session = newSession()
      const { answer, read } = yield* Effect.gen(function* () {
        yield* addSeat(session)
        yield* start(session)
        yield* propose(session)
        const { item, submitted } = yield* answerTo(session, reject)
        const read = (yield* SeatRunner).sessionOf(session, SEAT)
        if (read === undefined) throw new Error("the seat has no session")
        const basis = { ...submitted.basis, withheld: [] }
        const by = { origin: "person", person: "ana", proof: "session", channel: "api" } as const
        return { read, answer: { content: submitted.content, basis, item, by } }
      }).pipe(Effect.provide(layer()))
      // The service has ended: the answer is stored, and another participant sends first with its id.
      const messageId = yield* Effect.gen(function* () {
        const work = yield* SeatWork
        yield* work.inTransaction(work.store(read, answer))
        const [due] = yield* (yield* AnswerRows).due(session, SEAT)
        return due?.messageId ?? ""
      }).pipe(Effect.provide(rows()))
      yield* Effect.gen(function* () {
        const payload = { proposalId: "p1", recommendation: "BLOCK", confidence: 1 }
        const type = "macp.modes.decision.v1.EvaluationPayload"
        yield* say(session, "a", "Evaluation", type, payload, { id: messageId })
        const done = yield* itemWhen(session, "accepted")
        assert.notStrictEqual(done.answer?.messageId, messageId)
        const messages = yield* accepted(session)
        assert.deepStrictEqual(
          messages.map(({ messageId, statement }) => [messageId, statement.vote]),
          [[done.answer?.messageId, "REJECT"]]
        )
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("takes one answer of two people who answer at the same moment", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        for (let round = 0; round < RACES; round += 1) {
          const session = newSession()
          yield* start(session)
          yield* propose(session)
          yield* addSeat(session, { assign: ["group:risk"] })
          const { item, submitted } = yield* answerTo(session, reject)
          const answers = yield* Effect.all(
            [`ana-${round}`, `bo-${round}`]
              .map((id) => ({ ...ana, id, groups: ["risk"] }))
              .map((person) => Effect.result(submit(item.id, person, submitted))),
            { concurrency: "unbounded" }
          )
          const won = answers.flatMap((one) => (Result.isSuccess(one) ? [one.success.given?.person] : []))
          const lost = answers.flatMap((one) =>
            Result.isFailure(one) && one.failure instanceof AnswerRefused && one.failure.why._tag === "answered"
              ? [one.failure.why.by.person]
              : []
          )
          assert.lengthOf(won, 1)
          assert.deepStrictEqual(lost, won)
          yield* itemWhen(session, "accepted")
          assert.lengthOf(yield* accepted(session), 1)
        }
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live(`takes ${ANSWERS_PER_MINUTE} answers of a person in a minute, and those of others after that`, () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const asked = Effect.gen(function* () {
          const session = newSession()
          yield* start(session)
          yield* propose(session)
          yield* addSeat(session)
          return yield* answerTo(session, reject)
        })
        for (let count = 0; count < ANSWERS_PER_MINUTE; count += 1) {
          const { item, submitted } = yield* asked
          yield* submit(item.id, ana, submitted)
          // The same answer again is not counted.
          yield* submit(item.id, ana, submitted)
        }
        const { item, submitted } = yield* asked
        const perMinute = ANSWERS_PER_MINUTE
        assert.deepStrictEqual(yield* refusalOf(item.id, ana, submitted), { _tag: "too-many", perMinute })
        assert.strictEqual((yield* submit(item.id, bo, submitted)).given?.person, "bo")
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("acts at the deadline for the seat, without a person", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const session = newSession()
        yield* addSeat(session, { deadline: "1s", onDeadline: "abstain" })
        yield* start(session)
        yield* propose(session)
        const item = yield* itemWhen(session, "accepted")
        assert.isUndefined(item.given?.person)
        const [message] = yield* accepted(session)
        assert.strictEqual(message?.statement.vote, "ABSTAIN")
        assert.match(message?.statement.reason ?? "", /^no answer by .*Z\n\[deadline item /)
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("withdraws its question when the session ends, and finishes", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const session = newSession()
        yield* addSeat(session)
        yield* start(session)
        yield* propose(session)
        yield* itemWhen(session, "open")
        yield* vote(session, "a")
        yield* commit(session)
        const item = yield* itemWhen(session, "withdrawn")
        assert.strictEqual(item.reason, "the session is RESOLVED")
        const runner = yield* SeatRunner
        yield* until(
          Effect.sync(() => runner.sessionOf(session, SEAT)),
          (found) => found === undefined
        )
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("follows an evaluation with a question for the vote", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const session = newSession()
        yield* addSeat(session, { acts: ["evaluate", "vote"] })
        yield* start(session)
        yield* propose(session)
        const evaluation = { act: "evaluate", recommendation: "REVIEW", reason: "not yet" } as const
        const { item, submitted } = yield* answerTo(session, evaluation)
        yield* submit(item.id, ana, submitted)
        yield* itemWhen(session, "accepted")
        const follow = yield* answerTo(session, { act: "approve", reason: "now it is fine" }, 1)
        yield* submit(follow.item.id, bo, follow.submitted)
        yield* itemWhen(session, "accepted", 1)
        assert.deepStrictEqual(
          (yield* accepted(session)).map(({ statement }) => statement.type),
          ["Evaluation", "Vote"]
        )
      }).pipe(Effect.provide(layer()))
    })
  )

  it.live("ends an answer that the runtime refuses with its words", () =>
    Effect.gen(function* () {
      const { layer, rows } = yield* makeWorld
      const session = newSession()
      const { answer, read } = yield* Effect.gen(function* () {
        yield* addSeat(session, { acts: ["evaluate", "vote"] })
        yield* start(session)
        yield* propose(session)
        const { item, submitted } = yield* answerTo(session, reject)
        const read = (yield* SeatRunner).sessionOf(session, SEAT)
        if (read === undefined) throw new Error("the seat has no session")
        const content = { act: "evaluate", recommendation: "REVIEW", reason: "not yet" } as const
        const by = { origin: "person", person: "ana", proof: "session", channel: "api" } as const
        return { read, answer: { content, basis: { ...submitted.basis, withheld: [] }, item, by } }
      }).pipe(Effect.provide(layer()))
      yield* Effect.gen(function* () {
        const work = yield* SeatWork
        yield* work.inTransaction(work.store(read, answer))
        // After the first vote the session takes no evaluation.
        yield* vote(session, "a")
      }).pipe(Effect.provide(rows()))
      yield* Effect.gen(function* () {
        const item = yield* itemWhen(session, "refused")
        assert.match(item.reason ?? "", /^INVALID_ENVELOPE: /)
        // The vote of the seat is still due.
        const next = yield* itemWhen(session, "open", 1)
        assert.strictEqual(next.subject, item.subject)
        assert.lengthOf(yield* accepted(session), 0)
      }).pipe(Effect.provide(layer()))
    })
  )
})
