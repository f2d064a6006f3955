import * as PgClient from "@effect/sql-pg/PgClient"
import { type ArchiveFault, ArchiveStore, type EncodedFile, makeEventEncoder, type SizedEvent } from "@runplane/archive"
import { type ArchiveRange, dayOf, isDue, type Reading, readingOf, type Taken, takerOf } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { SqlError } from "effect/sql/SqlError"
import { waitedSince } from "../../event-log/consume/LogLag.ts"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { type SaltsRow, saltsColumn } from "../../event-log/StoredSalts.ts"
import { ArchiveLock } from "./ArchiveLock.ts"
import { ArchiveOptions } from "./ArchiveOptions.ts"
import { ArchiveState } from "./ArchiveState.ts"
import { putFiles } from "./RangeFiles.ts"

/** Most rows and bytes of a page of events. */
const PAGE_ROWS = 5_000
const PAGE_BYTES = 4 * 1024 * 1024

/** What a step of the archive did. */
export interface ArchiveStep {
  /** Whether it wrote files: another step may follow at once. */
  readonly wrote: boolean
  readonly rows: number
  readonly bytes: number
  readonly files: number
}

export const NO_STEP: ArchiveStep = { wrote: false, rows: 0, bytes: 0, files: 0 }

/** A range of events as it is encoded. */
interface Encoded {
  readonly files: ReadonlyArray<EncodedFile>
  readonly days: ReadonlyArray<string>
  readonly to: number
  readonly taken: Taken
  readonly runs: ReadonlySet<string>
}

/**
 * Writes the next files of events: from the committed position up to the watermark, or up to the bounds of a file. An
 * open range, which another process or an earlier attempt has left, is written again under its names.
 */
export const makeEventFiles = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const state = yield* ArchiveState
  const store = yield* ArchiveStore
  const lock = yield* ArchiveLock
  const encoder = yield* makeEventEncoder
  const { bounds, cell, intervalMs } = yield* ArchiveOptions

  /** A page of events, bounded in bytes: values are unpacked only up to the bound. */
  const page = (after: number, to: number, rows: number) => sql<EventRow>`
    SELECT seq, run_id, index, ts, type, event, salts, bytes FROM (
      SELECT *, octet_length(event) AS bytes, sum(octet_length(event)) OVER (ORDER BY seq) AS total FROM (
        SELECT seq, run_id::text AS run_id, index, ts, type, event::text AS event, ${saltsColumn(sql, "stored")}
        FROM (
          SELECT *, sum(pg_column_size(next.event)) OVER (ORDER BY seq) - pg_column_size(next.event) AS stored_before
          FROM (SELECT * FROM canonical_events WHERE seq > ${BigInt(after)} AND seq <= ${BigInt(to)}
                ORDER BY seq LIMIT ${rows}) AS next
        ) AS stored WHERE stored_before < ${PAGE_BYTES}
      ) AS unpacked
    ) AS measured WHERE total - bytes < ${PAGE_BYTES} ORDER BY seq`

  /** The database makes the next page while this process encodes one. */
  const encode = Effect.fn("archive.encodeEvents")(function* (reading: Reading) {
    const files = encoder.open(cell)
    const runs = new Set<string>()
    const days = new Set<string>()
    const taker = takerOf(reading)
    const pageAfter = (after: number, left: number) =>
      Effect.forkChild(page(after, reading.to, Math.min(PAGE_ROWS, left)), { startImmediately: true })
    let next = yield* pageAfter(reading.after, taker.left())
    while (true) {
      const rows = yield* Fiber.join(next)
      const last = rows.at(-1)
      if (last === undefined) break
      const left = taker.left() - rows.length
      if (left > 0) next = yield* pageAfter(Number(last.seq), left)
      const events: Array<SizedEvent> = []
      for (const { bytes, event: text, index, run_id: runId, salts, seq, ts, type } of rows) {
        if (!taker.take(Number(seq), bytes)) break
        events.push({ seq: Number(seq), runId, index, ts: ts.getTime(), type, text, salts, bytes })
        runs.add(runId)
        days.add(dayOf(ts.getTime()))
      }
      yield* files.add(events)
      if (left <= 0 || events.length < rows.length) break
    }
    yield* Fiber.interrupt(next)
    const encoded: Encoded = {
      ...{ days: [...days].toSorted(), files: yield* files.finish, to: taker.end(), taken: taker.taken(), runs }
    }
    return encoded
  })

  /** Runs that had ended: their rows are due, now that their events are in files. */
  const noteEnded = (runs: ReadonlySet<string>) => sql`
    INSERT INTO archive_changes (table_name, id, run_id, change)
    SELECT 'runs', r.id, r.id, nextval('archive_change') FROM runs r
    WHERE r.id = ANY(${[...runs]}::text[]::uuid[]) AND ${hasStatus(sql, "ended", "r")} ORDER BY r.id
    ON CONFLICT (table_name, id) DO UPDATE SET change = excluded.change`

  const write = Effect.fnUntraced(function* (range: ArchiveRange, encoded: Encoded) {
    const written = yield* Effect.provideService(putFiles(range, encoded.files), ArchiveStore, store)
    const moved = Effect.andThen(
      sql`UPDATE archive_state SET seq = ${BigInt(range.to)} WHERE seq < ${BigInt(range.to)}`,
      noteEnded(encoded.runs)
    )
    const isDone = yield* lock.transaction(state.complete(range, written, moved))
    if (!isDone) return NO_STEP
    const bytes = written.reduce((sum, file) => sum + file.bytes, 0)
    return { wrote: true, rows: encoded.taken.rows, bytes, files: written.length }
  })

  /** Whether it is time for a file; a forced one takes whatever there is. */
  const isTime = Effect.fnUntraced(function* (after: number, mark: number, isForced: boolean) {
    if (isForced || mark - after >= bounds.rows) return true
    const [row] = yield* sql<{ readonly waited: number | null }>`
      SELECT ${waitedSince(sql, sql`${BigInt(after)}`, sql`${BigInt(mark)}`)} * 1000 AS waited`
    if (row?.waited === null || row === undefined) {
      yield* state.skip(after, mark)
      return false
    }
    return isDue({ rows: 1, bytes: 0 }, false, row.waited, intervalMs)
  })

  return Effect.fn("archive.writeEvents")(function* (
    after: number,
    isForced: boolean
  ): Effect.fn.Return<ArchiveStep, ArchiveFault | SqlError> {
    const open = yield* state.range("events")
    if (open !== undefined) return yield* write(open, yield* encode(readingOf(open)))
    const [row] = yield* sql<{ readonly mark: bigint }>`SELECT event_watermark() AS mark`
    const mark = Number(row?.mark ?? 0)
    if (mark <= after || !(yield* isTime(after, mark, isForced))) return NO_STEP
    const encoded = yield* encode({ after, to: mark, bounds })
    const range: ArchiveRange = { table: "events", cell, from: after + 1, to: encoded.to, days: encoded.days }
    if (encoded.taken.rows === 0) {
      yield* state.skip(after, mark)
      return NO_STEP
    }
    return (yield* state.planEvents(after, range)) ? yield* write(range, encoded) : NO_STEP
  })
})

interface EventRow extends SaltsRow {
  readonly seq: bigint
  readonly run_id: string
  readonly index: number
  readonly ts: Date
  readonly type: string
  readonly event: string
  readonly bytes: number
}
