/** A table and its columns, as the catalog has them: without those that PostgreSQL generates. */
export interface BackupTable {
  readonly name: string
  /** With its schema, for a statement. */
  readonly quoted: string
  readonly columns: ReadonlyArray<BackupColumn>
}

export interface BackupColumn {
  readonly name: string
  readonly quoted: string
  /** The type, for a cast. */
  readonly type: string
}

/** A row of `TABLES`. */
export interface TableRow {
  readonly table: string
  readonly quotedTable: string
  readonly column: string
  readonly quotedColumn: string
  readonly type: string
}

/**
 * The tables and sequences of effect/cluster, which a process makes when it starts. They name the live processes and
 * their shards, so another database has no use for them.
 */
const NOT_OF_CLUSTER = "c.relname NOT LIKE 'cluster\\_%'"

/**
 * The columns of all tables of the schema $1, in their order. Without those of an extension, and without unlogged ones,
 * because PostgreSQL empties these after a crash.
 */
export const TABLES = `
  SELECT c.relname AS table, format('%I.%I', n.nspname, c.relname) AS "quotedTable",
         a.attname AS column, quote_ident(a.attname) AS "quotedColumn", format_type(a.atttypid, a.atttypmod) AS type
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relpersistence = 'p' AND ${NOT_OF_CLUSTER}
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                                              AND d.deptype = 'e')
  ORDER BY c.relname, a.attnum`

/** The sequences of the schema $1, those of identity columns too. */
export const SEQUENCES = `
  SELECT c.relname AS sequence, format('%I.%I', n.nspname, c.relname) AS quoted
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind = 'S' AND ${NOT_OF_CLUSTER}
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                                              AND d.deptype = 'e')
  ORDER BY c.relname`

/** Settings under which a value's text is exact, and the same on every server. */
export const EXACT_TEXT = [
  "SET DateStyle = 'ISO, YMD'",
  "SET IntervalStyle = 'postgres'",
  "SET TimeZone = 'UTC'",
  "SET bytea_output = 'hex'",
  "SET extra_float_digits = 1",
  // Rows that a policy hides are an error instead of missing.
  "SET row_security = off"
]

/** The tables of the rows of `TABLES`. */
export const tablesOf = (rows: ReadonlyArray<TableRow>): ReadonlyArray<BackupTable> => {
  const tables = new Map<string, BackupTable & { readonly columns: Array<BackupColumn> }>()
  for (const { column, quotedColumn, quotedTable, table, type } of rows) {
    const known = tables.get(table) ?? { name: table, quoted: quotedTable, columns: [] }
    known.columns.push({ name: column, quoted: quotedColumn, type })
    tables.set(table, known)
  }
  return [...tables.values()]
}
