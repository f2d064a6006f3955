import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"

/**
 * The objects of a schema, one text each, sorted: tables with their columns, views, sequences, indexes, constraints,
 * functions and triggers. Only what every supported release of PostgreSQL writes in the same words: no bodies of views,
 * and no constraints that are a property of a column.
 */
export const schemaObjects = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly object: string }>`
    WITH here AS (
      SELECT c.oid, c.relname, c.relkind FROM pg_class c WHERE c.relnamespace = ${schema}::text::regnamespace
    )
    SELECT 'relation ' || relname AS object FROM here WHERE relkind IN ('r', 'v', 'S')
    UNION ALL
    SELECT 'column ' || relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
        || CASE WHEN attnotnull THEN ' not null' ELSE '' END
        || CASE WHEN attidentity <> '' THEN ' identity' WHEN attgenerated <> '' THEN ' generated' ELSE '' END
    FROM here JOIN pg_attribute ON attrelid = here.oid
    WHERE relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT 'index ' || here.relname || ': ' || pg_get_indexdef(here.oid)
    FROM here JOIN pg_index ON indexrelid = here.oid
    UNION ALL
    SELECT 'constraint ' || relname || '.' || conname || CASE contype WHEN 'f' THEN ' foreign key' ELSE ' check' END
    FROM here JOIN pg_constraint ON conrelid = here.oid WHERE contype IN ('c', 'f')
    UNION ALL
    SELECT 'function ' || proname || '(' || pg_get_function_identity_arguments(oid) || ') '
        || left(encode(sha256(convert_to(replace(prosrc, chr(13), ''), 'UTF8')), 'hex'), 16)
    FROM pg_proc WHERE pronamespace = ${schema}::text::regnamespace
    UNION ALL
    SELECT 'trigger ' || relname || '.' || tgname FROM here JOIN pg_trigger ON tgrelid = here.oid WHERE NOT tgisinternal`
  return rows.map(({ object }) => withoutSchema(object.replace(/\s+/g, " "))).toSorted()
})

/** The definition of an index names the schema of its table. */
const withoutSchema = (object: string): string =>
  object.replace(/^(index .*? ON )(?:ONLY )?(?:[^ ]+\.)?([^ .]+ USING )/, "$1$2")

/** Of the objects, those that are relations, by name. */
export const relationsOf = (objects: ReadonlyArray<string>): ReadonlyArray<string> =>
  objects.flatMap((object) => (object.startsWith("relation ") ? [object.slice("relation ".length)] : []))

/** The expected objects that a schema lacks, as an operator reads them: relations first, without their parts. */
export const missingObjects = (
  expected: ReadonlyArray<string>,
  found: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const has = new Set(found)
  const missing = expected.filter((object) => !has.has(object))
  const relations = relationsOf(missing)
  const isOfMissing = (object: string) =>
    relations.some((name) => object.includes(` ${name}.`) || object.includes(` ON ${name} `))
  const others = missing.filter((object) => !object.startsWith("relation ") && !isOfMissing(object))
  return [...relations.map((name) => `relation ${name}`), ...others.map(shortOf)]
}

/** Without the definition of an index and the hash of a function. */
const shortOf = (object: string): string => object.replace(/: .*$/, "").replace(/^(function .*) \S+$/, "$1")
