import type { DuckDBConnection } from "@duckdb/node-api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { failed } from "../CliFailure.ts"
import { plainText } from "../story/PlainText.ts"
import { faultOf } from "./QueryFault.ts"

/** The version that is tested, which the catalog of the workspace pins. */
export const DUCKDB_PACKAGE = "@duckdb/node-api@1.5.6-r.1"

type DuckDbModule = typeof import("@duckdb/node-api")

/** Loads DuckDB, which is an optional package: 70 MB of native code. */
export const LoadDuckDb = Context.Reference<() => Promise<DuckDbModule>>("runplane/cli/LoadDuckDb", {
  defaultValue: () => () => import("@duckdb/node-api")
})

const isAbsent = (cause: unknown) =>
  cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND" && /node-api/.test(cause.message)

/** The module; fails with the command that installs it. */
export const loadDuckDb = Effect.gen(function* () {
  const load = yield* LoadDuckDb
  return yield* Effect.tryPromise({
    try: load,
    catch: (cause) =>
      failed(
        isAbsent(cause)
          ? `runplane query needs DuckDB: install it beside runplane, with npm install ${DUCKDB_PACKAGE}, and with -g ` +
              "for a global runplane"
          : `DuckDB cannot be loaded (${plainText(String(cause))}): npm install ${DUCKDB_PACKAGE}`
      )
  })
})

export interface Bounds {
  /** As DuckDB writes sizes: `1GiB`. */
  readonly memory: string
  /** Directory for what does not fit into the memory, and its bound. */
  readonly spill: string
  readonly spillSize: string
}

/** A text as a literal of SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** An empty database in memory with these bounds, which loads no extension; it goes with the scope. */
export const connect = Effect.fnUntraced(function* ({ DuckDBInstance }: DuckDbModule, bounds: Bounds) {
  const instance = yield* Effect.acquireRelease(
    attempt(() =>
      DuckDBInstance.create(":memory:", {
        errors_as_json: "true",
        autoinstall_known_extensions: "false",
        autoload_known_extensions: "false",
        allow_community_extensions: "false",
        memory_limit: bounds.memory,
        temp_directory: bounds.spill,
        max_temp_directory_size: bounds.spillSize
      })
    ),
    (opened) => Effect.sync(() => opened.closeSync())
  )
  const connection = yield* Effect.acquireRelease(
    attempt(() => instance.connect()),
    (opened) => Effect.sync(() => opened.closeSync())
  )
  // Days and weeks are those of UTC, as the directories of the archive are.
  yield* execute(connection, "SET TimeZone = 'UTC'")
  // A view, and then the statement, read the footer of each file.
  yield* execute(connection, "SET parquet_metadata_cache = true")
  return connection
})

/** From here on the connection reads files of this directory alone, and its settings stay. */
export const confine = Effect.fnUntraced(function* (connection: DuckDBConnection, directory: string) {
  yield* execute(connection, `SET allowed_directories = [${literal(directory)}]`)
  yield* execute(connection, "SET enable_external_access = false")
  yield* execute(connection, "SET lock_configuration = true")
})

export const execute = (connection: DuckDBConnection, sql: string) =>
  Effect.asVoid(interruptible(connection, () => connection.run(sql)))

/** A call of DuckDB on a connection; interruption ends what the connection does. */
export const interruptible = <A>(connection: DuckDBConnection, run: () => Promise<A>) =>
  Effect.tryPromise({
    try: (signal) => {
      signal.addEventListener("abort", () => connection.interrupt())
      return run()
    },
    catch: faultOf
  })

const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: faultOf })
