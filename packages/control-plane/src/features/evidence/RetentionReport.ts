import * as PgClient from "@effect/sql-pg/PgClient"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Effect from "effect/Effect"

const settings = {
  enabled: ControlPlaneSettings.DATA_RETENTION_ENABLED,
  days: ControlPlaneSettings.DATA_RETENTION_TTL_DAYS,
  everyHours: ControlPlaneSettings.DATA_RETENTION_INTERVAL_HOURS,
  needsArchive: ControlPlaneSettings.RETENTION_REQUIRES_ARCHIVE
}

interface Row {
  readonly oldest: Date | null
}

interface Deletions {
  readonly reason: string
  readonly runs: number
  readonly first: Date
  readonly last: Date
}

/** How long the service keeps runs, the oldest one that the database has, and what was deleted. */
export const makeRetentionReport = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { days, enabled, everyHours, needsArchive } = yield* readSettings(settings)
  return Effect.gen(function* () {
    const [row] = yield* sql<Row>`SELECT min(created_at) AS oldest FROM runs`
    const deletions = yield* sql<Deletions>`
      SELECT reason, count(*)::int AS runs, min(deleted_at) AS first, max(deleted_at) AS last
      FROM run_tombstones GROUP BY reason ORDER BY reason`
    return {
      policy: {
        deletesByAge: enabled,
        ...(enabled && { days, everyHours, needsArchive })
      },
      oldestRunCreatedAt: row?.oldest?.toISOString() ?? null,
      deletions: deletions.map(({ first, last, reason, runs }) => ({
        ...{ reason, runs, firstAt: first.toISOString(), lastAt: last.toISOString() }
      }))
    }
  })
})
export type RetentionReport = Effect.Success<Effect.Success<typeof makeRetentionReport>>
