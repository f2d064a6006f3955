import { constants } from "node:os"

/** Everything has stopped this long after Ctrl-C, or is left to end by itself: milliseconds. */
const EXIT_DEADLINE_MS = 1_800

/**
 * Holds the promise that Ctrl-C ends the process in time, whatever hangs: an open request, a slow disk. What the
 * process started goes with it also then, because agents and the database server watch for its end. A second Ctrl-C
 * does not wait.
 */
export const installExitDeadline = (): void => {
  let stopping = false
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const leave = () => process.exit(128 + constants.signals[signal])
      if (stopping) leave()
      stopping = true
      setTimeout(leave, EXIT_DEADLINE_MS).unref()
    })
  }
}
