import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"

/** A process of this machine. The system may give the id alone to another process later. */
export const ProcessIdentity = Schema.Struct({
  pid: Schema.Int.check(Schema.isGreaterThan(0)),
  /** When it started, in clock ticks of the machine; absent where the system does not show it. */
  started: Schema.optionalKey(Schema.String)
})
export type ProcessIdentity = typeof ProcessIdentity.Type

/** Place of the start time in /proc/<pid>/stat, counted after the name of the program. */
const START_TIME_FIELD = 19

export const ownIdentity = Effect.suspend(() => identityOf(process.pid))

/** Whether the process is still there. Where start times are unavailable, any process with its id counts. */
export const isRunning = Effect.fnUntraced(function* ({ pid, started }: ProcessIdentity) {
  if (!exists(pid)) return false
  const now = yield* identityOf(pid)
  return started === undefined || now.started === undefined || started === now.started
})

const identityOf = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const stat = yield* Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/stat`), () => "")
  // The name, in parentheses, may hold anything.
  const started = stat.replace(/^.*\) /s, "").split(" ")[START_TIME_FIELD]
  const identity: ProcessIdentity = started === undefined ? { pid } : { pid, started }
  return identity
})

const exists = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user's process cannot be signalled, but it is there.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
