import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { EmbeddedPostgres } from "@runplane/stack"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { cpuSecondsOfTree } from "./process/CpuTime.ts"

/** The raw ceiling is measured on one connection, and one looks on. */
const CONNECTIONS = 2

/** The empty database that the control plane under measurement is given. */
export class BenchDatabase extends Context.Service<
  BenchDatabase,
  {
    readonly url: string
    /** CPU seconds of the server with its backends; undefined when it is not ours, or nobody tells. */
    readonly cpuSeconds: Effect.Effect<number | undefined>
  }
>()("runplane/bench/BenchDatabase") {
  /** A PostgreSQL server of our own, writing to disk as in production (`fsync`), in a folder that is removed afterwards. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const dataDir = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-bench-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      return Layer.effect(
        BenchDatabase,
        Effect.map(EmbeddedPostgres, ({ pid, url }) => BenchDatabase.of({ url, cpuSeconds: cpuSecondsOfTree(pid) }))
      ).pipe(Layer.provide(EmbeddedPostgres.layer({ dataDir, port: 0 })))
    })
  )

  /** A database on somebody else's server. */
  static readonly layerUrl = (url: string) =>
    Layer.succeed(BenchDatabase, { url, cpuSeconds: Effect.succeed(undefined) })

  /** The same client as the service's, for the bench itself. */
  static readonly layerClient = Layer.unwrap(
    Effect.map(BenchDatabase, ({ url }) =>
      PgClient.layer({ url: Redacted.make(url), maxConnections: CONNECTIONS, applicationName: "runplane-bench" })
    )
  )
}
