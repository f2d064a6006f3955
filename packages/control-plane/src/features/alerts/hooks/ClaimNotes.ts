import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { ClaimHook } from "../../../runs/ClaimHooks.ts"

/**
 * Notes a claimed run with the position of the evaluator: the evaluator counts its events up to there again
 * (docs/reference/alerts.md#claimed-runs). A new version of the rules makes a step that has read the run before the
 * claim read it again.
 */
export const makeClaimNotes = Effect.map(
  PgClient.PgClient,
  (sql): ClaimHook =>
    (runId) =>
      Effect.asVoid(sql`
        WITH moved AS (
          UPDATE alert_cursor SET rules_version = rules_version + 1
          WHERE EXISTS (SELECT FROM alert_rules WHERE enabled) RETURNING seq
        )
        INSERT INTO alert_claimed_runs (run_id, up_to) SELECT ${runId}::uuid, seq FROM moved
        ON CONFLICT (run_id) DO NOTHING`)
)
