import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"

/**
 * A file that changed within this time before it was read may change again without a new time stamp, because file
 * systems count time in steps: its entry is not reused. Milliseconds.
 */
export const SETTLING_MS = 2_000

/** Paths that are remembered at most; a reading that needed more is not recognised again. */
const MAX_TRACED_PATHS = 50_000

export interface TracedFiles {
  /** The same file system; it records each path that is read, with its state before the read. */
  readonly fs: FileSystem.FileSystem
  /** Whether every remembered path is now as it was; false also whenever that is uncertain. */
  readonly unchanged: Effect.Effect<boolean>
}

/**
 * Remembers what a reading has depended on, so that it need not be repeated while nothing of that has changed: contents
 * of files and directories as well as files that were not there.
 */
export const traceFiles = (fs: FileSystem.FileSystem): TracedFiles => {
  const states = new Map<string, string>()
  let isCertain = true

  const remember = Effect.fnUntraced(function* (path: string) {
    if (states.has(path)) return
    if (states.size >= MAX_TRACED_PATHS) {
      isCertain = false
      return
    }
    const now = yield* Clock.currentTimeMillis
    const state = yield* stateOf(fs, path)
    if (state.changedAt === undefined || state.changedAt > now - SETTLING_MS) isCertain = false
    states.set(path, state.text)
  })

  const traced =
    <Rest extends ReadonlyArray<unknown>, A>(
      read: (path: string, ...rest: Rest) => Effect.Effect<A, PlatformError.PlatformError>
    ) =>
    (path: string, ...rest: Rest) =>
      Effect.andThen(remember(path), read(path, ...rest))

  return {
    fs: FileSystem.FileSystem.of({
      ...fs,
      exists: traced(fs.exists),
      readDirectory: traced(fs.readDirectory),
      readFile: traced(fs.readFile),
      readFileString: traced(fs.readFileString),
      realPath: traced(fs.realPath),
      stat: traced(fs.stat)
    }),
    unchanged: Effect.suspend(() =>
      isCertain
        ? Effect.map(
            Effect.findFirst([...states], ([path, before]) =>
              Effect.map(stateOf(fs, path), (state) => state.text !== before)
            ),
            Option.isNone
          )
        : Effect.succeed(false)
    )
  }
}

interface PathState {
  readonly text: string
  /** Epoch ms of the last change; undefined when nothing reliable is known. */
  readonly changedAt: number | undefined
}

/** A path without a file. It counts as unchanged. */
const ABSENT: PathState = { text: "absent", changedAt: 0 }

const stateOf = (fs: FileSystem.FileSystem, path: string): Effect.Effect<PathState> =>
  fs.stat(path).pipe(
    Effect.map((info) => ({
      text: [info.type, info.size, info.mode, info.dev, Option.getOrNull(info.ino), mtimeOf(info)].join(" "),
      changedAt: mtimeOf(info)
    })),
    Effect.catchTag("PlatformError", ({ reason }) =>
      Effect.succeed(reason._tag === "NotFound" ? ABSENT : { text: reason._tag, changedAt: undefined })
    )
  )

const mtimeOf = ({ mtime }: FileSystem.File.Info) => Option.getOrUndefined(mtime)?.getTime()
