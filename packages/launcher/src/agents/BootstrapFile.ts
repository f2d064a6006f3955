import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../common/Json.ts"
import { isRunning, ownIdentity, ProcessIdentity } from "./ProcessIdentity.ts"

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/**
 * A file that does not say whose it is was not written to its end, or not by us; after this time nobody reads it, ms.
 */
export const UNKNOWN_FILE_LIFE_MS = 86_400_000

const SWEEP_CONCURRENCY = 8

/** A bootstrap file that is there, and how it gets another content. */
export interface WrittenBootstrap {
  readonly file: string
  /** Replaces the content as a whole: whoever reads it has the old one or the new one. */
  readonly rewrite: (content: JsonObject) => Effect.Effect<void, PlatformError.PlatformError>
}

/**
 * Writes a bootstrap file that lives as long as the scope. It holds a credential: only the service's own user may read
 * it, and a folder that belongs to somebody else is refused (`chmod` fails there). It also says which process wrote it,
 * for `sweepBootstrapFiles`.
 */
export const bootstrapFile = Effect.fn("BootstrapFile.write")(function* (
  folder: string,
  runId: string,
  participantId: string,
  content: JsonObject
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(folder, { recursive: true, mode: FOLDER_MODE })
  yield* fs.chmod(folder, FOLDER_MODE)
  const launcher = yield* ownIdentity
  const now = yield* Clock.currentTimeMillis
  const file = path.join(folder, `${fileNamePart(runId)}_${fileNamePart(participantId)}_${now}.json`)
  // "wx": a file or link that is already there under this name was not put there by us.
  const write = (name: string, content: JsonObject) =>
    fs.writeFileString(name, JSON.stringify({ ...content, launcher }), { flag: "wx", mode: FILE_MODE })
  const next = `${file.slice(0, -".json".length)}_next.json`
  const written: WrittenBootstrap = {
    file,
    rewrite: (content) =>
      Effect.andThen(
        write(next, content),
        Effect.onError(fs.rename(next, file), () => Effect.ignore(fs.remove(next, { force: true })))
      )
  }
  return yield* Effect.acquireRelease(Effect.as(write(file, content), written), () =>
    Effect.ignore(fs.remove(file, { force: true }))
  )
})

/**
 * Removes what services left behind that had no chance to do it themselves (`kill -9`), and answers how many files that
 * were. Files of services that run, on the same folder, stay.
 */
export const sweepBootstrapFiles = Effect.fn("BootstrapFile.sweep")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  const swept = yield* Effect.forEach(
    names.filter((name) => name.endsWith(".json")),
    (name) => sweepOne(path.join(folder, name)),
    { concurrency: SWEEP_CONCURRENCY }
  )
  return swept.filter((removed) => removed).length
})

const decodeOwner = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ launcher: ProcessIdentity })))

const sweepOne = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const owner = decodeOwner(yield* fs.readFileString(file))
    const isNeeded = Option.isSome(owner) ? yield* isRunning(owner.value.launcher) : yield* isYoung(file)
    if (isNeeded) return false
    yield* fs.remove(file, { force: true })
    return true
  },
  // A file that is gone meanwhile, or that is not ours to read, is not ours to remove.
  Effect.orElseSucceed(() => false)
)

const isYoung = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const { mtime } = yield* fs.stat(file)
  const now = yield* Clock.currentTimeMillis
  return Option.isNone(mtime) || now - mtime.value.getTime() < UNKNOWN_FILE_LIFE_MS
})

/** A participant id may hold anything, path separators included. */
const fileNamePart = (text: string) => text.replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 80)
