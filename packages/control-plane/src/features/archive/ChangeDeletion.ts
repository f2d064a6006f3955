import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeletionHook } from "../../event-log/runs/DeletionHooks.ts"

/** Deletes the noted changes of deleted runs and of their marks: no file gets these rows. */
export const makeChangeDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    (runIds) =>
      Effect.asVoid(sql`DELETE FROM archive_changes WHERE run_id = ANY(${runIds}::text[]::uuid[])`)
)
