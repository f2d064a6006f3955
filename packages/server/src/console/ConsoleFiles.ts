import { createHash } from "node:crypto"
import { extname, join, resolve } from "node:path"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import { PROJECT_FOLDER } from "../ProjectFolder.ts"

/** A way in which a file is stored beside itself, and the end of that file's name. */
const ENCODINGS = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" }
] as const
type Encoding = (typeof ENCODINGS)[number]["name"]

/** A file of the console in memory; all files have a few megabytes. */
export interface ConsoleFile {
  readonly contentType: string
  readonly etag: string
  readonly bytes: Uint8Array
  /** The compressed forms that the build has made. */
  readonly encoded: ReadonlyMap<Encoding, Uint8Array>
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8"
}

/** Where the build of the console puts its files. */
const BUILT_CONSOLE = join(PROJECT_FOLDER, "packages/console/dist")

/** The page of the console, which every deep link gets, and that of the inbox. */
export const CONSOLE_PAGE = "index.html"
export const INBOX_PAGE = "inbox.html"

const isCompressed = (path: string) => ENCODINGS.some(({ suffix }) => path.endsWith(suffix))

type Files = ReadonlyMap<string, ConsoleFile>

/** What the folder of the console holds. */
export type ConsoleState =
  | { readonly _tag: "Built"; readonly files: Files }
  /** `npm start` builds it beside this service. */
  | { readonly _tag: "Building"; readonly step: string }
  | { readonly _tag: "Failed"; readonly reason: string }
  | { readonly _tag: "Absent" }

/** The state of a build as `scripts/run/console.mjs` writes it, in place of the files. */
const BUILD = "build.json"
const Build = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ state: Schema.Literal("building"), pid: Schema.Int, step: Schema.String }),
    Schema.Struct({ state: Schema.Literal("failed"), reason: Schema.String })
  ])
)

/** How long an unfinished state is valid. The page of a build reloads itself every few seconds. */
const STATE_AGE = Duration.millis(250)

/**
 * The files of the built console by their path (`assets/index-1a2b.js`), read once, so no later request reads the file
 * system: at the start, or when a build that runs beside the service has ended.
 */
export class ConsoleFiles extends Context.Service<ConsoleFiles, { readonly state: Effect.Effect<ConsoleState> }>()(
  "runplane/server/ConsoleFiles"
) {
  /** Of a folder, or of the one of this checkout. */
  static readonly layer = (given: string | undefined) => {
    const folder = given === undefined ? BUILT_CONSOLE : resolve(given)
    return Layer.effect(
      ConsoleFiles,
      Effect.gen(function* () {
        const context = yield* Effect.context<FileSystem.FileSystem>()
        const first = yield* readState(folder)
        if (first._tag === "Absent") {
          yield* Effect.logInfo(`the web console is not served: ${folder} has no ${CONSOLE_PAGE}`)
        }
        if (first._tag === "Absent" || first._tag === "Built") return { state: Effect.succeed(first) }
        let built: ConsoleState | undefined
        const read = yield* readState(folder).pipe(
          // Between the state of a build and its files the folder is empty for a moment.
          Effect.map((state) => (state._tag === "Absent" ? first : state)),
          Effect.tap((state) =>
            Effect.sync(() => {
              if (state._tag === "Built") built = state
            })
          ),
          Effect.provideContext(context),
          Effect.orDie,
          Effect.cachedWithTTL(STATE_AGE)
        )
        return { state: Effect.suspend(() => (built === undefined ? read : Effect.succeed(built))) }
      })
    )
  }
}

const readState = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<ConsoleState, PlatformError.PlatformError | Schema.SchemaError, FileSystem.FileSystem> {
  const files = yield* FileSystem.FileSystem
  if (yield* files.exists(`${folder}/${CONSOLE_PAGE}`)) return { _tag: "Built", files: yield* readFiles(folder) }
  if (!(yield* files.exists(`${folder}/${BUILD}`))) return { _tag: "Absent" }
  const build = yield* Schema.decodeUnknownEffect(Build)(yield* files.readFileString(`${folder}/${BUILD}`))
  if (build.state === "failed") return { _tag: "Failed", reason: build.reason }
  return isRunning(build.pid)
    ? { _tag: "Building", step: build.step }
    : { _tag: "Failed", reason: "its build was interrupted; the next npm start builds it" }
})

/** Whether a process with this id exists. */
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

const readFiles = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const names = yield* files.readDirectory(folder, { recursive: true })
  const paths = names.map((name) => name.replaceAll("\\", "/"))
  const known = new Set(paths)
  const entries = yield* Effect.forEach(
    paths.filter((path) => !isCompressed(path)),
    (path) =>
      Effect.map(
        readFile(folder, path, known),
        Option.map((file) => [path, file] as const)
      ),
    { concurrency: 16 }
  )
  return new Map(entries.flatMap(Option.toArray))
})

const readFile = Effect.fnUntraced(function* (folder: string, path: string, known: ReadonlySet<string>) {
  const files = yield* FileSystem.FileSystem
  if ((yield* files.stat(`${folder}/${path}`)).type !== "File") return Option.none<ConsoleFile>()
  const bytes = yield* files.readFile(`${folder}/${path}`)
  const encoded = new Map<Encoding, Uint8Array>()
  for (const { name, suffix } of ENCODINGS) {
    if (known.has(`${path}${suffix}`)) encoded.set(name, yield* files.readFile(`${folder}/${path}${suffix}`))
  }
  return Option.some<ConsoleFile>({
    contentType: CONTENT_TYPES[extname(path)] ?? "application/octet-stream",
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    bytes,
    encoded
  })
})
