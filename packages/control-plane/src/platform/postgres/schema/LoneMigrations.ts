import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { PRESENCE_LOCKS } from "../AdvisoryLocks.ts"

/**
 * Migrations on whose schema the processes of the release before do wrong, by number, with what that is. Such a
 * migration waits until these have ended. Within a major release no migration is one: it adds, and processes of the two
 * releases share the database (docs/guides/upgrade.md).
 */
export const LONE_MIGRATIONS: ReadonlyMap<number, string> = new Map([
  [16, "their changes of marks, claims and deletions would reach neither the alerts nor the archive"],
  [18, "their deletions of runs would fail"],
  [20, "the decisions that they store would have no case"],
  [21, "their appends to runs of version 2 of the chain would break it"]
])

/** How many control planes work on the database: each holds a lock for as long as it lives. */
export const liveProcesses = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [found] = yield* sql<{ readonly processes: number }>`
    SELECT count(*)::int4 AS processes FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = ${PRESENCE_LOCKS}::int8::oid
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  return found?.processes ?? 0
})
