import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { RunGone } from "../event-log/runs/RunGone.ts"
import type { LiveBatch } from "../event-log/subscribe/LiveBatch.ts"
import { isDamagedArchive } from "../platform/ArchiveUnread.ts"
import type { Delivery } from "./Delivery.ts"
import { step } from "./Follower.ts"
import type { Input, LiveInput, Read, State } from "./FollowerState.ts"

/** Where a stream reads from: memory first, then the database. */
export interface FollowerSource<E> {
  /** Wakes the stream when `take` returns something new. */
  readonly wakeup: {
    readonly wake: () => void
    readonly wait: (tryDeliver: (batch: LiveBatch | undefined) => boolean) => Effect.Effect<void>
  }
  /** The next input from memory; undefined when there is none. */
  readonly take: (state: State) => LiveInput | undefined
  readonly read: (state: State, read: Read) => Effect.Effect<Input, E>
  /** The number of clients of the same run. */
  readonly audience: () => number
  /** Completes when the stream must end. */
  readonly ended: Effect.Effect<void>
}

/** The next deliveries of a stream; done at its end. */
export type NextDeliveries<E> = Effect.Effect<Arr.NonEmptyReadonlyArray<Delivery>, E | RunGone | Cause.Done>

/**
 * Sends a delivery to a client that is ready for it, at once. Returns false otherwise: the delivery then goes through
 * the stream, which waits for the client.
 */
export type TrySend = (delivery: Delivery) => boolean

/** A client that receives all deliveries through the stream. */
export const neverReady: TrySend = () => false

/** A read whose failure the stream retries. A damaged file of the archive cuts the stream. */
export const retried = <E>(read: Effect.Effect<Input, E>): Effect.Effect<Input> =>
  Effect.catch(
    read,
    Effect.fnUntraced(function* (error: E): Effect.fn.Return<Input> {
      if (isDamagedArchive(error)) return yield* Effect.die(error)
      yield* Effect.logDebug("an event stream waits for the database", error)
      return { _tag: "Failed", now: yield* Clock.currentTimeMillis, jitter: yield* Random.next }
    })
  )

/**
 * Runs `step` for one client. While the stream waits, the publisher of an input delivers it to a client whose socket is
 * ready, without waking the fiber of the stream (docs/reference/streams.md#one-write).
 */
export const follow = Effect.fnUntraced(function* <E>(
  initial: State,
  source: FollowerSource<E>,
  trySend: TrySend
): Effect.fn.Return<NextDeliveries<E>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const { audience, ended, take, wakeup } = source
  let state = initial
  let isOver = false
  /** The time until which the stream waits. */
  let waitsUntil = 0
  let alarm: { readonly at: number; readonly fiber: Fiber.Fiber<void> } | undefined

  const ready = (): Input => ({ _tag: "Ready", now: clock.currentTimeMillisUnsafe(), audience: audience() })

  const stop = Effect.sync(() => {
    isOver = true
    wakeup.wake()
  })
  yield* Effect.forkIn(Effect.andThen(ended, stop), scope)

  const ring = Effect.sync(() => {
    alarm = undefined
    wakeup.wake()
  })
  /** Wakes the stream at a time, or before: an earlier alarm stays, because most waits end with an input. */
  const setAlarm = Effect.fnUntraced(function* (at: number) {
    if (alarm !== undefined && alarm.at <= at) return
    if (alarm !== undefined) yield* Fiber.interrupt(alarm.fiber)
    const millis = Math.max(0, at - clock.currentTimeMillisUnsafe())
    alarm = { at, fiber: yield* Effect.forkIn(Effect.delay(ring, millis), scope) }
  })

  /** Delivers an input while the stream waits; false leaves the input to the stream. */
  const tryDeliver = (batch: LiveBatch | undefined): boolean => {
    if (isOver) return false
    const input = batch ?? take(state)
    if (input === undefined) return true
    const [after, action] = step(state, input)
    if (after.isEnding || action._tag !== "Send") return false
    const [delivery, another] = action.deliveries
    if (delivery === undefined || another !== undefined || !trySend(delivery)) return false
    state = after
    const [, next] = step(state, ready())
    const isWaiting = next._tag === "Wait" && next.until >= waitsUntil
    // The stream sets another alarm, or takes the rest.
    if (!isWaiting) wakeup.wake()
    return batch !== undefined || take(state) === undefined
  }
  const wait = Effect.fnUntraced(function* (until: number) {
    waitsUntil = until
    yield* setAlarm(until)
    yield* wakeup.wait(tryDeliver)
  })

  const next: NextDeliveries<E> = Effect.gen(function* () {
    let input = ready()
    while (!isOver) {
      const [after, action] = step(state, input)
      state = after
      switch (action._tag) {
        case "Continue":
          break
        case "Send":
          if (Arr.isReadonlyArrayNonEmpty(action.deliveries)) return action.deliveries
          break
        case "Wait": {
          const received = take(state)
          if (received === undefined) yield* wait(action.until)
          else {
            input = received
            continue
          }
          break
        }
        case "Sleep":
          yield* Effect.raceFirst(Effect.sleep(action.until - clock.currentTimeMillisUnsafe()), ended)
          break
        case "End":
          return yield* Cause.done()
        case "Fail":
          return yield* action.error
        default: {
          const answer = yield* Effect.raceFirst(source.read(state, action), Effect.as(ended, undefined))
          if (answer === undefined) return yield* Cause.done()
          input = answer
          continue
        }
      }
      input = ready()
    }
    return yield* Cause.done()
  })
  return next
})
