import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeletionHook } from "../../event-log/runs/DeletionHooks.ts"

/** Leaves deleted runs out of open jobs; nothing of their texts is left. */
export const makeErasureDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    (runIds) =>
      Effect.asVoid(sql`
        UPDATE erasure_runs SET left_out = 'the run was deleted', done_at = now()
        WHERE run_id = ANY(${runIds}::text[]::uuid[]) AND done_at IS NULL`)
)
