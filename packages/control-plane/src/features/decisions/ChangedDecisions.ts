import * as PgClient from "@effect/sql-pg/PgClient"
import { FACT_TYPES } from "@runplane/domain"
import * as Effect from "effect/Effect"

/** Positions of the log that one step follows. */
const STEP_SEQS = 20_000
/** A row waits so long for each event of its run before it is made again: a long run costs no more than a short one. */
const MS_PER_EVENT = 1
/** Models of one run that a search finds. */
const MAX_MODELS = 100
/** Characters of the name of a model, as in `run_labels`. */
export const MAX_MODEL = 400

/** Whether the log goes on behind a step, and how far the step got. */
export interface Followed {
  readonly upTo: number
  readonly isEnd: boolean
}

/**
 * Follows the log: notes the runs whose decision changes, and the models that they call. The payloads of events stay
 * unread but for the names of models. Undefined after another process has moved the cursor.
 */
export const makeChangedDecisions = Effect.map(PgClient.PgClient, (sql) => {
  /** Locks rows of `runs` against their deletion, so that each row that is written belongs to a run. */
  const noteRuns = (after: number, upTo: number) => sql`
    INSERT INTO run_decision_changes AS known (run_id, seq, due_at)
    SELECT r.id, changed.seq, greatest(now(), d.read_at + d.events * ${MS_PER_EVENT} * interval '1 millisecond')
    FROM (SELECT run_id, max(seq) AS seq FROM canonical_events
          WHERE seq > ${BigInt(after)} AND seq <= ${BigInt(upTo)} AND type = ANY(${FACT_TYPES}::text[])
          GROUP BY run_id) AS changed
    JOIN runs r ON r.id = changed.run_id LEFT JOIN run_decisions d ON d.run_id = r.id
    WHERE d.seq IS NULL OR d.seq < changed.seq
    ORDER BY r.id FOR KEY SHARE OF r
    ON CONFLICT (run_id) DO UPDATE SET seq = greatest(known.seq, excluded.seq)`

  const noteModels = (after: number, upTo: number) => sql`
    INSERT INTO run_models (run_id, model)
    SELECT r.id, called.model
    FROM (SELECT run_id, model, row_number() OVER (PARTITION BY run_id ORDER BY first) AS position
          FROM (SELECT run_id, left(event #>> '{data,decodedPayload,model}', ${MAX_MODEL}) AS model, min(seq) AS first
                FROM canonical_events e
                WHERE seq > ${BigInt(after)} AND seq <= ${BigInt(upTo)} AND type = 'llm.call.completed'
                GROUP BY 1, 2) AS calls
          WHERE model <> '' AND NOT EXISTS (SELECT FROM run_models m
                                            WHERE m.run_id = calls.run_id AND m.model = calls.model)) AS called
    JOIN runs r ON r.id = called.run_id
    WHERE called.position + (SELECT count(*) FROM run_models m WHERE m.run_id = r.id) <= ${MAX_MODELS}
    ORDER BY r.id FOR KEY SHARE OF r
    ON CONFLICT DO NOTHING`

  return Effect.gen(function* () {
    // A statement of its own: the next ones see every commit below the watermark.
    const [position] = yield* sql<{ readonly seq: bigint; readonly mark: bigint }>`
      SELECT seq, event_watermark() AS mark FROM run_decision_cursor`
    const after = Number(position?.seq ?? 0)
    const mark = Math.max(Number(position?.mark ?? 0), after)
    const upTo = Math.min(mark, after + STEP_SEQS)
    const isEnd = upTo === mark
    if (upTo === after) return { upTo, isEnd } satisfies Followed
    yield* noteRuns(after, upTo)
    yield* noteModels(after, upTo)
    const moved = yield* sql`
      UPDATE run_decision_cursor SET seq = ${BigInt(upTo)} WHERE seq = ${BigInt(after)} RETURNING seq`
    return moved.length === 0 ? undefined : ({ upTo, isEnd } satisfies Followed)
  }).pipe(sql.withTransaction)
})

/** How long the run that has waited longest for its row is due. Seconds; 0 when no run is due. */
export const decisionLag = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [oldest] = yield* sql<{ readonly seconds: number | null }>`
    SELECT extract(epoch FROM now() - min(due_at))::float8 AS seconds FROM run_decision_changes WHERE due_at <= now()`
  return oldest?.seconds ?? 0
})
