import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/** An event stream was refused or broke off. */
export class StreamBroken extends Data.TaggedError("StreamBroken")<{ readonly reason: string }> {
  override get message(): string {
    return `the event stream broke: ${this.reason}`
  }
}

/** How far an event stream has come, and who waits for what of it. */
export const makeStreamProgress = Effect.gen(function* () {
  const opened = yield* Deferred.make<void, StreamBroken>()
  const enough = yield* Deferred.make<void, StreamBroken>()
  let events = 0
  let wanted = Number.POSITIVE_INFINITY
  return {
    opened: Deferred.await(opened),
    open: () => {
      Deferred.doneUnsafe(opened, Effect.void)
    },
    /** So many events came so far. */
    reach: (count: number) => {
      events = count
      if (events >= wanted) Deferred.doneUnsafe(enough, Effect.void)
    },
    broken: (reason: string) => {
      const failure = Effect.fail(new StreamBroken({ reason }))
      Deferred.doneUnsafe(opened, failure)
      Deferred.doneUnsafe(enough, failure)
    },
    brought: (count: number): Effect.Effect<void, StreamBroken> =>
      Effect.suspend(() => {
        wanted = count
        return events >= count ? Effect.void : Deferred.await(enough)
      })
  }
})
