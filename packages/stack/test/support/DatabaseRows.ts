import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** Every row of a database, a JSON array of each table, with the texts of JSON columns as they stand there. */
export type Rows = ReadonlyMap<string, string>

/** Runs an effect on one connection to a database. */
export const on = <A, E, R>(url: string, effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provide(Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))))

interface Column {
  readonly table: string
  readonly column: string
}

/** The columns that hold data of their own, in the order of the tables. */
export const columnsOf = (url: string) =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const found = yield* sql<Column>`
        SELECT c.table_name AS table, c.column_name AS column FROM information_schema.columns c
          JOIN information_schema.tables t USING (table_schema, table_name)
         WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'
           AND c.table_name <> 'runplane_migrations'
         ORDER BY c.table_name, c.column_name`
      return Map.groupBy(found, ({ table }) => table)
    })
  )

const quoted = (columns: ReadonlyArray<Column>) => columns.map(({ column }) => `"${column}"`).join(", ")

/** Of columns that are empty today and had to be filled in early schemas: a transaction that ended long ago. */
const FILLED: Readonly<Record<string, string>> = { "canonical_events.gate": `coalesce("gate", '1'::xid8)` }

/** The rows of these columns, in one order. */
export const rowsOf = (
  url: string,
  columns: ReadonlyMap<string, ReadonlyArray<Column>>
): Effect.Effect<Rows, unknown> =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const rows = new Map<string, string>()
      for (const [table, own] of columns) {
        const [row] = yield* sql.unsafe<{ readonly rows: string }>(
          `SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS rows FROM (SELECT ${quoted(own)} FROM ${table}) t`
        ).unprepared
        rows.set(table, row?.rows ?? "[]")
      }
      return rows
    })
  )

/** Puts the rows into the columns that a database of an earlier schema has, as a restore does: no trigger fires. */
export const putRows = (url: string, columns: ReadonlyMap<string, ReadonlyArray<Column>>, rows: Rows) =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SET LOCAL session_replication_role = replica`
          for (const [table, own] of columns) {
            const names = quoted(own)
            const values = own.map(({ column }) => FILLED[`${table}.${column}`] ?? `"${column}"`).join(", ")
            yield* sql.unsafe(`DELETE FROM ${table}`).unprepared
            yield* sql.unsafe(
              `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE
               SELECT ${values} FROM json_populate_recordset(NULL::${table}, $1::json)`,
              [rows.get(table) ?? "[]"]
            )
          }
          yield* sql`SELECT setval('event_seq', (SELECT coalesce(max(seq), 1) FROM canonical_events))`
        })
      )
    })
  )
