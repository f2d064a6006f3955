import { assert, describe, it } from "@effect/vitest"
import { ParticipantClient } from "@runplane/runtime"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { AnswerRows } from "../../src/people/AnswerRows.ts"
import { ItemRows } from "../../src/people/ItemRows.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import { SeatRunner } from "../../src/people/SeatRunner.ts"
import { SeatWork } from "../../src/people/SeatWork.ts"
import { addSeat, commit, DECISION, itemWhen, makeWorldWith, propose, SEAT, shown, start } from "./SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"

/** An open question; then the service ends. */
const asked = Effect.gen(function* () {
  yield* addSeat(SESSION)
  yield* start(SESSION)
  yield* propose(SESSION)
  const item = yield* itemWhen(SESSION, "open")
  const read = (yield* SeatRunner).sessionOf(SESSION, SEAT)
  if (read === undefined) throw new Error("the seat has no session")
  const content = { act: "reject", reason: "no" } as const
  const by = { origin: "person", person: "ana", proof: "session", channel: "api" } as const
  return { read, answer: { content, basis: { ...(yield* shown(SESSION)), withheld: [] }, item, by } }
})

/** Stores the answer while no service runs, and returns its message. */
const answered = ({ answer, read }: Effect.Success<typeof asked>) =>
  Effect.gen(function* () {
    const work = yield* SeatWork
    yield* work.inTransaction(work.store(read, answer))
    const [due] = yield* (yield* AnswerRows).due(SESSION, SEAT)
    if (due === undefined) throw new Error("nothing is due")
    return due
  })

/** The service runs again, until the seat is finished. */
const finished = Effect.gen(function* () {
  yield* until(
    Effect.flatMap(SeatRows, ({ unfinished }) => unfinished),
    ({ length }) => length === 0
  )
  const items = yield* (yield* ItemRows).ofSeat(SESSION, SEAT)
  return items.map(({ reason, state }) => `${state}: ${reason}`)
})

describe("a session that ended while no service ran, and whose history the runtime has dropped", () => {
  const makeWorld = makeWorldWith({ compactOnTerminal: true })

  it.live("withdraws its question", () =>
    Effect.gen(function* () {
      const { layer, rows } = yield* makeWorld
      yield* Effect.provide(asked, layer())
      yield* Effect.provide(commit(SESSION), rows())
      assert.deepStrictEqual(yield* Effect.provide(finished, layer()), ["withdrawn: the session is RESOLVED"])
    })
  )

  it.live("refuses an answer that was not sent, because the runtime says that it is not in", () =>
    Effect.gen(function* () {
      const { layer, rows } = yield* makeWorld
      const given = yield* Effect.provide(asked, layer())
      yield* Effect.provide(Effect.andThen(answered(given), commit(SESSION)), rows())
      const [item] = yield* Effect.provide(finished, layer())
      assert.match(item ?? "", /^refused: SESSION_NOT_OPEN/)
    })
  )

  it.live("leaves an answer unknown whose message cannot be read any more", () =>
    Effect.gen(function* () {
      const { layer, rows } = yield* makeWorld
      const given = yield* Effect.provide(asked, layer())
      yield* Effect.gen(function* () {
        const { messageId, messageType, payload } = yield* answered(given)
        const seat = (yield* ParticipantClient).as(Redacted.make(SEAT))
        const about = { sessionId: SESSION, mode: DECISION, timestampUnixMs: 0 }
        assert.isTrue((yield* seat.send({ ...about, messageId, messageType, payload })).ok)
        yield* commit(SESSION)
      }).pipe(Effect.provide(rows()))
      const [item] = yield* Effect.provide(finished, layer())
      assert.strictEqual(item, "unknown: the session is RESOLVED, and the message was not found in it")
    })
  )
})
