import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeletionHook } from "../../event-log/runs/DeletionHooks.ts"

/**
 * Deletes the noted changes of deleted runs and of their marks: no file gets these rows. The rows of a run that a
 * caller deletes go from the files as well; those of an expired run stay there, and are still to lose erased texts.
 */
export const makeChangeDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    Effect.fnUntraced(function* (runIds, reason) {
      const theirs = sql`run_id = ANY(${runIds}::text[]::uuid[])`
      yield* sql`DELETE FROM archive_changes WHERE ${theirs}`
      if (reason === "expired") return
      yield* sql`DELETE FROM archive_erasures WHERE ${theirs}`
      yield* sql`DELETE FROM archive_erased_events WHERE ${theirs}`
      yield* sql`DELETE FROM archive_erased_runs WHERE ${theirs}`
    })
)
