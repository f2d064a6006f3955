import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { currentSchema } from "../schema/Migrations.ts"
import type { BackupTable } from "./BackupCatalog.ts"
import { BackupFailed } from "./BackupFile.ts"

/** The schema that tables are made in. Fails when it has a relation that is not an extension's. */
export const emptySchema = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const schema = yield* currentSchema
  const found = yield* sql<{ readonly name: string }>`
    SELECT c.relname AS name FROM pg_class c
    WHERE c.relnamespace = ${schema}::text::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                                                AND d.deptype = 'e')
    ORDER BY 1 LIMIT 1`
  for (const { name } of found) {
    return yield* new BackupFailed({
      reason:
        `the schema "${schema}" of the database is not empty: it has ${name}; a restore changes no existing data, so ` +
        "name an empty database in DATABASE_URL"
    })
  }
  return schema
})

interface OfTable {
  readonly table: string
  readonly name: string
}

/**
 * Sets the triggers and foreign keys of the schema aside, so that rows can come in any order. The returned effect
 * brings them back; PostgreSQL then checks the foreign keys.
 */
export const setAside = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* PgClient.PgClient
  const triggers = yield* sql<OfTable>`
    SELECT t.tgrelid::regclass::text AS table, quote_ident(t.tgname) AS name
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = ${schema}::text::regnamespace AND NOT t.tgisinternal AND t.tgenabled = 'O'`
  const keys = yield* sql<OfTable & { readonly definition: string }>`
    SELECT k.conrelid::regclass::text AS table, quote_ident(k.conname) AS name, pg_get_constraintdef(k.oid) AS definition
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE c.relnamespace = ${schema}::text::regnamespace AND k.contype = 'f' AND k.conparentid = 0`
  const alter = <T extends OfTable>(each: ReadonlyArray<T>, action: (one: T) => string) =>
    Effect.forEach(each, (one) => sql.unsafe(`ALTER TABLE ${one.table} ${action(one)}`).unprepared, { discard: true })
  yield* alter(triggers, ({ name }) => `DISABLE TRIGGER ${name}`)
  yield* alter(keys, ({ name }) => `DROP CONSTRAINT ${name}`)
  return Effect.andThen(
    alter(keys, ({ definition, name }) => `ADD CONSTRAINT ${name} ${definition}`),
    alter(triggers, ({ name }) => `ENABLE TRIGGER ${name}`)
  )
})

/** The statement that writes rows, given as lines of the backup, with those of their columns that the schema has. */
export const insertInto = ({ columns, quoted }: BackupTable, given: ReadonlyArray<string>): string => {
  const known = given.flatMap((name, at) => {
    const column = columns.find((each) => each.name === name)
    return column === undefined ? [] : [{ name: column.quoted, value: `texts[${at + 1}]::${column.type}` }]
  })
  // OFFSET 0 keeps PostgreSQL from reading a line again for each of its columns.
  return `
    INSERT INTO ${quoted} (${known.map(({ name }) => name).join(", ")}) OVERRIDING SYSTEM VALUE
    SELECT ${known.map(({ value }) => value).join(", ")}
    FROM (SELECT ARRAY(SELECT value FROM json_array_elements_text(line::json)) AS texts
          FROM unnest($1::text[]) WITH ORDINALITY AS lines(line, at) ORDER BY at OFFSET 0) AS lines`
}
