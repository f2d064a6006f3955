import type * as PgClient from "@effect/sql-pg/PgClient"

/** The column `salts` of a row of events or raw frames with the name `row`, as a text that `storedSalts` reads. */
export const saltsColumn = (sql: PgClient.PgClient, row: string) => sql`
  ${sql.literal(
    `CASE WHEN ${row}.seed IS NULL THEN ${row}.salts::text ` +
      `ELSE translate(rtrim(encode(${row}.seed, 'base64'), '='), '+/', '-_') END AS salts`
  )}`

export interface SaltsRow {
  readonly salts: string | null
}
