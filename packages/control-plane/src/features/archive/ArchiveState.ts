import * as PgClient from "@effect/sql-pg/PgClient"
import { ArchiveFault, ArchiveStore } from "@runplane/archive"
import { type ArchiveRange, type ArchiveTable, pathsOf, unknownFiles } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { ArchiveOptions } from "./ArchiveOptions.ts"

/** The longest wait for the tables when the archive of a database begins. Milliseconds. */
const LOCK_TIMEOUT_MS = 1_000

/** A file as it was made visible. */
export interface WrittenFile {
  readonly path: string
  readonly day: string
  readonly rows: number
  readonly bytes: number
}

/** A range that is committed and not written yet, with the changed rows that it has. */
export interface OpenRange extends ArchiveRange {
  readonly ids: ReadonlyArray<string>
  readonly changes: ReadonlyArray<number>
}

/** The tables whose rows are written again when they change. */
export type ChangeTable = Exclude<ArchiveTable, "events">

/** Changed rows that a range writes; `changes` is empty for tombstones, which do not change. */
export interface Changed {
  readonly ids: ReadonlyArray<string>
  readonly changes: ReadonlyArray<number>
  readonly days: ReadonlyArray<string>
}

/** Positions of the archive as they are committed. */
export interface Positions {
  /** The events up to it are in files. */
  readonly seq: number
}

/**
 * What the database knows of its archive. A range is committed before its first file is visible; the files become part
 * of the archive in the transaction that deletes the range. Both compare with what is stored, so a process that was
 * replaced by another one changes nothing.
 */
export class ArchiveState extends Context.Service<
  ArchiveState,
  {
    /** Starts the archive of this database, once. Fails when its archive is another one. */
    readonly open: Effect.Effect<Positions, ArchiveFault | SqlError>
    readonly range: (table: ArchiveTable) => Effect.Effect<OpenRange | undefined, SqlError>
    /** Commits a range of events; false when another process has moved on. */
    readonly planEvents: (after: number, range: ArchiveRange) => Effect.Effect<boolean, SqlError>
    /** Commits a range of changed rows under the next number; undefined when another process has one. */
    readonly planChanges: (table: ChangeTable, changed: Changed) => Effect.Effect<OpenRange | undefined, SqlError>
    /** Moves over positions without events. */
    readonly skip: (from: number, to: number) => Effect.Effect<void, SqlError>
    /**
     * In the transaction of the caller: deletes the range, adds its files, and runs `also`. False, without any effect,
     * when another process has done it.
     */
    readonly complete: <E>(
      range: ArchiveRange,
      files: ReadonlyArray<WrittenFile>,
      also: Effect.Effect<unknown, E>
    ) => Effect.Effect<boolean, E | SqlError>
  }
