import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeletionHook } from "../../event-log/runs/DeletionHooks.ts"

/** Deletes the decisions and the models of deleted runs. */
export const makeDecisionDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    Effect.fnUntraced(function* (runIds) {
      const theirs = sql`run_id = ANY(${runIds}::text[]::uuid[])`
      yield* sql`DELETE FROM run_decision_changes WHERE ${theirs}`
      yield* sql`DELETE FROM run_decisions WHERE ${theirs}`
      yield* sql`DELETE FROM run_models WHERE ${theirs}`
    })
)
