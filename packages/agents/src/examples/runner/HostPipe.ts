import { fstatSync } from "node:fs"
import * as Effect from "effect/Effect"

/**
 * Waits for the end of standard input when it is a pipe: the process that started the agent holds the other end, so its
 * end is that process's end. Never ends for a terminal, a file or /dev/null.
 */
export const hostGone: Effect.Effect<void> = Effect.callback((resume) => {
  const { stdin } = process
  if (!isPipe()) return
  const gone = () => resume(Effect.void)
  stdin.once("end", gone)
  stdin.once("close", gone)
  stdin.once("error", gone)
  stdin.resume()
  // A pipe that is being read would keep a finished agent alive.
  return Effect.sync(() => {
    stdin.off("end", gone).off("close", gone).off("error", gone)
    stdin.destroy()
  })
})

/** Node gives child processes socket pairs as pipes, shells give real ones. */
const isPipe = (): boolean => {
  try {
    const status = fstatSync(0)
    return status.isFIFO() || status.isSocket()
  } catch {
    // A closed descriptor has no peer.
    return false
  }
}
