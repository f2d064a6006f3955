import * as PgClient from "@effect/sql-pg/PgClient"
import type { AlertSeverity } from "@runplane/domain"
import * as Effect from "effect/Effect"

/** A count of all open firings in this time. Milliseconds. */
const COUNT_TTL_MS = 5_000

/** The open firings by severity, for the metrics. */
export const makeOpenAlerts = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly severity: AlertSeverity; readonly open: number }>`
    SELECT severity, count(*)::int AS open FROM alert_firings WHERE resolved_at IS NULL GROUP BY severity`.pipe(
    Effect.cachedWithTTL(COUNT_TTL_MS)
  )
})
