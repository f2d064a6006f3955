import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** Requests that wait for the end of a task, or stream it, at the same time: of the service, and of one caller. */
export const MOST_OPEN = 500
export const MOST_OF_CALLER = 50

/** The caller, or the service, has too many requests open. */
export class TooManyOpen extends Data.TaggedError("TooManyOpen") {}

/** Counts open requests. */
export const makeOpenRequests = () => {
  const counts = new Map<string, number>()
  let open = 0
  return {
    open: () => open,
    /** Counts one more; `release` has to follow. */
    acquire: (caller: string) =>
      Effect.suspend(() => {
        const own = counts.get(caller) ?? 0
        if (open >= MOST_OPEN || own >= MOST_OF_CALLER) return Effect.fail(new TooManyOpen())
        open++
        counts.set(caller, own + 1)
        return Effect.void
      }),
    release: (caller: string) =>
      Effect.sync(() => {
        open--
        const own = (counts.get(caller) ?? 0) - 1
        if (own > 0) counts.set(caller, own)
        else counts.delete(caller)
      })
  }
}
export type OpenRequests = ReturnType<typeof makeOpenRequests>
