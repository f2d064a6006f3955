import * as PgClient from "@effect/sql-pg/PgClient"
import { type DeletedRun, dayOf } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { ErasedRunColumns } from "./read/ErasedTexts.ts"

/** A run whose files still have erased texts, and whose changed rows are in files. */
export interface ErasedRun extends DeletedRun {
  readonly erasureId: bigint
  readonly runId: string
}

interface ErasedRunRow {
  readonly id: bigint
  readonly run_id: string
  readonly first_seq: bigint
  readonly last_seq: bigint
  readonly run_created_at: Date
}

/** An event as a file is to have it. */
interface ErasedEvent {
  readonly event: string
  readonly salts: string
}

/** A version of the row of a run, as a file is to have it. */
export interface ErasedVersion {
  readonly version: number
  readonly columns: ErasedRunColumns
}

/** The erasures that compaction completes in the files. */
export const makeErasedRows = Effect.map(PgClient.PgClient, (sql) => {
  /** A run with a change that is not in files yet waits: its former row would be the only one. */
  const pending = Effect.map(
    sql<ErasedRunRow>`
      SELECT id, run_id::text AS run_id, first_seq, last_seq, run_created_at FROM archive_erasures e
      WHERE rewritten_at IS NULL AND NOT EXISTS (SELECT FROM archive_changes c WHERE c.run_id = e.run_id)
      ORDER BY id`,
    (rows) =>
      rows.map(
        (row): ErasedRun => ({
          erasureId: row.id,
          runId: row.run_id,
          firstSeq: Number(row.first_seq),
          lastSeq: Number(row.last_seq),
          createdDay: dayOf(row.run_created_at.getTime())
        })
      )
  )

  /** The erased events of a range of positions, by their seqs. */
  const events = (from: number, to: number) =>
    Effect.map(
      sql<{ readonly seq: bigint } & ErasedEvent>`
        SELECT seq, event::text AS event, salts::text AS salts FROM archive_erased_events
        WHERE seq >= ${BigInt(from)} AND seq <= ${BigInt(to)}`,
      (rows) => new Map(rows.map(({ event, salts, seq }): [number, ErasedEvent] => [Number(seq), { event, salts }]))
    )

  /** The rows of runs that only files have, by their ids. */
  const runs = Effect.map(
    sql<{ readonly run_id: string; readonly version: bigint } & ErasedRunColumns>`
      SELECT run_id::text AS run_id, version, run, tags, error_message, intent, erasures FROM archive_erased_runs`,
    (rows) =>
      new Map(
        rows.map(({ run_id, version, ...columns }): [string, ErasedVersion] => [
          run_id,
          { version: Number(version), columns }
        ])
      )
  )

  /** Ends the erasures of which no file can have a text any more; their events need no copy then. */
  const complete = Effect.fnUntraced(function* (runs: ReadonlyArray<ErasedRun>, before: string) {
    if (runs.length === 0) return
    yield* sql`
      UPDATE archive_erasures e SET rewritten_at = now()
      WHERE id = ANY(${runs.map(({ erasureId }) => erasureId)}::bigint[])
        AND to_char(run_created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') < ${before}
        AND last_seq <= (SELECT seq FROM archive_state)
        AND NOT EXISTS (
          SELECT FROM archive_files f WHERE f.table_name = 'events' AND f.day >= ${before}
            AND f.range_to >= e.first_seq AND f.range_from <= e.last_seq)
        AND NOT EXISTS (
          SELECT FROM archive_ranges r WHERE r.range_to >= e.first_seq AND r.range_from <= e.last_seq)`
    yield* sql`
      DELETE FROM archive_erased_events d
      WHERE NOT EXISTS (SELECT FROM archive_erasures e WHERE e.run_id = d.run_id AND e.rewritten_at IS NULL)`
    yield* sql`
      DELETE FROM archive_erased_runs d
      WHERE NOT EXISTS (SELECT FROM archive_erasures e WHERE e.run_id = d.run_id AND e.rewritten_at IS NULL)`
  })
  return { pending, events, runs, complete } as const
})
