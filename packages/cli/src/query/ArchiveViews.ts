import { ARCHIVE_TABLES, type ArchiveColumn, type ArchiveTable, archiveTables } from "@runplane/domain"

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** What a view reads: the current files of its table, as paths; undefined for a table that the query does not name. */
export type TableFiles = Readonly<Record<ArchiveTable, ReadonlyArray<string> | undefined>>

/** The tables that a query names, by the words in it: too many of them at worst. Every view leaves out deleted runs. */
export const namedTables = (sql: string): ReadonlySet<ArchiveTable> => {
  const words = new Set(sql.toLowerCase().match(/\w+/g))
  const named = ARCHIVE_TABLES.filter((table) => words.has(table))
  return new Set(named.length === 0 ? [] : [...named, "tombstones"])
}

const TYPES: Readonly<Record<ArchiveColumn["type"], string>> = {
  text: "VARCHAR",
  int: "INTEGER",
  long: "BIGINT",
  number: "DOUBLE",
  flag: "BOOLEAN",
  time: "TIMESTAMP WITH TIME ZONE",
  texts: "VARCHAR[]"
}

/** The key of a row that has versions; the highest `version` counts. */
const KEYS: Partial<Record<ArchiveTable, string>> = { runs: "run_id", marks: "mark_id", tombstones: "run_id" }

const columnEntries = (table: ArchiveTable): ReadonlyArray<readonly [string, ArchiveColumn]> =>
  Object.entries(archiveTables[table])

const columnsOf = (table: ArchiveTable, value: string) =>
  [
    ...columnEntries(table).map(([name, { type }]) => `${value}::${TYPES[type]} AS "${name}"`),
    `${value}::DATE AS dt`
  ].join(", ")

/** No rows, with the columns of the table. */
const empty = (table: ArchiveTable) => `SELECT ${columnsOf(table, "NULL")} WHERE false`

/** The columns of the table, and an error for each reader: the name of the table was composed in the query. */
const guarded = (table: ArchiveTable) => {
  const fault = `error(${literal(`the query does not name ${table}`)})`
  return `SELECT ${columnsOf(table, fault)} WHERE ${fault} IS NOT NULL`
}

/** `index` is a word of SQL elsewhere, so names are quoted; files of later versions may have more columns. */
const filesOf = (paths: ReadonlyArray<string>) =>
  `read_parquet([${paths.map(literal).join(", ")}], union_by_name = true, hive_partitioning = true)`

const viewOf = (table: ArchiveTable, files: TableFiles): string => {
  const paths = files[table]
  if (paths === undefined) return guarded(table)
  if (paths.length === 0) return empty(table)
  const isOfRuns = table !== "tombstones" && files.tombstones !== undefined && files.tombstones.length > 0
  const live = isOfRuns ? " ANTI JOIN (SELECT DISTINCT run_id FROM tombstones) USING (run_id)" : ""
  const key = KEYS[table]
  if (key === undefined) return `SELECT * FROM ${filesOf(paths)}${live}`
  return `SELECT * FROM ${filesOf(paths)}${live}
    QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY version DESC) = 1`
}

/**
 * The statements that make the views `tombstones`, `events`, `runs` and `marks`: rows of runs that no caller has
 * deleted, each in its last version (docs/reference/archive.md#reading).
 */
export const viewStatements = (files: TableFiles): ReadonlyArray<string> =>
  (["tombstones", "events", "runs", "marks"] as const).map((table) => `CREATE VIEW ${table} AS ${viewOf(table, files)}`)
