import { forever } from "@runplane/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { SqlError } from "effect/sql/SqlError"
import { type FollowedSeat, SeatFollower } from "./SeatFollower.ts"
import { type NewSeat, type SeatRow, SeatRows } from "./SeatRows.ts"
import type { SeatSession } from "./SeatSession.ts"
import { Suspensions } from "./Suspensions.ts"

const keyOf = ({ seat, sessionId }: { readonly sessionId: string; readonly seat: string }) =>
  JSON.stringify([sessionId, seat])

/**
 * Runs the seats: one fiber for each, from its row. A fiber reads the session from its first message on, and works on
 * the rows after each change. Whatever is lost with a process is read again.
 */
export class SeatRunner extends Context.Service<
  SeatRunner,
  {
    /** Adds the seats of a session and runs them. */
    readonly add: (seats: ReadonlyArray<NewSeat>) => Effect.Effect<void, SqlError>
    /** The session of a seat as far as it was read; undefined while it is not read, and after its end. */
    readonly sessionOf: (sessionId: string, seat: string) => SeatSession | undefined
    /** The launch of a session has failed: its seats are closed, unless the session is open. */
    readonly abandon: (sessionId: string) => Effect.Effect<void>
    /** The rows of the seat have changed: its fiber works on them. */
    readonly wake: (sessionId: string, seat: string) => Effect.Effect<void>
  }
>()("runplane/launcher/SeatRunner") {
  static readonly layer = Layer.effect(
    SeatRunner,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(SeatFollower.layer), Layer.provideMerge(Suspensions.layer))
}

const make = Effect.gen(function* () {
  const rows = yield* SeatRows
  const follower = yield* SeatFollower
  const running = new Map<string, FollowedSeat>()
  const ofSeats = () => running.size
  const wakeSession = (sessionId: string) =>
    Effect.suspend(() =>
      Effect.forEach(
        [...running.values()].filter(({ row }) => row.sessionId === sessionId),
        ({ wakes }) => Queue.offer(wakes, undefined),
        { discard: true }
      )
    )
  const fibers = yield* FiberMap.make<string>()

  const run = Effect.fnUntraced(function* (row: SeatRow) {
    const key = keyOf(row)
    if (running.has(key)) return
    const seat: FollowedSeat = {
      row,
      wakes: yield* Queue.sliding<void>(1),
      reached: row.lastOrdinal,
      session: undefined,
      isAbandoned: false,
      ofSeats,
      wakeSession: wakeSession(row.sessionId)
    }
    running.set(key, seat)
    const finished = yield* Deferred.make<void>()
    const loop = forever("seat", follower.follow(seat, finished), { every: 0, limitMs: Number.POSITIVE_INFINITY })
    const ended = Effect.sync(() => running.delete(key))
    yield* FiberMap.run(fibers, key, Effect.ensuring(Effect.raceFirst(loop, Deferred.await(finished)), ended))
  })

  const runAll = Effect.flatMap(rows.unfinished, Effect.forEach(run, { discard: true }))
  yield* runAll

  return SeatRunner.of({
    add: (seats) => Effect.andThen(rows.add(seats), runAll),
    sessionOf: (sessionId, seat) => running.get(keyOf({ sessionId, seat }))?.session,
    abandon: (sessionId) =>
      Effect.sync(() => {
        for (const seat of running.values()) if (seat.row.sessionId === sessionId) seat.isAbandoned = true
      }),
    wake: (sessionId, seat) => {
      const found = running.get(keyOf({ sessionId, seat }))
      return found === undefined ? Effect.void : Effect.asVoid(Queue.offer(found.wakes, undefined))
    }
  })
})
