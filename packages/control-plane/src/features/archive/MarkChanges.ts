import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { MarkHook } from "../../marks/MarkHooks.ts"

/** Makes changed marks due for a file, once the database has an archive. */
export const makeMarkChanges = Effect.map(
  PgClient.PgClient,
  (sql): MarkHook =>
    (runId, changes) =>
      Effect.asVoid(sql`
        INSERT INTO archive_changes (table_name, id, run_id, change)
        SELECT 'marks', c.id, ${runId}::uuid, nextval('archive_change')
        FROM unnest(${changes.map(({ id }) => id)}::text[]::uuid[]) WITH ORDINALITY AS c (id, ordinal)
        WHERE EXISTS (SELECT FROM archive_state) ORDER BY c.ordinal
        ON CONFLICT (table_name, id) DO UPDATE SET change = excluded.change`)
)
