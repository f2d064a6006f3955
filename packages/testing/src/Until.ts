import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Often enough for a short test, seldom enough to leave the processor to the program under test. */
const POLL_INTERVAL = "20 millis"

/**
 * Polls a value until it is as wanted, and returns it. Only for sources without notifications: a row of the database,
 * another process. It polls in real time, also under the test clock, and has no limit of its own: the time-out of the
 * test ends it.
 */
export const until = Effect.fnUntraced(function* <A, E, R>(
  read: Effect.Effect<A, E, R>,
  wanted: (value: A) => boolean,
  every: Duration.Input = POLL_INTERVAL
): Effect.fn.Return<A, E, R> {
  for (let value = yield* read; ; value = yield* read) {
    if (wanted(value)) return value
    yield* pause(every)
  }
})

const pause = (duration: Duration.Input) =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
    return Effect.sync(() => clearTimeout(timer))
  })
