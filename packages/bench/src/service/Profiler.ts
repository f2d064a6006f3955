import { writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import * as Effect from "effect/Effect"

/** Microseconds between two samples. */
const SAMPLING_INTERVAL_US = 200

/** V8's sampling profiler for this process: start it right before what is to be seen, stop it right after. */
export const makeProfiler = Effect.gen(function* () {
  const session = yield* Effect.acquireRelease(
    Effect.sync(() => new Session()),
    (opened) => Effect.sync(() => opened.disconnect())
  )
  const start = Effect.promise(async () => {
    session.connect()
    await session.post("Profiler.enable")
    await session.post("Profiler.setSamplingInterval", { interval: SAMPLING_INTERVAL_US })
    await session.post("Profiler.start")
  })
  const stop = (file: string) =>
    Effect.promise(async () => {
      const { profile } = await session.post("Profiler.stop")
      session.disconnect()
      writeFileSync(file, JSON.stringify(profile))
    })
  return { start, stop }
})
