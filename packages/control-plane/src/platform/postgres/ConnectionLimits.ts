import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"

interface Limit {
  readonly what: string
  readonly connections: number
}

/**
 * Warns when the role, the database or the server takes fewer connections than the pool may open: the pool then waits
 * where it could serve.
 */
export const warnOfLimits = Effect.fnUntraced(function* (poolSize: number) {
  const sql = yield* PgClient.PgClient
  const [lowest] = yield* sql<Limit>`
    SELECT what, connections FROM (
      SELECT format('the role %I', rolname) AS what, rolconnlimit AS connections FROM pg_roles
       WHERE rolname = session_user AND rolconnlimit >= 0 AND NOT rolsuper
      UNION ALL
      SELECT format('the database %I', datname), datconnlimit FROM pg_database
       WHERE datname = current_database() AND datconnlimit >= 0
         AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
      UNION ALL
      SELECT 'the server', current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0)
    ) AS limits ORDER BY connections LIMIT 1`
  if (lowest === undefined || lowest.connections >= poolSize) return
  yield* Effect.logWarning(
    `the pool may have ${poolSize} connections, but ${lowest.what} takes ${lowest.connections} from all programs: ` +
      "lower DB_POOL_MAX or raise that limit"
  )
})
