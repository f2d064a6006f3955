import { hostname } from "node:os"
import * as PgClient from "@effect/sql-pg/PgClient"
import { type ProcessReport, RUNPLANE_VERSION } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { AppendQueue } from "../../event-log/append/AppendQueue.ts"
import { Observers } from "../../observe/Observers.ts"
import { Placement } from "../../observe/placement/Placement.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { PRESENCE_LOCKS } from "../../platform/postgres/AdvisoryLocks.ts"

/** How often a process says how it is. Milliseconds. */
const REPORT_MS = 5_000
/** A process that leaves does not wait longer than this for the database. Milliseconds. */
const DEREGISTER_LIMIT_MS = 1_000
/** The largest integer of a column. */
const LARGEST = 2 ** 31 - 1
const column = (value: number) => Math.min(LARGEST, Math.round(value))

interface ProcessRow {
  readonly seat: number
  readonly name: string
  readonly version: string
  readonly started_at: Date
  readonly seen_at: Date
  readonly shards: number
  readonly observed_runs: number
  readonly oldest_append_ms: number
  readonly reconnects: number
}

/**
 * The processes on the database, and what each of them observes (docs/reference/admin.md#processes). Each writes
 * its state every 5 s. A process is alive while it holds its lock.
 */
export class Processes extends Context.Service<
  Processes,
  {
    /** All live processes, the oldest first; this process with its current state. */
    readonly list: Effect.Effect<ReadonlyArray<ProcessReport>, SqlError>
  }
>()("runplane/control-plane/Processes") {
  static readonly layer = Layer.effect(
    Processes,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const appends = yield* AppendQueue
      const metrics = yield* Metrics
      const observers = yield* Observers
      const placement = yield* Placement
      const startedAt = new Date(yield* Clock.currentTimeMillis)
      const name = `${hostname()}:${process.pid}`

      const present = sql`EXISTS (
        SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid = ${PRESENCE_LOCKS}::int8::oid
          AND l.objid::int8 = processes.seat
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

      /** Reports this process, and deletes the rows of processes that have stopped without a report. */
      const report = Effect.gen(function* () {
        const oldest = yield* appends.oldest
        yield* sql`
          WITH gone AS (
            DELETE FROM processes WHERE seen_at < now() - interval '1 hour' AND NOT ${present}
          )
          INSERT INTO processes AS p
            (seat, name, version, started_at, seen_at, shards, observed_runs, oldest_append_ms, reconnects)
          VALUES (
            ${placement.processNumber}::int, ${name}, ${RUNPLANE_VERSION}, ${startedAt}, now(), ${placement.shards()}::int,
            ${yield* observers.active}::int, ${column(oldest?.waitedMs ?? 0)}::int,
            ${column(metrics.reconnects())}::int
          )
          ON CONFLICT (seat) DO UPDATE SET
            seen_at = excluded.seen_at, shards = excluded.shards, observed_runs = excluded.observed_runs,
            oldest_append_ms = excluded.oldest_append_ms, reconnects = excluded.reconnects`
      }).pipe(Effect.withTracerEnabled(false))

      const deregister = sql`DELETE FROM processes WHERE seat = ${placement.processNumber}::int`.pipe(
        Effect.timeout(DEREGISTER_LIMIT_MS),
        Effect.interruptible,
        Effect.ignore
      )
      yield* Effect.addFinalizer(() => deregister)
      yield* Effect.forkScoped(forever("process-report", report, { every: REPORT_MS }))

      const list = Effect.gen(function* () {
        yield* report
        const rows = yield* sql<ProcessRow>`
          SELECT seat, name, version, started_at, seen_at, shards, observed_runs, oldest_append_ms, reconnects
          FROM processes WHERE ${present} OR seat = ${placement.processNumber}::int
          ORDER BY started_at, seat`
        return rows.map(
          (row): ProcessReport => ({
            name: row.name,
            isThis: row.seat === placement.processNumber,
            version: row.version,
            startedAt: row.started_at.toISOString(),
            seenAt: row.seen_at.toISOString(),
            shards: row.shards,
            observedRuns: row.observed_runs,
            oldestAppendMs: row.oldest_append_ms,
            reconnects: row.reconnects
          })
        )
      }).pipe(Effect.withSpan("Processes.list"))
      return Processes.of({ list })
    })
  )
}
