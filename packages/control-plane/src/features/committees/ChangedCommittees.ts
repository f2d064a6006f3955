import * as PgClient from "@effect/sql-pg/PgClient"
import { CORRECT, FACT_TYPES, SHADOW_ACTS } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { type ErasureHook, NOTHING_FOUND } from "../../event-log/erasure/ErasureHooks.ts"
import type { DeletionHook } from "../../event-log/runs/DeletionHooks.ts"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import type { MarkHook } from "../../marks/MarkHooks.ts"

/** Positions of the log that one step follows. */
const STEP_SEQS = 20_000

/** How far a step got; undefined after another process has moved the cursor. */
export interface Followed {
  readonly isEnd: boolean
}

/**
 * Follows the log: notes the ended runs whose voters may have changed. The acts and model calls of a shadow come
 * after the end of its run. The payloads of events stay unread.
 */
export const makeChangedCommittees = Effect.map(PgClient.PgClient, (sql) => {
  /** Locks rows of `runs` against their deletion, so that each row that is written belongs to a run. */
  const noteRuns = (after: number, upTo: number) => sql`
    INSERT INTO run_voter_changes (run_id)
    SELECT r.id FROM runs r
    WHERE ${hasStatus(sql, "ended", "r")}
      AND r.id IN (SELECT e.run_id FROM canonical_events e
                   WHERE e.seq > ${BigInt(after)} AND e.seq <= ${BigInt(upTo)}
                     AND (e.type = ANY(${FACT_TYPES}::text[])
                          OR e.type IN ('artifact.created', 'llm.call.completed') AND EXISTS (
                               SELECT FROM artifacts a WHERE a.run_id = e.run_id AND a.kind = ${SHADOW_ACTS})))
    ORDER BY r.id FOR KEY SHARE OF r
    ON CONFLICT (run_id) DO UPDATE SET version = DEFAULT, due_at = now()`

  return Effect.gen(function* () {
    // A statement of its own: the next ones see every commit below the watermark.
    const [position] = yield* sql<{ readonly seq: bigint; readonly mark: bigint }>`
      SELECT seq, event_watermark() AS mark FROM run_voter_cursor`
    const after = Number(position?.seq ?? 0)
    const mark = Math.max(Number(position?.mark ?? 0), after)
    const upTo = Math.min(mark, after + STEP_SEQS)
    if (upTo === after) return { isEnd: true } satisfies Followed
    yield* noteRuns(after, upTo)
    const moved = yield* sql`
      UPDATE run_voter_cursor SET seq = ${BigInt(upTo)} WHERE seq = ${BigInt(after)} RETURNING seq`
    return moved.length === 0 ? undefined : ({ isEnd: upTo === mark } satisfies Followed)
  }).pipe(sql.withTransaction)
})

/** Has the voters of a run read again, if it has ended; a run that goes on is read at its end. */
const noteRun = (sql: PgClient.PgClient, runId: string) => sql`
  INSERT INTO run_voter_changes (run_id)
  SELECT r.id FROM runs r WHERE r.id = ${runId}::uuid AND ${hasStatus(sql, "ended", "r")} FOR KEY SHARE OF r
  ON CONFLICT (run_id) DO UPDATE SET version = DEFAULT, due_at = now()`

/** A changed mark `correct` may make another truth of a decision. */
export const makeCommitteeMarks = Effect.map(
  PgClient.PgClient,
  (sql): MarkHook =>
    (runId, changes) =>
      changes.some(({ current, name }) => name === CORRECT && current !== 0)
        ? Effect.asVoid(noteRun(sql, runId))
        : Effect.void
)

/** The case of a run, and a truth that names an option, may be others without the erased texts. */
export const makeCommitteeErasure = Effect.map(
  PgClient.PgClient,
  (sql): ErasureHook =>
    ({ isDryRun, runId }) =>
      isDryRun ? Effect.succeed(NOTHING_FOUND) : Effect.as(noteRun(sql, runId), NOTHING_FOUND)
)

/** Deletes the voters of deleted runs. */
export const makeCommitteeDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    Effect.fnUntraced(function* (runIds) {
      const theirs = sql`run_id = ANY(${runIds}::text[]::uuid[])`
      yield* sql`DELETE FROM run_voter_changes WHERE ${theirs}`
      yield* sql`DELETE FROM run_voters WHERE ${theirs}`
    })
)
