import * as PgClient from "@effect/sql-pg/PgClient"
import { type ArchiveFault, ArchiveStore, openDayFiles } from "@runplane/archive"
import { type ArchiveRow, type ColdMark, type ColdTombstone, dayOf } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { readBounded } from "../../platform/postgres/BoundedRows.ts"
import { ArchiveLock } from "./ArchiveLock.ts"
import { ArchiveOptions } from "./ArchiveOptions.ts"
import { ArchiveState, type ChangeTable, type OpenRange } from "./ArchiveState.ts"
import { type ArchiveStep, NO_STEP } from "./EventFiles.ts"
import { putFiles } from "./RangeFiles.ts"
import { type ColdRunRow, coldRunColumns, LARGE_RUN_COLUMNS, toColdRun } from "./RunRows.ts"

/** Most changed rows of a file, and about how many stored bytes of them. */
const CHANGES_ROWS = 5_000
const CHANGES_BYTES = 16 * 1024 * 1024

/** A changed row that is due. */
interface DueRow {
  readonly id: string
  /** Absent for tombstones. */
  readonly change?: bigint
  /** Decides its partition. */
  readonly at: Date
  readonly stored: number
}

/** How the rows of a table are read and completed. */
interface Source<Table extends ChangeTable> {
  readonly table: Table
  readonly due: Effect.Effect<ReadonlyArray<DueRow>, SqlError>
  /** The rows of the first ids, with their days and sizes; `taken` ids are done. */
  readonly read: (
    ids: ReadonlyArray<string>,
    version: number
  ) => Effect.Effect<{ readonly rows: ReadonlyArray<DatedRow<Table>>; readonly taken: number }, SqlError>
  /** In the transaction that completes the range. */
  readonly complete: (range: OpenRange) => Effect.Effect<unknown, SqlError>
}

interface DatedRow<Table extends ChangeTable> {
  readonly day: string
  readonly row: ArchiveRow<Table>
}

/** Writes the next file of changed rows of a table, if there are any. */
const makeWriter = Effect.fnUntraced(function* <Table extends ChangeTable>(source: Source<Table>) {
  const state = yield* ArchiveState
  const store = yield* ArchiveStore
  const lock = yield* ArchiveLock

  const plan = Effect.gen(function* () {
    const due: Array<DueRow> = []
    let stored = 0
    for (const row of yield* source.due) {
      stored += row.stored
      if (due.length > 0 && stored > CHANGES_BYTES) break
      due.push(row)
    }
    if (due.length === 0) return undefined
    return yield* state.planChanges(source.table, {
      ids: due.map(({ id }) => id),
      changes: due.flatMap(({ change }) => (change === undefined ? [] : [Number(change)])),
      days: [...new Set(due.map(({ at }) => dayOf(at.getTime())))].toSorted()
    })
  })

  return Effect.gen(function* (): Effect.fn.Return<ArchiveStep, ArchiveFault | SqlError> {
    const range = (yield* state.range(source.table)) ?? (yield* plan)
    if (range === undefined) return NO_STEP
    const files = openDayFiles(source.table)
    let rows = 0
    let ids = range.ids
    while (ids.length > 0) {
      const read = yield* source.read(ids, range.from)
      for (const { day, row } of read.rows) {
        rows += 1
        if (files.add(day, row, sizeOf(row))) yield* Effect.yieldNow
      }
      ids = ids.slice(Math.max(1, read.taken))
    }
    const written = yield* Effect.provideService(putFiles(range, files.finish()), ArchiveStore, store)
    const isDone = yield* lock.transaction(state.complete(range, written, source.complete(range)))
    if (!isDone) return NO_STEP
    return { wrote: true, rows, bytes: written.reduce((sum, { bytes }) => sum + bytes, 0), files: written.length }
  })
})

/** About how many bytes the texts of a row have. */
const sizeOf = (row: object): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0)

