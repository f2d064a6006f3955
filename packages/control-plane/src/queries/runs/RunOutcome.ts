import type * as PgClient from "@effect/sql-pg/PgClient"
import type { Fragment } from "effect/sql/Statement"

/** The outcome of the last commitment of a run `r`: positive, negative, or NULL. */
export const committedOutcome = (sql: PgClient.PgClient): Fragment => sql`(
  SELECT CASE WHEN k.positive THEN 'positive' WHEN NOT k.positive THEN 'negative' END FROM key_events k
  WHERE k.run_id = r.id AND k.type = 'decision.finalized' ORDER BY k.seq DESC LIMIT 1)`
