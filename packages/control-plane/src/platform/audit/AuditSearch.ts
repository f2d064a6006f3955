import type * as PgClient from "@effect/sql-pg/PgClient"
import type { ColumnType, QueryMeaning } from "../postgres/search/QueryConditions.ts"

const COLUMNS: Readonly<Record<string, readonly [type: ColumnType, column: string]>> = {
  id: ["uuid", "id"],
  actor: ["text", "actor"],
  actorName: ["text", "actor_name"],
  clientAddress: ["text", "client_address"],
  actorType: ["text", "actor_type"],
  action: ["text", "action"],
  resource: ["text", "resource"],
  resourceId: ["text", "resource_id"],
  requestId: ["text", "request_id"],
  createdAt: ["time", "created_at"],
  outcome: ["text", "(details ->> 'outcome')"]
}

/** What the fields of `auditQueryFields` mean for a row of `audit_log`. */
export const auditMeaning = (sql: PgClient.PgClient): QueryMeaning => ({
  column: (field, path) => {
    if (field === "details") {
      return { type: "text", where: (test) => test(sql`(details #>> ${path.split(".")}::text[])`) }
    }
    const plain = COLUMNS[field]
    if (plain === undefined) throw new Error(`the field ${field} of the audit log has no column`)
    return { type: plain[0], where: (test) => test(sql.literal(plain[1])) }
  },
  // A value a line, so that no match spans two of them.
  search: (text) =>
    sql`strpos(fold_text(concat_ws(E'\n', actor, actor_name, action, resource, resource_id, request_id)), fold_text(${text}::text)) > 0`
})
