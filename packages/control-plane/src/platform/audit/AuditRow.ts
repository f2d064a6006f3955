import type * as PgClient from "@effect/sql-pg/PgClient"
import type { AuditEntry } from "@runplane/api"
import { isJsonObject } from "@runplane/domain"
import type * as Schema from "effect/Schema"

/** The columns of an `AuditRow`, of `audit_log`. */
export const auditColumns = (sql: PgClient.PgClient) => sql`
  id::text AS id, actor, actor_name, actor_type, action, resource, resource_id, details::text AS details,
  request_id, client_address, created_at`

export interface AuditRow {
  readonly id: string
  readonly actor: string
  readonly actor_name: string | null
  readonly actor_type: string
  readonly action: string
  readonly resource: string
  readonly resource_id: string | null
  readonly details: string
  readonly request_id: string | null
  readonly client_address: string | null
  readonly created_at: Date
}

export const toAuditEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  actor: row.actor,
  ...(row.actor_name !== null && { actorName: row.actor_name }),
  actorType: row.actor_type,
  action: row.action,
  resource: row.resource,
  ...(row.resource_id !== null && { resourceId: row.resource_id }),
  details: parseDetails(row.details),
  ...(row.request_id !== null && { requestId: row.request_id }),
  ...(row.client_address !== null && { clientAddress: row.client_address }),
  createdAt: row.created_at.toISOString()
})

// The trail writes only objects into the column.
const parseDetails = (text: string): Schema.JsonObject => {
  const details: Schema.Json = JSON.parse(text)
  return isJsonObject(details) ? details : {}
}
