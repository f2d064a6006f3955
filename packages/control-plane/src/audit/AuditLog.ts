import * as PgClient from "@effect/sql-pg/PgClient"
import type { AuditEntry, AuditPage, AuditQuery } from "@runplane/api"
import { isJsonObject } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"

/** The names under which existing readers ask for two of our actions. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["run.archived", "run.archive"],
  ["run.deleted", "run.delete"]
])

/** Reads the audit log (docs/http.md#audit): what `AuditTrail` wrote, the newest entry first. */
export class AuditLog extends Context.Service<
  AuditLog,
  { readonly list: (query: AuditQuery) => Effect.Effect<AuditPage, SqlError> }
>()("runplane/control-plane/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const matches = (query: AuditQuery) => {
        const action = query.action === undefined ? undefined : (aliases.get(query.action) ?? query.action)
        return sql.and([
          ...(query.actor === undefined ? [] : [sql`actor = ${query.actor}`]),
          ...(action === undefined ? [] : [sql`action = ${action}`]),
          ...(query.resource === undefined ? [] : [sql`resource = ${query.resource}`]),
          ...(query.resourceId === undefined ? [] : [sql`resource_id = ${query.resourceId}`]),
          ...(query.createdAfter === undefined ? [] : [sql`created_at > ${query.createdAfter}::timestamptz`]),
          ...(query.createdBefore === undefined ? [] : [sql`created_at < ${query.createdBefore}::timestamptz`])
        ])
      }

      const list = Effect.fn("AuditLog.list")(function* (query: AuditQuery) {
        const where = matches(query)
        const [rows, counts] = yield* Effect.all(
          [
            sql<AuditRow>`
              SELECT id::text AS id, actor, actor_type, action, resource, resource_id, details::text AS details, request_id,
                     created_at
              FROM audit_log WHERE ${where} ORDER BY created_at DESC, ordinal DESC
              LIMIT ${BigInt(query.limit)} OFFSET ${BigInt(query.offset)}`,
            sql<{ readonly total: number }>`SELECT count(*)::int AS total FROM audit_log WHERE ${where}`
          ],
          { concurrency: 2 }
        )
        return { data: rows.map(toEntry), total: counts[0]?.total ?? 0, limit: query.limit, offset: query.offset }
      })
      return AuditLog.of({ list })
    })
  )
}

interface AuditRow {
  readonly id: string
  readonly actor: string
  readonly actor_type: string
  readonly action: string
  readonly resource: string
  readonly resource_id: string | null
  readonly details: string
  readonly request_id: string | null
  readonly created_at: Date
}

const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  actor: row.actor,
  actorType: row.actor_type,
  action: row.action,
  resource: row.resource,
  ...(row.resource_id !== null && { resourceId: row.resource_id }),
  details: parseDetails(row.details),
  ...(row.request_id !== null && { requestId: row.request_id }),
  createdAt: row.created_at.toISOString()
})

// The trail writes the column from an object: nothing else has to be looked at.
const parseDetails = (text: string): Schema.JsonObject => {
  const details: Schema.Json = JSON.parse(text)
  return isJsonObject(details) ? details : {}
}
