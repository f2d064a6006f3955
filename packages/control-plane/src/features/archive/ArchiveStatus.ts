import * as PgClient from "@effect/sql-pg/PgClient"
import type { ArchiveFault } from "@runplane/archive"
import { ARCHIVE_TABLES, type ArchiveTable } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { waitedSince } from "../../event-log/consume/LogLag.ts"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { isFiled } from "./FiledRuns.ts"

/** How far the archive is behind the log. */
export interface ArchiveLag {
  /** How long the oldest event has waited for its file. */
  readonly seconds: number
  /** Positions of the log up to the watermark. */
  readonly events: number
}

export interface ArchiveFailure {
  readonly since: Date
  readonly kind: string
  readonly message: string
}

/** The state of an archive as every process reads it. */
export interface ArchivePosition {
  readonly url: string
  readonly cell: string
  readonly writtenSeq: number
  readonly lag: ArchiveLag
  readonly failure: ArchiveFailure | undefined
}

/** What is in the files of a table. */
export interface FiledTable {
  readonly table: ArchiveTable
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

export interface LastFile {
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly writtenAt: Date
}

/** The state of the archive, for operators (docs/reference/archive.md#operation). */
export class ArchiveStatus extends Context.Service<
  ArchiveStatus,
  {
    /** Undefined while the database has no archive. */
    readonly position: Effect.Effect<ArchivePosition | undefined, SqlError>
    readonly tables: Effect.Effect<ReadonlyArray<FiledTable>, SqlError>
    readonly lastFile: Effect.Effect<LastFile | undefined, SqlError>
    /** Ended runs and marks that changed since they were written. */
    readonly waitingChanges: Effect.Effect<number, SqlError>
    /** Runs that ended before a time (ISO-8601) and are not in files as they are now. */
    readonly unfiledBefore: (cutoff: string) => Effect.Effect<number, SqlError>
    /** Notes a failure, or that files are written again. The time of the first failure stays. */
    readonly note: (fault: ArchiveFault | undefined) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/ArchiveStatus") {
  static readonly layer = Layer.effect(
    ArchiveStatus,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const position = Effect.map(
        sql<PositionRow>`
          SELECT url, cell, s.seq, greatest(0, mark - s.seq) AS behind, failing_since, failure_kind, failure,
                 ${waitedSince(sql, sql`s.seq`, sql`mark`)} AS waited
          FROM archive_state s CROSS JOIN event_watermark() AS mark`,
        ([row]): ArchivePosition | undefined =>
          row && {
            ...{ url: row.url, cell: row.cell, writtenSeq: Number(row.seq) },
            lag: { seconds: Math.max(0, row.waited ?? 0), events: Number(row.behind) },
            failure:
              row.failing_since === null
                ? undefined
                : { since: row.failing_since, kind: row.failure_kind ?? "failed", message: row.failure ?? "" }
          }
      ).pipe(Effect.withSpan("ArchiveStatus.position"))

      const tables = Effect.map(
        sql<TableRow>`
          SELECT table_name, count(*)::int AS files, sum(rows)::float8 AS rows, sum(bytes)::float8 AS bytes
          FROM archive_files GROUP BY table_name`,
        (rows) =>
          ARCHIVE_TABLES.map((table): FiledTable => {
            const { bytes = 0, files = 0, rows: count = 0 } = rows.find((row) => row.table_name === table) ?? {}
            return { table, files, rows: count, bytes }
          })
      ).pipe(Effect.withSpan("ArchiveStatus.tables"))

      const lastFile = Effect.map(
        sql<LastRow>`SELECT path, rows, bytes, written_at FROM archive_files ORDER BY written_at DESC, path DESC LIMIT 1`,
        ([row]): LastFile | undefined =>
          row && { path: row.path, rows: Number(row.rows), bytes: Number(row.bytes), writtenAt: row.written_at }
      ).pipe(Effect.withSpan("ArchiveStatus.lastFile"))

      const waitingChanges = Effect.map(
        sql<{ readonly waiting: number }>`SELECT count(*)::int AS waiting FROM archive_changes`,
        ([row]) => row?.waiting ?? 0
      ).pipe(Effect.withSpan("ArchiveStatus.waitingChanges"))

      const unfiledBefore = Effect.fn("ArchiveStatus.unfiledBefore")((cutoff: string) =>
        Effect.map(
          sql<{ readonly waiting: number }>`
            SELECT count(*)::int AS waiting FROM runs r
            WHERE r.ended_at < ${cutoff}::timestamptz AND ${hasStatus(sql, "ended", "r")} AND NOT (${isFiled(sql)})`,
          ([row]) => row?.waiting ?? 0
        )
      )

      const note = Effect.fn("ArchiveStatus.note")((fault: ArchiveFault | undefined) =>
        Effect.asVoid(
          fault === undefined
            ? sql`UPDATE archive_state SET failing_since = NULL, failure_kind = NULL, failure = NULL
                  WHERE failing_since IS NOT NULL`
            : sql`UPDATE archive_state
                  SET failing_since = coalesce(failing_since, clock_timestamp()), failure_kind = ${fault.kind},
                      failure = ${fault.message}
                  WHERE (failure_kind, failure) IS DISTINCT FROM (${fault.kind}::text, ${fault.message}::text)`
        )
      )
      return ArchiveStatus.of({ position, tables, lastFile, waitingChanges, unfiledBefore, note })
    })
  )
}

interface PositionRow {
  readonly url: string
  readonly cell: string
  readonly seq: bigint
  readonly behind: bigint
  readonly waited: number | null
  readonly failing_since: Date | null
  readonly failure_kind: string | null
  readonly failure: string | null
}

interface TableRow {
  readonly table_name: string
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

interface LastRow {
  readonly path: string
  readonly rows: bigint
  readonly bytes: bigint
  readonly written_at: Date
}
