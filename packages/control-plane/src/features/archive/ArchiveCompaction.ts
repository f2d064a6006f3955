import * as PgClient from "@effect/sql-pg/PgClient"
import { type ArchiveFault, ArchiveStore, openTableFile, readTable } from "@runplane/archive"
import {
  ARCHIVE_TABLES,
  type ArchiveFile,
  type ArchiveRow,
  type ArchiveTable,
  archiveFile,
  archivePath,
  type DeletedRun,
  dayOf,
  type FileBounds,
  firstOpenDay,
  leftOverFiles,
  type Merge,
  mayHold,
  planMerges,
  type SizedFile,
  supersededBy
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { ArchiveLock, layerLocked } from "./ArchiveLock.ts"
import { ArchiveOptions } from "./ArchiveOptions.ts"
import { ArchiveState } from "./ArchiveState.ts"
import { type ErasedRun, type ErasedVersion, makeErasedRows } from "./ErasedRows.ts"

/** Bounds of a merged file; bytes as they are stored. */
export const MERGED: FileBounds = { rows: 1_000_000, bytes: 128 * 1024 * 1024 }

/** What a compaction did. */
export interface Compacted {
  /** Merged or rewritten files. */
  readonly files: number
  /** Files that are not there any more. */
  readonly removed: number
  /** Rows of deleted runs, earlier versions of rows, and events that have lost texts. */
  readonly rows: number
}

/** A run that a caller has deleted, and whose rows may still be in files. */
interface Tombstone {
  readonly run_id: string
  readonly first_seq: bigint | null
  readonly last_seq: bigint
  readonly run_created_at: Date
}

/**
 * Merges small files of closed days, and leaves out the rows of deleted runs and earlier versions of rows
 * (docs/reference/archive.md#compaction). A merge is committed before its file is visible, and the parts are removed
 * after the merged file counts, so a killed compaction continues where it was.
 */
export class ArchiveCompaction extends Context.Service<
  ArchiveCompaction,
  { readonly compact: Effect.Effect<Compacted, ArchiveFault | SqlError> }
>()("runplane/control-plane/ArchiveCompaction") {
  static readonly layer = (bounds: FileBounds = MERGED) =>
    Layer.effect(
      ArchiveCompaction,
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const store = yield* ArchiveStore
        const state = yield* ArchiveState
        const lock = yield* ArchiveLock
        const { cell } = yield* ArchiveOptions
        const erasedRows = yield* makeErasedRows

        /** The first day that may still get events. */
        const openDay = Effect.gen(function* () {
          const today = dayOf(yield* Clock.currentTimeMillis)
          const [row] = yield* sql<{ readonly ts: Date }>`
            SELECT ts FROM canonical_events WHERE seq > (SELECT seq FROM archive_state) ORDER BY seq LIMIT 1`
          return firstOpenDay(today, row && dayOf(row.ts.getTime()))
        })

        const tombstones = sql<Tombstone>`
          SELECT run_id::text AS run_id, first_seq, last_seq, run_created_at FROM run_tombstones
          WHERE erased_at IS NULL AND archived_at IS NOT NULL AND reason <> 'expired'`

        const filesOf = (table: ArchiveTable) =>
          Effect.map(
            sql<{ readonly path: string; readonly rows: bigint; readonly bytes: bigint }>`
              SELECT path, rows, bytes FROM archive_files WHERE table_name = ${table} ORDER BY path`,
            (rows) =>
              rows.flatMap(({ bytes, path, rows: count }): ReadonlyArray<SizedFile> => {
                const file = archiveFile(path)
                return file === undefined ? [] : [{ ...file, rows: Number(count), bytes: Number(bytes) }]
              })
          )

        /** Does nothing when another compaction has merged one of the parts since. */
        const plan = ({ into, parts }: Merge) => sql`
          INSERT INTO archive_ranges (table_name, range_from, range_to, days, parts)
          SELECT ${`compaction/${into.table}`}, ${BigInt(into.from)}, ${BigInt(into.to)}, ${[into.day]}::text[],
                 ${parts.map(archivePath)}::text[]
          WHERE ${parts.length} = (SELECT count(*) FROM archive_files WHERE path = ANY(${parts.map(archivePath)}::text[]))
          ON CONFLICT DO NOTHING`

        const openMerge = (table: ArchiveTable) =>
          Effect.map(
            sql<{
              readonly range_from: bigint
              readonly range_to: bigint
              readonly days: ReadonlyArray<string>
              readonly parts: ReadonlyArray<string>
            }>`
              SELECT range_from, range_to, days, parts FROM archive_ranges
              WHERE table_name = ${`compaction/${table}`}`,
            ([row]): Merge | undefined =>
              row && {
                into: { table, cell, day: row.days[0] ?? "", from: Number(row.range_from), to: Number(row.range_to) },
                parts: row.parts.flatMap((path) => archiveFile(path) ?? [])
              }
          )

        const merge = Effect.fn("ArchiveCompaction.merge")(function* <Table extends ArchiveTable>(
          table: Table,
          { into, parts }: Merge,
          { deleted, erased }: RemovedRows
        ) {
          const newest = new Map<string, number>()
          const eachRow = (take: (row: ArchiveRow<Table>) => boolean, from: ReadonlyArray<ArchiveFile> = parts) =>
            Effect.forEach(from, (part) => readRows(store, table, part, take), { discard: true })
          if (table === "runs" || table === "marks") {
            // The row without an erased text may be in another file of the day than the one with it.
            const sameDay = erased.size === 0 ? parts : (yield* filesOf(table)).filter(({ day }) => day === into.day)
            yield* eachRow((row) => {
              const { id, version } = versionOf(row)
              newest.set(id, Math.max(version, newest.get(id) ?? 0))
              return false
            }, sameDay)
          }
          const events =
            table === "events" && erased.size > 0 ? yield* erasedRows.events(into.from, into.to) : NO_EVENTS
          const runs = table === "runs" && erased.size > 0 ? yield* erasedRows.runs : NO_RUNS
          const file = openTableFile(table)
          let changed = 0
          yield* eachRow((row) => {
            const { id, version } = versionOf(row)
            const isOld = newest.size > 0 && newest.get(id) !== version
            if (isOld || (table !== "tombstones" && deleted.has(runOf(row)))) {
              changed += 1
              return false
            }
            const text = table === "runs" ? erasedRow(runs, row) : events.get(seqOf(row))
            if (text === undefined) return file.add(row, sizeOf(row))
            changed += 1
            return file.add({ ...row, ...text }, sizeOf(row))
          })
          const path = archivePath(into)
          const rows = file.rows()
          const bytes = file.finish()
          // Also without a row: the parts are found, after a crash, by the file that replaced them.
          yield* store.put(path, bytes)
          yield* lock.transaction(
            Effect.gen(function* () {
              const done = yield* sql`
                DELETE FROM archive_ranges WHERE table_name = ${`compaction/${table}`}
                  AND range_from = ${BigInt(into.from)} AND range_to = ${BigInt(into.to)} RETURNING table_name`
              if (done.length === 0) return
              yield* sql`DELETE FROM archive_files WHERE path = ANY(${parts.map(archivePath)}::text[])`
              yield* sql`
                INSERT INTO archive_files (path, table_name, day, range_from, range_to, rows, bytes, written_at)
                VALUES (${path}, ${table}, ${into.day}, ${BigInt(into.from)}, ${BigInt(into.to)}, ${BigInt(rows)},
                        ${BigInt(bytes.length)}, now())`
            })
          )
          const superseded = supersededBy({ into, parts })
          yield* Effect.forEach(superseded, store.remove, { discard: true })
          return { files: 1, removed: superseded.length, rows: changed }
        })

        /** What a compaction that was killed after its commit has left. */
        const sweep = Effect.fnUntraced(function* (table: ArchiveTable) {
          const paths = yield* store.list(`${table}/`)
          const known = new Set((yield* filesOf(table)).map(archivePath))
          const left = leftOverFiles(paths, cell, known)
          yield* Effect.forEach(left, store.remove, { discard: true })
          return { files: 0, removed: left.length, rows: 0 }
        })

        const compactTable = Effect.fnUntraced(function* (
          table: ArchiveTable,
          before: string,
          stones: ReadonlyArray<Tombstone>,
          erasures: ReadonlyArray<ErasedRun>
        ) {
          const removed: RemovedRows = {
            deleted: new Set(stones.map(({ run_id }) => run_id)),
            erased: new Set(erasures.map(({ runId }) => runId))
          }
          const done: Array<Compacted> = []
          /** One merge, while no other process changes files. */
          const mergeNext = lock.withLockAtLast(
            Effect.flatMap(openMerge(table), (open) =>
              open === undefined ? Effect.void : Effect.map(merge(table, open, removed), (one) => void done.push(one))
            )
          )
          yield* mergeNext
          const runs = [...stones.map(deletedRun), ...erasures]
          const isDirty = (file: ArchiveFile) => runs.some((run) => mayHold(file, run))
          for (const planned of planMerges(yield* filesOf(table), before, bounds, isDirty)) {
            yield* plan(planned)
            yield* mergeNext
          }
          done.push(yield* lock.withLockAtLast(sweep(table)))
          return done
        })

        /** Tombstones whose rows can be in no file any more. */
        const erased = (stones: ReadonlyArray<Tombstone>, before: string) => sql`
          UPDATE run_tombstones t SET erased_at = now()
          WHERE erased_at IS NULL AND run_id = ANY(${stones.map(({ run_id }) => run_id)}::text[]::uuid[])
            AND to_char(run_created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') < ${before}
            AND NOT EXISTS (
              SELECT FROM archive_files f WHERE f.table_name = 'events' AND f.day >= ${before}
                AND f.range_to >= t.first_seq AND f.range_from <= t.last_seq)
            AND NOT EXISTS (
              SELECT FROM archive_ranges r WHERE r.range_to >= t.first_seq AND r.range_from <= t.last_seq)`

        const compact = Effect.gen(function* () {
          yield* state.open
          const before = yield* openDay
          const stones = yield* tombstones
          const erasures = yield* erasedRows.pending
          const done: Array<Compacted> = []
          for (const table of ARCHIVE_TABLES) done.push(...(yield* compactTable(table, before, stones, erasures)))
          yield* erased(stones, before)
          yield* erasedRows.complete(erasures, before)
          return done.reduce((sum, one) => ({
            files: sum.files + one.files,
            removed: sum.removed + one.removed,
            rows: sum.rows + one.rows
          }))
        }).pipe(Effect.withSpan("ArchiveCompaction.compact"))
        return ArchiveCompaction.of({ compact })
      })
    ).pipe(Layer.provide(layerLocked))
}

