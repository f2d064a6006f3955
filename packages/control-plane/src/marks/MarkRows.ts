import type * as PgClient from "@effect/sql-pg/PgClient"
import type { Mark, MarkSource, MarkTargetKind, MarkValue } from "@runplane/domain"
import { rowsOfIds } from "../platform/http/ListPage.ts"

/** The columns of a `MarkRow`. */
export const markColumns = (sql: PgClient.PgClient) => sql`
  id::text AS id, run_id::text AS run_id, target_kind, target_id, index, name, number, flag, category, comment, source,
  judge_name, judge_model, judge_prompt_hash, author, author_name, created_at, replaced_by::text AS replaced_by,
  deleted_at, deleted_by`

export interface MarkRow {
  readonly id: string
  readonly run_id: string
  readonly target_kind: MarkTargetKind
  readonly target_id: string | null
  readonly index: number | null
  readonly name: string
  readonly number: number | null
  readonly flag: boolean | null
  readonly category: string | null
  readonly comment: string | null
  readonly source: MarkSource
  readonly judge_name: string | null
  readonly judge_model: string | null
  readonly judge_prompt_hash: string | null
  readonly author: string
  readonly author_name: string | null
  readonly created_at: Date
  readonly replaced_by: string | null
  readonly deleted_at: Date | null
  readonly deleted_by: string | null
}

/** Reads marks by their ids, bounded in bytes. */
export const marksOfIds = (sql: PgClient.PgClient) =>
  rowsOfIds<MarkRow>(sql, { from: sql`marks`, columns: markColumns(sql), large: ["comment"] })

/** The three columns of a value. */
export const valueColumns = (value: MarkValue) => ({
  number: typeof value === "number" ? value : null,
  flag: typeof value === "boolean" ? value : null,
  category: typeof value === "string" ? value : null
})

/** A mark as it is served; absent values leave their key out. */
export const toMark = (row: MarkRow): Mark => {
  const value = row.number ?? row.flag ?? row.category
  return {
    id: row.id,
    runId: row.run_id,
    target: { kind: row.target_kind, ...(row.target_id !== null && { id: row.target_id }) },
    ...(row.index !== null && { index: row.index }),
    name: row.name,
    ...(value !== null && { value }),
    ...(row.comment !== null && { comment: row.comment }),
    source: row.source,
    ...(row.judge_name !== null && {
      judge: {
        name: row.judge_name,
        ...(row.judge_model !== null && { model: row.judge_model }),
        ...(row.judge_prompt_hash !== null && { promptHash: row.judge_prompt_hash })
      }
    }),
    author: row.author,
    ...(row.author_name !== null && { authorName: row.author_name }),
    createdAt: row.created_at.toISOString(),
    ...(row.replaced_by !== null && { replacedBy: row.replaced_by }),
    ...(row.deleted_at !== null && { deletedAt: row.deleted_at.toISOString() }),
    ...(row.deleted_by !== null && { deletedBy: row.deleted_by })
  }
}
