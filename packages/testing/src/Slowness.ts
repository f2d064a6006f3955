import { spawnSync } from "node:child_process"
import * as Effect from "effect/Effect"

/** What it takes at most on a machine with nothing else to do. Milliseconds. */
const USUAL_PROCESS_MS = 100

/**
 * How many times longer than usual this machine takes for a process now; at least 1. For the promises in seconds that a
 * test measures: they are about a machine of which the program under test has a share.
 */
export const slowness = Effect.sync(() => {
  const started = performance.now()
  spawnSync(process.execPath, ["-e", ""])
  return Math.max(1, (performance.now() - started) / USUAL_PROCESS_MS)
})
