import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import type { AgentUser } from "../common/AgentUser.ts"
import type { JsonObject } from "../common/Json.ts"
import { isRunning, ownIdentity, ProcessIdentity } from "./ProcessIdentity.ts"

const FOLDER_MODE = 0o700
/** To be passed through by name, not to be listed. */
const PASSAGE_MODE = 0o711
const FILE_MODE = 0o600

const PREFIX = "agent-"

/**
 * Age at which a file without an owner is removed, ms: its writing broke off, or another program wrote it.
 */
export const UNKNOWN_FILE_LIFE_MS = 86_400_000

const SWEEP_CONCURRENCY = 8

/** A bootstrap file on disk. */
export interface WrittenBootstrap {
  readonly file: string
  /** Replaces the content as a whole: a reader gets the old one or the new one. */
  readonly rewrite: (content: JsonObject) => Effect.Effect<void, PlatformError.PlatformError>
}

export interface BootstrapFolder {
  readonly folder: string
  /** The user of the agents; undefined where they run as the user of the service. */
  readonly reader: AgentUser | undefined
}

/**
 * Writes a bootstrap file that lives as long as the scope, in a folder of its own. The file holds a credential: only
 * the user of the agent may read it, and a folder that belongs to another user than ours is refused. It also says which
 * process wrote it, for `sweepBootstrapFiles`.
 *
 * The folders stay ours where agents run as another user, which passes through them by name: in a folder of its own an
 * agent could put a link where the next content is written, and get what the link leads to.
 */
export const bootstrapFile = Effect.fn("BootstrapFile.write")(function* (
  { folder, reader }: BootstrapFolder,
  runId: string,
  participantId: string,
  content: JsonObject
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const mode = reader === undefined ? FOLDER_MODE : PASSAGE_MODE
  yield* fs.makeDirectory(folder, { recursive: true, mode })
  const { uid } = yield* fs.stat(folder)
  // Root can write into the folder of any user, who could replace the file. Systems without users have no owner.
  const ownUid = process.getuid?.()
  if (ownUid !== undefined && Option.isSome(uid) && uid.value !== ownUid) return yield* notOurs(folder)
  yield* fs.chmod(folder, mode)
  const launcher = yield* ownIdentity
  const now = yield* Clock.currentTimeMillis
  const ownFolder = yield* Effect.acquireRelease(fs.makeTempDirectory({ directory: folder, prefix: PREFIX }), (made) =>
    Effect.ignore(fs.remove(made, { recursive: true, force: true }))
  )
  yield* fs.chmod(ownFolder, mode)
  const file = path.join(ownFolder, `${fileNamePart(runId)}_${fileNamePart(participantId)}_${now}.json`)
  // "wx": a file or link that is already there under this name was not put there by us.
  const write = (name: string, content: JsonObject) =>
    Effect.andThen(
      fs.writeFileString(name, JSON.stringify({ ...content, launcher }), { flag: "wx", mode: FILE_MODE }),
      reader === undefined ? Effect.void : fs.chown(name, reader.uid, reader.gid)
    )
  const next = `${file.slice(0, -".json".length)}_next.json`
  const written: WrittenBootstrap = {
    file,
    rewrite: (content) =>
      Effect.andThen(
        write(next, content),
        Effect.onError(fs.rename(next, file), () => Effect.ignore(fs.remove(next, { force: true })))
      )
  }
  return yield* Effect.as(write(file, content), written)
})

const notOurs = (folder: string) =>
  PlatformError.systemError({
    _tag: "PermissionDenied",
    module: "BootstrapFile",
    method: "write",
    pathOrDescriptor: folder,
    description: "the folder belongs to another user"
  })

/**
 * Removes the bootstrap files of services that were killed (`kill -9`), and returns the number of their agents. The
 * files of services that still run, in the same folder, stay.
 */
export const sweepBootstrapFiles = Effect.fn("BootstrapFile.sweep")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  const swept = yield* Effect.forEach(
    names.filter((name) => name.startsWith(PREFIX)),
    (name) => sweepOne(path.join(folder, name)),
    { concurrency: SWEEP_CONCURRENCY }
  )
  return swept.filter((removed) => removed).length
})

const decodeOwner = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ launcher: ProcessIdentity })))

const sweepOne = Effect.fnUntraced(
  function* (own: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const files = (yield* fs.readDirectory(own)).map((name) => path.join(own, name))
    const needed = yield* Effect.forEach(files.length === 0 ? [own] : files, isNeeded)
    if (needed.includes(true)) return false
    yield* fs.remove(own, { recursive: true, force: true })
    return true
  },
  // A folder that is gone meanwhile, or that is not ours to read, is not ours to remove.
  Effect.orElseSucceed(() => false)
)

const isNeeded = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const owner = decodeOwner(yield* Effect.orElseSucceed(fs.readFileString(file), () => ""))
  return Option.isSome(owner) ? yield* isRunning(owner.value.launcher) : yield* isYoung(file)
})

const isYoung = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const { mtime } = yield* fs.stat(file)
  const now = yield* Clock.currentTimeMillis
  return Option.isNone(mtime) || now - mtime.value.getTime() < UNKNOWN_FILE_LIFE_MS
})

/** A participant id may hold anything, path separators included. */
const fileNamePart = (text: string) => text.replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 80)
