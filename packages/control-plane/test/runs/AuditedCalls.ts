import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { call } from "../support/HttpService.ts"

/** Requests that the audit log can list: they carry the request id `req-9`. */
export const post = (path: string, body?: unknown) => call("POST", path, { body, headers: { "x-request-id": "req-9" } })
export const remove = (runId: string) => call("DELETE", `/runs/${runId}`, { headers: { "x-request-id": "req-9" } })

/** What the audit log holds about a resource, the oldest entry first. */
export const auditOf = Effect.fnUntraced(function* (resourceId: string) {
  const sql = yield* PgClient.PgClient
  return yield* sql<{ readonly action: string; readonly resource: string; readonly request_id: string | null }>`
    SELECT action, resource, request_id FROM audit_log WHERE resource_id = ${resourceId} ORDER BY created_at, ordinal`
})