/** Reads a file row by row; `take` returns whether it took long. */
const readRows = <Table extends ArchiveTable>(
  store: ArchiveStore["Service"],
  table: Table,
  file: ArchiveFile,
  take: (row: ArchiveRow<Table>) => boolean
) =>
  readTable(store, table, archivePath(file), {}, (rows) =>
    Effect.suspend(() => {
      let isLong = false
      for (const row of rows) isLong = take(row) || isLong
      return isLong ? Effect.yieldNow : Effect.void
    })
  )

/** Runs whose rows are not in merged files, and those of which texts are not. */
interface RemovedRows {
  readonly deleted: ReadonlySet<string>
  readonly erased: ReadonlySet<string>
}

const NO_RUNS: ReadonlyMap<string, ErasedVersion> = new Map()

const erasedRow = (runs: ReadonlyMap<string, ErasedVersion>, row: object) => {
  const erased = runs.get(runOf(row))
  return erased?.version === versionOf(row).version ? erased.columns : undefined
}

const NO_EVENTS: ReadonlyMap<number, object> = new Map()

const seqOf = (row: object): number => {
  const seq: unknown = Reflect.get(row, "seq")
  return typeof seq === "number" ? seq : Number.NaN
}

const deletedRun = ({ first_seq, last_seq, run_created_at }: Tombstone): DeletedRun => ({
  firstSeq: first_seq === null ? undefined : Number(first_seq),
  lastSeq: Number(last_seq),
  createdDay: dayOf(run_created_at.getTime())
})

const textIn = (row: object, column: string): string | undefined => {
  const value: unknown = Reflect.get(row, column)
  return typeof value === "string" ? value : undefined
}

const runOf = (row: object): string => textIn(row, "run_id") ?? ""

/** Runs and marks have versions; the rows of the other tables are all different. */
const versionOf = (row: object): { readonly id: string; readonly version: number } => {
  const version: unknown = Reflect.get(row, "version")
  return { id: textIn(row, "mark_id") ?? runOf(row), version: typeof version === "number" ? version : 0 }
}

/** About how many bytes the texts of a row have. */
const sizeOf = (row: object): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0)