/** The writers of changed runs and marks, and of tombstones (docs/reference/archive.md). */
export const makeChangeFiles = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { cell } = yield* ArchiveOptions

  /** A change that came after the range was planned stays. */
  const forget = ({ changes, ids, table }: OpenRange) => sql`
    DELETE FROM archive_changes c USING unnest(${ids}::text[]::uuid[], ${changes.map(BigInt)}::bigint[]) AS done (id, change)
    WHERE c.table_name = ${table} AND c.id = done.id AND c.change = done.change`

  const keysOf = (ids: ReadonlyArray<string>): Fragment => sql`${ids}::text[]::uuid[]`

  const runs: Source<"runs"> = {
    table: "runs",
    due: sql<DueRow>`
      SELECT c.id::text AS id, c.change, r.created_at AS at,
             coalesce(pg_column_size(r.metadata), 0) + coalesce(pg_column_size(r.tags), 0) AS stored
      FROM archive_changes c JOIN runs r ON r.id = c.id JOIN run_heads h ON h.run_id = r.id
      WHERE c.table_name = 'runs' AND ${hasStatus(sql, "ended", "r")} AND h.last_seq <= (SELECT seq FROM archive_state)
      ORDER BY c.change LIMIT ${CHANGES_ROWS}`,
    read: (ids, version) =>
      Effect.map(
        readBounded<ColdRunRow>(sql, {
          keys: keysOf(ids),
          from: sql`runs r JOIN run_heads h ON h.run_id = r.id LEFT JOIN run_metrics m ON m.run_id = r.id`,
          isOf: (key) => sql`r.id = ${key}`,
          columns: coldRunColumns(sql),
          large: LARGE_RUN_COLUMNS
        }),
        ({ rows, taken }) => ({
          rows: rows.map((row) => ({
            day: dayOf(row.created_at.getTime()),
            row: toColdRun(cell, version, row)
          })),
          taken
        })
      ),
    complete: (range) =>
      Effect.andThen(
        sql`
          INSERT INTO archive_runs (run_id, version, day, first_seq, last_seq, events, session_id)
          SELECT r.id, ${BigInt(range.from)}, to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                 coalesce((SELECT min(e.seq) FROM canonical_events e WHERE e.run_id = r.id), h.last_seq), h.last_seq,
                 h.last_index, r.runtime_session_id
          FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = ANY(${keysOf(range.ids)})
          ON CONFLICT (run_id) DO UPDATE
          SET version = excluded.version, first_seq = excluded.first_seq, last_seq = excluded.last_seq,
              events = excluded.events`,
        forget(range)
      )
  }

  const marks: Source<"marks"> = {
    table: "marks",
    due: sql<DueRow>`
      SELECT c.id::text AS id, c.change, r.created_at AS at, coalesce(pg_column_size(m.comment), 0) AS stored
      FROM archive_changes c JOIN marks m ON m.id = c.id JOIN runs r ON r.id = m.run_id
      WHERE c.table_name = 'marks' ORDER BY c.change LIMIT ${CHANGES_ROWS}`,
    read: (ids, version) =>
      Effect.map(
        readBounded<MarkRow>(sql, {
          keys: keysOf(ids),
          from: sql`marks m JOIN runs r ON r.id = m.run_id`,
          isOf: (key) => sql`m.id = ${key}`,
          columns: sql`
            m.id::text AS mark_id, m.run_id::text AS run_id, m.position, m.target_kind, m.target_id, m.index, m.name,
            m.number, m.flag, m.category, m.comment, m.source, m.judge_name, m.judge_model, m.judge_prompt_hash,
            m.author, m.author_name, m.created_at, m.replaced_by::text AS replaced_by, m.deleted_at, m.deleted_by,
            m.content_sha256, r.created_at AS run_created_at`,
          large: ["m.comment"]
        }),
        ({ rows, taken }) => ({ rows: rows.map((row) => toMark(cell, version, row)), taken })
      ),
    complete: forget
  }

  const tombstones: Source<"tombstones"> = {
    table: "tombstones",
    due: sql<DueRow>`
      SELECT id::text AS id, deleted_at AS at, coalesce(pg_column_size(seal), 0) AS stored FROM run_tombstones
      WHERE archived_at IS NULL AND reason <> 'expired' ORDER BY id LIMIT ${CHANGES_ROWS}`,
    read: (ids, version) =>
      Effect.map(
        sql<TombstoneRow>`
          SELECT run_id::text AS run_id, status, events, deleted_at, deleted_by, seal::text AS seal
          FROM run_tombstones WHERE id = ANY(${ids}::text[]::bigint[]) ORDER BY id`,
        (rows) => ({
          rows: rows.map(({ deleted_at, ...row }) => ({
            day: dayOf(deleted_at.getTime()),
            row: { cell, version, ...row, deleted_at: deleted_at.getTime() }
          })),
          taken: ids.length
        })
      ),
    complete: ({ ids }) =>
      sql`
        WITH written AS (
          UPDATE run_tombstones SET archived_at = now() WHERE id = ANY(${ids}::text[]::bigint[]) RETURNING run_id
        )
        DELETE FROM archive_runs WHERE run_id IN (SELECT run_id FROM written)`
  }

  return {
    runs: yield* makeWriter(runs),
    marks: yield* makeWriter(marks),
    tombstones: yield* makeWriter(tombstones)
  }
})

interface MarkRow extends Omit<ColdMark, "cell" | "created_at" | "deleted_at" | "version"> {
  readonly created_at: Date
  readonly deleted_at: Date | null
  readonly run_created_at: Date
}

const toMark = (
  cell: string,
  version: number,
  { created_at, deleted_at, run_created_at, ...row }: MarkRow
): DatedRow<"marks"> => ({
  day: dayOf(run_created_at.getTime()),
  row: {
    ...{ cell, version, mark_id: row.mark_id, run_id: row.run_id, position: row.position },
    ...{ target_kind: row.target_kind, target_id: row.target_id, index: row.index, name: row.name },
    ...{ number: row.number, flag: row.flag, category: row.category, comment: row.comment, source: row.source },
    ...{ judge_name: row.judge_name, judge_model: row.judge_model, judge_prompt_hash: row.judge_prompt_hash },
    ...{ author: row.author, author_name: row.author_name, created_at: created_at.getTime() },
    ...{ replaced_by: row.replaced_by, deleted_at: deleted_at?.getTime() ?? null, deleted_by: row.deleted_by },
    content_sha256: row.content_sha256
  }
})

interface TombstoneRow extends Omit<ColdTombstone, "cell" | "deleted_at" | "version"> {
  readonly deleted_at: Date
}
