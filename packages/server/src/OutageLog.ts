import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Milliseconds until a lasting outage is logged again; the last one repeats. */
const REPEAT_MS = [10_000, 60_000, 300_000, 1_800_000]

export interface OutageLog {
  /** The dependency does not work: logged at once, then after growing times. */
  readonly lost: (why: string) => Effect.Effect<void>
  /** It works: logged once after an outage. */
  readonly back: Effect.Effect<void>
}

/** The log of a dependency's outages: the first word at once, the next at growing distances, and when it is back. */
export const makeOutageLog = (name: string): OutageLog => {
  let since: number | undefined
  let logged = 0
  let again = 0
  return {
    lost: (why) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (since === undefined) {
          since = now
          logged = 0
        } else if (now < again) return
        const away = Math.round((now - since) / 1_000)
        again = now + (REPEAT_MS[Math.min(logged, REPEAT_MS.length - 1)] ?? 0)
        logged += 1
        yield* Effect.logWarning(`${name} does not work${away === 0 ? "" : `, for ${away} s now`}: ${why}`).pipe(
          Effect.annotateLogs({ dependency: name })
        )
      }),
    back: Effect.gen(function* () {
      if (since === undefined) return
      const away = Math.round(((yield* Clock.currentTimeMillis) - since) / 1_000)
      since = undefined
      yield* Effect.logInfo(`${name} works again after ${away} s`).pipe(Effect.annotateLogs({ dependency: name }))
    })
  }
}
