import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { AnswerRefused, Answers } from "../../src/people/Answers.ts"
import type { ItemRow } from "../../src/people/ItemRows.ts"
import {
  accepted,
  addSeat,
  ana,
  evaluate,
  itemWhen,
  makeWorld,
  messagesOf,
  propose,
  SEAT,
  shown,
  start
} from "./SeatStage.ts"

const sessionOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`

/** Answers an open item, again while the service cannot take it: a person presses the button again. */
const answer = (session: string, item: ItemRow) =>
  Effect.gen(function* () {
    const answers = yield* Answers
    const content = { act: "reject", reason: "no" } as const
    const once = Effect.gen(function* () {
      const submitted = { content, proposalHash: item.proposalHash, basis: yield* shown(session) }
      return yield* answers.submit(item.id, ana, submitted)
    })
    const tried = Effect.result(once)
    const done = yield* until(
      tried,
      (result) =>
        result._tag === "Success" || (result.failure instanceof AnswerRefused && result.failure.why._tag === "answered")
    )
    assert.strictEqual(done._tag, "Success")
  })

describe("a seat whose stream breaks", () => {
  it.live("reads the session again, and a message that comes twice counts once", () =>
    Effect.gen(function* () {
      const { faults, layer } = yield* makeWorld
      yield* Effect.gen(function* () {
        const session = sessionOf(1)
        yield* faults.inject({ kind: "duplicate", messageType: "Evaluation" })
        yield* addSeat(session)
        yield* start(session)
        yield* propose(session)
        yield* itemWhen(session, "open")
        yield* faults.inject({ kind: "cut", afterFrames: 2, times: 1 })
        yield* evaluate(session, "a")
        yield* evaluate(session, "b")
        yield* until(shown(session), ({ ordinal }) => ordinal === 4)
        yield* answer(session, yield* itemWhen(session, "open"))
        const item = yield* itemWhen(session, "accepted")
        assert.strictEqual(item.answer?.basis.ordinal, 4)
        assert.lengthOf(yield* accepted(session), 1)
      }).pipe(Effect.provide(layer()))
    })
  )
})

describe("a service of seats whose database ends its connections", () => {
  it.live("sends each answer once", () =>
    Effect.gen(function* () {
      const { layer, rows } = yield* makeWorld
      yield* Effect.gen(function* () {
        const asked = yield* Effect.forEach([1, 2, 3, 4, 5].map(sessionOf), (session) =>
          Effect.gen(function* () {
            yield* addSeat(session)
            yield* start(session)
            yield* propose(session)
            return { session, item: yield* itemWhen(session, "open") }
          })
        )
        const endConnections = Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          yield* sql`
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'runplane-launcher' AND datname = current_database() AND pid <> pg_backend_pid()`
        }).pipe(Effect.provide(rows()))
        for (const { item, session } of asked) {
          yield* Effect.all([answer(session, item), Effect.ignore(endConnections)], { concurrency: "unbounded" })
        }
        for (const { session } of asked) {
          yield* until(Effect.result(itemWhen(session, "accepted")), ({ _tag }) => _tag === "Success")
          const own = (yield* messagesOf(session)).filter(({ sender }) => sender === SEAT)
          assert.lengthOf(own, 1)
        }
      }).pipe(Effect.provide(layer()))
    })
  )
})
