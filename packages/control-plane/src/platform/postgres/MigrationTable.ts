import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"

/** The table of the applied migrations. */
export const MIGRATION_TABLE = "runplane_migrations"
/** Its name in early releases, which tools of other programs on the database use too. */
const FORMER_TABLE = "schema_migrations"

/** The columns of the table, in the order of their names. */
const COLUMNS = "created_at timestamp with time zone, migration_id integer, name text"

/** A migration of this program: its number and the name in its file. */
export type MigrationName = readonly [id: number, name: string]

const exists = Effect.fnUntraced(function* (table: string) {
  const sql = yield* PgClient.PgClient
  const [found] = yield* sql<{ readonly exists: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS exists`
  return found?.exists === true
})

/**
 * Whether `schema_migrations` holds the migrations of this program: it has our columns, it starts with our first
 * migration, and no number of ours has another name. The table of another program is left alone.
 */
const isFormerTable = Effect.fnUntraced(function* (known: ReadonlyArray<MigrationName>) {
  const sql = yield* PgClient.PgClient
  const [found] = yield* sql<{ readonly columns: string | null }>`
    SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attname COLLATE "C") AS columns
      FROM pg_attribute WHERE attrelid = to_regclass(${FORMER_TABLE}) AND attnum > 0 AND NOT attisdropped`
  if (found?.columns !== COLUMNS) return false
  const rows = yield* sql<{ readonly id: number; readonly name: string }>`
    SELECT migration_id AS id, name FROM ${sql(FORMER_TABLE)} ORDER BY migration_id`
  const names = new Map(known)
  const [first] = rows
  const [ours] = known
  return first?.id === ours?.[0] && rows.every(({ id, name }) => (names.get(id) ?? name) === name)
})

/** The name of the table that holds the applied migrations; undefined in a database without any. */
const tableOf = Effect.fnUntraced(function* (known: ReadonlyArray<MigrationName>) {
  if (yield* exists(MIGRATION_TABLE)) return MIGRATION_TABLE
  return (yield* isFormerTable(known)) ? FORMER_TABLE : undefined
})

/**
 * The number of the newest applied migration; 0 in a database without any. `known` are the migrations of this program,
 * in their order.
 */
export const newestApplied = Effect.fnUntraced(function* (known: ReadonlyArray<MigrationName>) {
  const sql = yield* PgClient.PgClient
  const table = yield* tableOf(known)
  if (table === undefined) return 0
  const [newest] = yield* sql<{ readonly id: number }>`
    SELECT coalesce(max(migration_id), 0)::int AS id FROM ${sql(table)}`
  return newest?.id ?? 0
})

/**
 * Creates the table of the applied migrations, or renames the one of an early release. The migrator would create it
 * too, but asks the aborted transaction another question when that fails, and reports the answer to that.
 */
export const prepareMigrationTable = Effect.fnUntraced(function* (known: ReadonlyArray<MigrationName>) {
  const sql = yield* PgClient.PgClient
  const table = yield* tableOf(known)
  if (table === FORMER_TABLE) yield* sql`ALTER TABLE ${sql(FORMER_TABLE)} RENAME TO ${sql(MIGRATION_TABLE)}`.unprepared
  if (table !== undefined) return
  yield* sql`
    CREATE TABLE ${sql(MIGRATION_TABLE)} (
      migration_id integer PRIMARY KEY,
      created_at timestamp with time zone NOT NULL DEFAULT now(),
      name text NOT NULL
    )`.unprepared
})
