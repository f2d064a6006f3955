import * as PgClient from "@effect/sql-pg/PgClient"
import type { AuditEntry } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type AuditRow, auditColumns, toAuditEntry } from "../../platform/audit/AuditRow.ts"
import { readBounded } from "../../platform/postgres/BoundedRows.ts"

/** Entries of one read; fewer when they are large. */
const PER_READ = 200

/** The action of the entry that each bundle of a run makes. */
export const EVIDENCE_ACTION = "run.evidence"

interface Position {
  readonly at: Date
  readonly ordinal: bigint
}

interface Row extends AuditRow {
  readonly ordinal: bigint
}

/** The audit entries that evidence has, the oldest first. */
export const makeRunAudit = Effect.map(PgClient.PgClient, (sql) => {
  const pages = (
    where: Fragment,
    read: <A>(page: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
  ): Stream.Stream<ReadonlyArray<AuditEntry>, SqlError> =>
    Stream.paginate<Position | undefined, ReadonlyArray<AuditEntry>, SqlError>(undefined, (after) => {
      const behind = after === undefined ? sql`true` : sql`(created_at, ordinal) > (${after.at}, ${after.ordinal})`
      const page = readBounded<Row>(sql, {
        keys: sql`ARRAY(
          SELECT id FROM audit_log WHERE ${where} AND ${behind} ORDER BY created_at, ordinal LIMIT ${BigInt(PER_READ)})`,
        from: sql`audit_log`,
        isOf: (id) => sql`id = ${id}`,
        columns: sql`${auditColumns(sql)}, ordinal`,
        large: ["details", "resource_id"]
      })
      return Effect.map(read(page), ({ isCut, rows, taken }) => {
        const last = rows.at(-1)
        const isEnd = last === undefined || (!isCut && taken < PER_READ)
        return [
          [rows.map(toAuditEntry)],
          isEnd ? Option.none() : Option.some({ at: last.created_at, ordinal: last.ordinal })
        ] as const
      })
    })

  /**
   * Of a run and of its marks. Without the entries of earlier bundles: otherwise each bundle would change the next one.
   */
  const ofRun = (runId: RunId) => sql`
    (resource_id = ${runId} OR (resource = 'mark' AND resource_id IN (
       SELECT id::text FROM marks WHERE run_id = ${runId}::uuid))) AND action <> ${EVIDENCE_ACTION}`

  const ofPolicy = (policyId: string) => sql`resource = 'policy' AND resource_id = ${policyId}`

  return { pages, ofRun, ofPolicy }
})
