import * as Data from "effect/Data"
import type { MigrationFile } from "./MigrationFiles.ts"

/** A row of the table of the migrations. */
export interface Applied {
  readonly id: number
  readonly name: string
  /** Null: a program that stored none applied it, which knew the first file only. */
  readonly hash: string | null
}

/** The schema of the database is not one that this program continues. One line, with the ways out. */
export class SchemaRefused extends Data.TaggedError("SchemaRefused")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** PostgreSQL refused a statement of a migration; nothing of any of them is stored. */
export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly file: string
  readonly line: number
  /** The beginning of the statement. */
  readonly statement: string
  /** The server's message. */
  readonly reason: string
}> {
  override get message(): string {
    return (
      `migration ${this.file} failed at line ${this.line} (${this.statement}): ${this.reason}; the schema is as it was ` +
      "before"
    )
  }
}

const numberOf = (applied: ReadonlyArray<{ readonly id: number }>) => Math.max(0, ...applied.map(({ id }) => id))

const fileOf = ({ id, name }: { readonly id: number; readonly name: string }) =>
  `${String(id).padStart(4, "0")}_${name}.sql`

/** The setting with the address of the control plane's database. */
const DATABASE_URL = "DATABASE_URL"

const otherDatabase = (setting: string) => `name another database in ${setting}`
const OTHER_DATABASE = otherDatabase(DATABASE_URL)

/**
 * Why this program does not continue the schema; undefined when it may. A newer schema counts when the program starts,
 * not while it runs: the processes of two releases work on one database during an upgrade.
 */
export const refusalOf = (
  files: ReadonlyArray<MigrationFile>,
  applied: ReadonlyArray<Applied>,
  { running = false, setting = DATABASE_URL } = {}
): SchemaRefused | undefined => {
  const byId = new Map(applied.map((row) => [row.id, row]))
  const [database, program] = [numberOf(applied), numberOf(files)]
  for (const file of files) {
    if (file.id > database) break
    const row = byId.get(file.id)
    if (row === undefined) {
      return new SchemaRefused({
        reason:
          `the schema of the database is ${database}, but it lacks ${file.file}: the program that made it had other ` +
          `migrations, so start that one, or ${otherDatabase(setting)}`
      })
    }
    const isOther = row.hash === null ? file.id > 1 : row.hash !== file.hash
    if (isOther) return otherFile(file, row, setting)
  }
  if (database > program && !running) {
    return new SchemaRefused({
      reason: `${numbers(database, program)}: a newer Runplane has migrated it, so start that one (or restore a backup from before)`
    })
  }
}

const otherFile = (file: MigrationFile, row: Applied, setting: string) => {
  const hashes =
    row.hash === null ? "its hash is not stored" : `${row.hash.slice(0, 12)}, not ${file.hash.slice(0, 12)}`
  return new SchemaRefused({
    reason:
      `migration ${file.id} of the database is another file than this program's ${file.file} (${fileOf(row)}, ${hashes}): ` +
      `start the program that made the database, restore a backup of this one, or ${otherDatabase(setting)}`
  })
}

const numbers = (database: number, program: number) =>
  `the schema of the database is ${database}, this program's is ${program}`

/** The schema is older, and is not to be migrated. */
export const olderSchema = (files: ReadonlyArray<MigrationFile>, applied: ReadonlyArray<Applied>) => {
  const [database, program] = [numberOf(applied), numberOf(files)]
  return database >= program
    ? undefined
    : new SchemaRefused({
        reason: `${numbers(database, program)}: bring it up to date with "runplane migrate", or start with MIGRATE_ON_START=true`
      })
}

/** Processes of an earlier release are alive, which cannot work on the schema of a pending migration. */
export const processesAlive = (file: string, because: string, count: number) =>
  new SchemaRefused({
    reason:
      `migration ${file} needs all processes of earlier releases to have ended, because ${because}: ` +
      `${count === 1 ? "1 process is" : `${count} processes are`} alive, so end ${count === 1 ? "it" : "them"}, and start again`
  })

/** How many names a line has. */
const NAMES = 3

const some = (names: ReadonlyArray<string>) =>
  names.length <= NAMES ? names.join(", ") : `${names.slice(0, NAMES).join(", ")} and ${names.length - NAMES} more`

/** An earlier state of `0001_schema.sql` made the schema, from before it was frozen. */
export const earlierSchema = (missing: ReadonlyArray<string>) =>
  new SchemaRefused({
    reason:
      `the schema of the database is of an earlier state of Runplane, from which no migration leads here (it lacks ` +
      `${some(missing)}): export its runs with the program that made it, and ${OTHER_DATABASE}`
  })

/** The schema has tables of Runplane, but no table of its migrations says which program made them. */
export const unrecordedSchema = (schema: string, table: string, tables: ReadonlyArray<string>) =>
  new SchemaRefused({
    reason:
      `the schema "${schema}" is not empty: it has tables of Runplane (${some(tables)}), but ${table} does not name a ` +
      `migration, so it is not known which program made them: restore the whole backup, or ${OTHER_DATABASE}`
  })

/** The role must not create tables: since PostgreSQL 15 only the owner of a database has that right in `public`. */
export const notWritable = (role: string, schema: string) =>
  new SchemaRefused({
    reason:
      `the role "${role}" may not create tables in the schema "${schema}": the owner of the database must ` +
      `run GRANT CREATE ON SCHEMA "${schema}" TO "${role}"`
  })

/** No schema of the search path exists, or the role lacks USAGE on each of them. */
export const noSchema = (role: string, searchPath: string, existing: string | null, first: string | null) => {
  const remedy =
    existing !== null
      ? `the owner of the database must run GRANT USAGE, CREATE ON SCHEMA "${existing}" TO "${role}"`
      : first !== null
        ? `the owner of the database must run CREATE SCHEMA "${first}" AUTHORIZATION "${role}", or set another search_path`
        : `set one, such as ALTER ROLE "${role}" SET search_path = public`
  return new SchemaRefused({
    reason: `the search_path (${searchPath}) of the role "${role}" has no schema that ${existing === null ? "exists" : "it may use"}: ${remedy}`
  })
}
