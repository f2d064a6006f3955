import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"

/** The permission of users outside of owner and group to read a file. */
const READ_BY_OTHERS = 0o004

/**
 * Warns of a private key that every user of the machine can read (docs/reference/deploy.md#key-files). The start goes
 * on: volumes of some orchestrators have this mode, and a container has no other users. Windows has no such mode.
 */
export const warnOfSharedKeyFile = Effect.fnUntraced(function* (path: string) {
  if (process.platform === "win32") return
  const files = yield* FileSystem.FileSystem
  const mode = Option.map(yield* Effect.option(files.stat(path)), (info) => info.mode)
  if (Option.isNone(mode) || (mode.value & READ_BY_OTHERS) === 0) return
  yield* Effect.logWarning(`every user of this machine can read the private key ${path}: run chmod 600 "${path}"`)
})
