import { extname, join } from "node:path"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { sha256 } from "../../platform/Sha256.ts"

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
export const BUILT_CONSOLE = join(PROJECT_FOLDER, "packages/console/dist")

/** The page that every deep link gets. */
export const PAGE = "index.html"

const isCompressed = (path: string) => ENCODINGS.some(({ suffix }) => path.endsWith(suffix))

/**
 * The files of the built console by their path (`assets/index-1a2b.js`), read once at the start, so no request
 * reads the file system. Empty when no console was built.
 */
export class ConsoleFiles extends Context.Service<ConsoleFiles, ReadonlyMap<string, ConsoleFile>>()(
  "runplane/control-plane/ConsoleFiles"
) {
  static readonly layer = (folder: string) =>
    Layer.effect(
      ConsoleFiles,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        if (!(yield* files.exists(`${folder}/${PAGE}`))) {
          yield* Effect.logInfo(`the web console is not served: ${folder} has no ${PAGE}`)
          return new Map<string, ConsoleFile>()
        }
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
    )
}

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
    etag: `"${Buffer.from(sha256(bytes)).toString("base64url").slice(0, 22)}"`,
    bytes,
    encoded
  })
})
