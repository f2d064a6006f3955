import * as PgClient from "@effect/sql-pg/PgClient"
import { EmbeddedPostgres } from "@runplane/postgres"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { childrenOf, cpuSecondsOfTree } from "./process/CpuTime.ts"

/** One connection measures the raw ceiling, and one reads counters. */
const CONNECTIONS = 2

/**
 * Write-ahead log that a server keeps ready. A fresh one makes each new segment of 16 MB in the middle of some commit,
 * which takes it some 50 to 100 ms; a server that has been at work for a while has old ones to write over, and that is
 * the one to measure.
 */
const READY_SEGMENTS = 20
const READY_WAL = "512MB"

/** The empty database that the control plane under measurement is given. */
export class BenchDatabase extends Context.Service<
  BenchDatabase,
  {
    readonly url: string
    /**
     * CPU seconds of the server with its backends; undefined for a foreign server, or where the platform does not say.
     */
    readonly cpuSeconds: Effect.Effect<number | undefined>
    /** Brings a server of our own into the state of one that has been at work for a while; before each measurement. */
    readonly settle: Effect.Effect<void, SqlError>
    /** Pauses the server with its backends until the scope closes; a given server is not paused. */
    readonly pause: Effect.Effect<void, never, Scope.Scope>
  }
>()("runplane/bench/BenchDatabase") {
  /**
   * A PostgreSQL server of our own, writing to disk as in production (`fsync`), in a folder that is removed afterwards.
   */
  static readonly layer = Layer.suspend(() =>
    Layer.effect(BenchDatabase, embedded).pipe(Layer.provide(EmbeddedPostgres.layerTemporary()))
  )

  /** A database on a given server. */
  static readonly layerUrl = (url: string) =>
    Layer.succeed(BenchDatabase, {
      url,
      cpuSeconds: Effect.succeed(undefined),
      settle: Effect.void,
      pause: Effect.void
    })

  /** The same client as the service's, for the bench itself. */
  static readonly layerClient = Layer.unwrap(Effect.map(BenchDatabase, ({ url }) => clientOf(url)))
}

const clientOf = (url: string) =>
  PgClient.layer({ url: Redacted.make(url), maxConnections: CONNECTIONS, applicationName: "runplane-bench" })

const embedded = Effect.gen(function* () {
  const { pid, url } = yield* EmbeddedPostgres
  yield* Effect.provide(makeSegments, clientOf(url))
  const settle = Effect.provide(checkpoint, clientOf(url))
  const signal = (name: "SIGSTOP" | "SIGCONT") =>
    Effect.sync(() => {
      for (const each of [pid, ...childrenOf(pid).map((child) => child.pid)]) process.kill(each, name)
    })
  const pause = Effect.acquireRelease(signal("SIGSTOP"), () => signal("SIGCONT"))
  return BenchDatabase.of({ url, cpuSeconds: cpuSecondsOfTree(pid), settle, pause })
})

/** Old segments become new ones at a checkpoint; nothing of the measurement before is left to be written either. */
const checkpoint = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`CHECKPOINT`.unprepared
})

const makeSegments = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(`ALTER SYSTEM SET min_wal_size = '${READY_WAL}'`).unprepared
  yield* sql`SELECT pg_reload_conf()`
  for (let segment = 0; segment < READY_SEGMENTS; segment++) {
    // A segment is only left behind when something has been written into it.
    yield* sql`SELECT pg_logical_emit_message(true, 'bench', 'x')::text`
    yield* sql`SELECT pg_switch_wal()::text`
  }
})
