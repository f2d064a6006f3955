import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventRepository } from "../EventRepository.ts"
import { beginning, emptyProjected, foldOn, projectAndMeasure } from "../projection/ReplayLog.ts"

/** Folds the state and the counters of a run again, whose events have lost texts under the lock that is held. */
export const makeErasedProjection = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const events = yield* EventRepository

  const fold = Effect.fnUntraced(function* (runId: RunId) {
    const { folded, lastSeq } = yield* foldOn(events, runId, beginning(emptyProjected(runId)), projectAndMeasure)
    const { metrics, state } = folded
    yield* sql`
      INSERT INTO projections (run_id, last_seq, state, updated_at)
      VALUES (${runId}::uuid, ${BigInt(lastSeq)}, ${JSON.stringify(state)}::text::json, now())
      ON CONFLICT (run_id) DO UPDATE
      SET last_seq = excluded.last_seq, state = excluded.state, updated_at = excluded.updated_at`
    yield* sql`
      UPDATE run_metrics SET metrics = ${JSON.stringify(metrics)}::text::json, intent = ${state.run.intent ?? null}
      WHERE run_id = ${runId}::uuid`
  })
  return { fold } as const
})
