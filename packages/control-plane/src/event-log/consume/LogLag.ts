import type * as PgClient from "@effect/sql-pg/PgClient"
import type { Fragment } from "effect/sql/Statement"

/**
 * SQL for the time since the first event behind a position was written, in seconds; NULL when there is none. `upTo`
 * bounds the events, which are all by default.
 */
export const waitedSince = (sql: PgClient.PgClient, position: Fragment, upTo?: Fragment) => sql`
  (SELECT extract(epoch FROM clock_timestamp() - waiting.ts) FROM canonical_events waiting
   WHERE waiting.seq > ${position}${upTo === undefined ? sql`` : sql` AND waiting.seq <= ${upTo}`}
   ORDER BY waiting.seq LIMIT 1)::float8`
