import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { DeletionHook } from "../../event-log/runs/DeletionHooks.ts"

/** Deletes the noted changes of deleted runs and of their marks: no file gets these rows. */
export const makeChangeDeletion = Effect.map(
  PgClient.PgClient,
  (sql): DeletionHook =>
    Effect.fnUntraced(function* (runIds) {
      const ids = sql`${runIds}::text[]::uuid[]`
      yield* sql`
        DELETE FROM archive_changes c USING marks m
        WHERE c.table_name = 'marks' AND c.id = m.id AND m.run_id = ANY(${ids})`
      yield* sql`DELETE FROM archive_changes WHERE table_name = 'runs' AND id = ANY(${ids})`
    })
)
