import type * as PgClient from "@effect/sql-pg/PgClient"
import type { Fragment } from "effect/sql/Statement"

/** Whether a row of `marks` with the name `m` is a current mark of this name, or of any for an empty one. */
export const isCurrentMark = (sql: PgClient.PgClient, name: string): Fragment =>
  sql`m.replaced_by IS NULL AND m.deleted_at IS NULL AND ${name === "" ? sql`true` : sql`m.name = ${name}`}`
