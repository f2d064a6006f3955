import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Often enough not to be waited for, seldom enough to leave the processor to what is waited for. */
const LOOK_AGAIN = "20 millis"

/**
 * Looks again and again until the value is as wanted, and answers it. Only for what tells nobody of its changes: a row
 * of the database, another process. It looks in real time, also under the test clock, and has no limit of its own: a
 * test that waits in vain ends by its time-out.
 */
export const until = Effect.fnUntraced(function* <A, E, R>(
  look: Effect.Effect<A, E, R>,
  wanted: (value: A) => boolean,
  every: Duration.Input = LOOK_AGAIN
): Effect.fn.Return<A, E, R> {
  for (let value = yield* look; ; value = yield* look) {
    if (wanted(value)) return value
    yield* pause(every)
  }
})

const pause = (duration: Duration.Input) =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
    return Effect.sync(() => clearTimeout(timer))
  })