>()("runplane/control-plane/ArchiveState") {
  static readonly layer = Layer.effect(
    ArchiveState,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const store = yield* ArchiveStore
      const { cell } = yield* ArchiveOptions

      const read = Effect.map(
        sql<StateRow>`
          SELECT cell, url, seq, is_ready FROM archive_state`,
        ([row]) => row
      )

      /**
       * Every change of these tables after the commit is noted. The lock waits for open transactions, and other writers
       * wait behind it, so it gives up soon, and the next step tries again.
       */
      const create = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT set_config('lock_timeout', ${`${LOCK_TIMEOUT_MS}ms`}, true)`
          yield* sql`LOCK TABLE runs, run_seals, marks IN SHARE MODE`
          const made = yield* sql`
            INSERT INTO archive_state (cell, url) VALUES (${cell}, ${store.url}) ON CONFLICT DO NOTHING RETURNING id`
          // Runs that were deleted before are in no file.
          if (made.length > 0) yield* sql`UPDATE run_tombstones SET archived_at = now(), erased_at = now()`
        })
      )

      /** The marks of before; ended runs are noted when their events are in files. */
      const makeReady = sql.withTransaction(
        Effect.andThen(
          sql`UPDATE archive_state SET is_ready = true`,
          sql`INSERT INTO archive_changes (table_name, id, run_id, change)
              SELECT 'marks', id, run_id, nextval('archive_change') FROM marks ON CONFLICT DO NOTHING`
        )
      )

      /** The files may have moved to another address: the newest one is there then. */
      const checkUrl = Effect.fnUntraced(function* (url: string) {
        if (url === store.url) return
        const [newest] = yield* sql<{ readonly path: string; readonly bytes: bigint }>`
          SELECT path, bytes FROM archive_files ORDER BY written_at DESC, path DESC LIMIT 1`
        const size = newest && (yield* Effect.option(store.size(newest.path)))
        if (newest !== undefined && (size?._tag !== "Some" || BigInt(size.value) !== newest.bytes)) {
          return yield* new ArchiveFault({
            kind: "failed",
            message:
              `the archive of this database is in ${url}, and ${newest.path} is not in ${store.url}: ` +
              "move the files there, or set ARCHIVE_URL to the old address"
          })
        }
        yield* sql`UPDATE archive_state SET url = ${store.url} WHERE url = ${url}`
        yield* Effect.logInfo(`the archive has moved from ${url} to ${store.url}`)
      })

      const range = Effect.fn("ArchiveState.range")((table: ArchiveTable) =>
        Effect.map(
          sql<RangeRow>`
            SELECT range_from, range_to, days, ids, changes FROM archive_ranges WHERE table_name = ${table}`,
          ([row]): OpenRange | undefined =>
            row && {
              ...{ table, cell, from: Number(row.range_from), to: Number(row.range_to), days: row.days },
              ids: row.ids,
              changes: row.changes.map(Number)
            }
        )
      )

      /** After a restore of the database the store may have files of a log that is gone. */
      const checkFiles = Effect.gen(function* () {
        const known = yield* sql<{ readonly path: string }>`SELECT path FROM archive_files`
        const planned = yield* sql<
          Pick<RangeRow, "days" | "range_from" | "range_to"> & { readonly directory: ArchiveTable }
        >`
          SELECT replace(table_name, 'compaction/', '') AS directory, range_from, range_to, days FROM archive_ranges`
        const expected = new Set([
          ...known.map(({ path }) => path),
          ...planned.flatMap(({ days, directory: table, range_from, range_to }) =>
            pathsOf({ table, cell, from: Number(range_from), to: Number(range_to), days })
          )
        ])
        const foreign = unknownFiles(yield* store.list(""), cell, expected)
        if (foreign.length === 0) return
        return yield* new ArchiveFault({
          kind: "failed",
          message:
            `${store.url} has ${foreign.length} files of ${cell} that this database does not know, such as ` +
            `${foreign[0]}: they are of a log before a restore, or of another database; move them away`
        })
      })

      let isChecked = false
      const open = Effect.gen(function* () {
        const found = (yield* read) ?? (yield* Effect.andThen(create, read))
        if (found === undefined) return yield* new ArchiveFault({ kind: "failed", message: "the archive has no state" })
        if (found.cell !== cell) {
          return yield* new ArchiveFault({
            kind: "failed",
            message: `ARCHIVE_CELL is ${cell}, and the archive of this database has files of ${found.cell}`
          })
        }
        yield* checkUrl(found.url)
        if (!isChecked) yield* checkFiles
        isChecked = true
        if (!found.is_ready) yield* makeReady
        return { seq: Number(found.seq) }
      }).pipe(Effect.withSpan("ArchiveState.open"))

      const planEvents = Effect.fn("ArchiveState.planEvents")((after: number, { days, from, to }: ArchiveRange) =>
        Effect.map(
          sql`
            INSERT INTO archive_ranges (table_name, range_from, range_to, days)
            SELECT 'events', ${BigInt(from)}, ${BigInt(to)}, ${days}::text[]
            FROM archive_state WHERE seq = ${BigInt(after)}
            ON CONFLICT DO NOTHING RETURNING table_name`,
          (rows) => rows.length > 0
        )
      )

      const planChanges = Effect.fn("ArchiveState.planChanges")((table: ChangeTable, { changes, days, ids }: Changed) =>
        Effect.map(
          sql<{ readonly number: bigint }>`
            WITH next AS (
              UPDATE archive_state SET number = number + 1
              WHERE NOT EXISTS (SELECT FROM archive_ranges WHERE table_name = ${table}) RETURNING number
            )
            INSERT INTO archive_ranges (table_name, range_from, range_to, days, ids, changes)
            SELECT ${table}, number, number, ${days}::text[], ${ids}::text[], ${changes.map(BigInt)}::bigint[] FROM next
            ON CONFLICT DO NOTHING RETURNING range_from AS number`,
          ([row]): OpenRange | undefined =>
            row && { table, cell, from: Number(row.number), to: Number(row.number), days, ids, changes }
        )
      )

      const skip = Effect.fn("ArchiveState.skip")((from: number, to: number) =>
        Effect.asVoid(sql`UPDATE archive_state SET seq = ${BigInt(to)} WHERE seq = ${BigInt(from)}`)
      )

      const complete = Effect.fn("ArchiveState.complete")(function* <E>(
        { from, table, to }: ArchiveRange,
        files: ReadonlyArray<WrittenFile>,
        also: Effect.Effect<unknown, E>
      ) {
        const removed = yield* sql`
          DELETE FROM archive_ranges
          WHERE table_name = ${table} AND range_from = ${BigInt(from)} AND range_to = ${BigInt(to)}
          RETURNING table_name`
        if (removed.length === 0) return false
        for (const { bytes, day, path, rows } of files) {
          yield* sql`
            INSERT INTO archive_files (path, table_name, day, range_from, range_to, rows, bytes, written_at)
            VALUES (${path}, ${table}, ${day}, ${BigInt(from)}, ${BigInt(to)}, ${BigInt(rows)}, ${BigInt(bytes)},
                    now())`
        }
        yield* also
        return true
      })
      return ArchiveState.of({
        open,
        range,
        planEvents,
        planChanges,
        skip,
        complete
      })
    })
  )
}

interface StateRow {
  readonly cell: string
  readonly url: string
  readonly seq: bigint
  readonly is_ready: boolean
}

interface RangeRow {
  readonly range_from: bigint
  readonly range_to: bigint
  readonly days: ReadonlyArray<string>
  readonly ids: ReadonlyArray<string>
  readonly changes: ReadonlyArray<bigint>
}
