import * as PgClient from "@effect/sql-pg/PgClient"
import type { ColdEvent, ColdRun, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"

/** The columns of the row of a run that an erasure changes. */
export type ErasedRunColumns = Pick<ColdRun, "erasures" | "error_message" | "intent" | "run" | "tags">

/**
 * What files are to have in the position of erased texts, until compaction has written them: readers of files get it
 * at once (docs/reference/erasure.md#archive).
 */
export const makeErasedTexts = Effect.map(PgClient.PgClient, (sql) => {
  const ofEvents = Effect.fnUntraced(function* <Event extends Pick<ColdEvent, "event" | "salts" | "seq">>(
    runId: RunId,
    events: ReadonlyArray<Event>
  ) {
    const [first, last] = [events[0], events.at(-1)]
    if (first === undefined || last === undefined) return events
    const rows = yield* sql<{ readonly seq: bigint; readonly event: string; readonly salts: string }>`
      SELECT seq, event::text AS event, salts::text AS salts FROM archive_erased_events
      WHERE run_id = ${runId}::uuid AND seq >= ${BigInt(first.seq)} AND seq <= ${BigInt(last.seq)}`
    if (rows.length === 0) return events
    const erased = new Map(rows.map(({ event, salts, seq }) => [Number(seq), { event, salts }]))
    return events.map((event) => ({ ...event, ...erased.get(event.seq) }))
  })

  const ofRun = Effect.fnUntraced(function* (runId: RunId, row: ColdRun) {
    const [erased] = yield* sql<ErasedRunColumns>`
      SELECT run, tags, error_message, intent, erasures FROM archive_erased_runs
      WHERE run_id = ${runId}::uuid AND version = ${BigInt(row.version)}`
    return erased === undefined ? row : { ...row, ...erased }
  })
  return { ofEvents, ofRun } as const
})
