import * as PgClient from "@effect/sql-pg/PgClient"
import { type AuditQuery, auditQueryFields, parseIsoDate } from "@runplane/api"
import { parseQuery, type Query } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { TextPage } from "../http/JsonAnswer.ts"
import { nextCursorOf, pageText, readPage, rowsOfIds, startOfPage } from "../http/ListPage.ts"
import { isPositionValue, type Position, type UnknownCursor } from "../postgres/search/PageCursor.ts"
import { type ColumnType, conditionOf, type QueryMeaning } from "../postgres/search/QueryConditions.ts"
import { SearchBudget, type SearchFailure } from "../postgres/search/SearchBudget.ts"
import { type AuditRow, auditColumns, toAuditEntry } from "./AuditRow.ts"

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
const auditMeaning = (sql: PgClient.PgClient): QueryMeaning => ({
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

const ORDER = "audit createdAt desc"

/** The names that existing readers use for two of our actions. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["run.archived", "run.archive"],
  ["run.deleted", "run.delete"]
])

/** Reads the audit log (docs/reference/admin.md#audit): what `AuditTrail` wrote, the newest entry first. */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** An `AuditPage` as text, which is read as it is taken. */
    readonly list: (query: AuditQuery) => Effect.Effect<TextPage<SqlError>, SqlError | SearchFailure | UnknownCursor>
  }
>()("runplane/control-plane/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const meaning = auditMeaning(sql)

      const matches = (query: AuditQuery, search: Query | undefined) => {
        const action = query.action === undefined ? undefined : (aliases.get(query.action) ?? query.action)
        return sql.and([
          ...(query.actor === undefined ? [] : [sql`actor = ${query.actor}`]),
          ...(action === undefined ? [] : [sql`action = ${action}`]),
          ...(query.resource === undefined ? [] : [sql`resource = ${query.resource}`]),
          ...(query.resourceId === undefined ? [] : [sql`resource_id = ${query.resourceId}`]),
          ...(query.createdAfter === undefined ? [] : [sql`created_at > ${query.createdAfter}::timestamptz`]),
          ...(query.createdBefore === undefined ? [] : [sql`created_at < ${query.createdBefore}::timestamptz`]),
          ...(search === undefined ? [] : [conditionOf(sql, search, meaning)])
        ])
      }

      const entries = rowsOfIds<AuditRow>(sql, {
        from: sql`audit_log`,
        columns: auditColumns(sql),
        large: ["details", "resource_id"]
      })

      const list = Effect.fn("AuditLog.list")(function* (query: AuditQuery) {
        const from = yield* startOfPage(ORDER, query.cursor, isPosition)
        // The request was validated, so the query parses.
        const search =
          query.q === undefined
            ? undefined
            : yield* Effect.orDie(Effect.fromResult(parseQuery(query.q, auditQueryFields)))
        const read = readPage<AuditPosition>(
          sql,
          {
            columns: sql`
              id::text AS id, ordinal::text AS ordinal,
              to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS sort_value`,
            from: sql`audit_log`,
            where: matches(query, search),
            behind: from && sql`(created_at, ordinal) < (${from.value}::timestamptz, ${BigInt(from.id)})`,
            order: sql`created_at DESC, ordinal DESC`,
            limit: query.limit,
            offset: query.offset
          },
          search === undefined ? 2 : 1
        )
        const page = yield* search === undefined ? read : budget.inTurn(budget.limited(read))
        const next = nextCursorOf(ORDER, page.rows, query.limit, (row) => ({ value: row.sort_value, id: row.ordinal }))
        return yield* pageText(page, query, entries, (row) => JSON.stringify(toAuditEntry(row)), next)
      })
      return AuditLog.of({ list })
    })
  )
}

interface AuditPosition {
  readonly id: string
  readonly ordinal: string
  readonly sort_value: string
}

const isPosition = ({ id, value }: Position): boolean =>
  isPositionValue.time(value) && parseIsoDate(value) !== undefined && isPositionValue.bigint(id)
