import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { RUNPLANE_VERSION } from "@runplane/api"
import type { Applied } from "@runplane/database"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { MIGRATION_LOCK } from "../AdvisoryLocks.ts"
import { type BackupTable, EXACT_TEXT, SEQUENCES, TABLES, tablesOf } from "./BackupCatalog.ts"
import { BackupFailed, FORMAT, type Head, makeChecksum, writeBackup } from "./BackupFile.ts"

/** What a backup or a restore has done so far. */
export interface BackupProgress {
  readonly table: string
  readonly tables: number
  readonly of: number
  readonly rows: number
}

export interface BackupOptions {
  readonly file: string
  /** The schema with the tables. */
  readonly schema: string
  /** Is called after each table, and now and then within one. */
  readonly progress: (done: BackupProgress) => Effect.Effect<void>
}

export interface BackupResult {
  readonly file: string
  readonly tables: number
  readonly rows: number
  /** Of the file. */
  readonly bytes: number
  /** Of its content, as its last line has it. */
  readonly sha256: string
  /** Whether the launch service has its own schema in this database, which the file does not have. */
  readonly hasPeople: boolean
}

/** Rows between two reports of progress. */
export const REPORT_ROWS = 50_000

const Texts = Schema.decodeUnknownEffect(Schema.Struct({ at: Schema.String, server: Schema.String }))
const TableRows = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      table: Schema.String,
      quotedTable: Schema.String,
      column: Schema.String,
      quotedColumn: Schema.String,
      type: Schema.String
    })
  )
)
const SequenceRows = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ sequence: Schema.String, quoted: Schema.String }))
)
const SequenceValue = Schema.decodeUnknownEffect(Schema.Struct({ value: Schema.String, isCalled: Schema.Boolean }))
/** The schema of the launch service, which migrates it. */
const PEOPLE = `SELECT to_regclass('people.migrations') IS NOT NULL AS "hasPeople"`
const People = Schema.decodeUnknownEffect(Schema.Struct({ hasPeople: Schema.Boolean }))
const RowLine = Schema.is(Schema.Struct({ line: Schema.String }))

/**
 * Writes all tables of the schema to a file, as they are at one moment; other sessions work on meanwhile. No migration
 * begins before its end. The rows pass through: it needs no more memory than a few of them.
 */
export const backUp = Effect.fnUntraced(function* (
  connection: PgConnection,
  migrations: ReadonlyArray<Applied>,
  { file, progress, schema }: BackupOptions
) {
  const [first, ...later] = migrations
  if (first === undefined) return yield* new BackupFailed({ reason: "the database has no schema of Runplane" })
  const run = (statement: string) => connection.query(statement, [], false)
  yield* Effect.forEach(EXACT_TEXT, run)
  // A table is written in the order in which it was filled.
  yield* run("SET synchronize_seqscans = off")
  yield* run("SET statement_timeout = 0")
  yield* run("SET idle_in_transaction_session_timeout = 0")
  yield* run(`SELECT pg_advisory_lock_shared(${MIGRATION_LOCK})`)
  yield* run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
  const tables = tablesOf(yield* TableRows((yield* connection.query(TABLES, [schema], false)).rows))
  // A TRUNCATE would empty a table in this snapshot, too.
  yield* run(`LOCK TABLE ${tables.map(({ quoted }) => quoted).join(", ")} IN ACCESS SHARE MODE`)
  const { at, server } = yield* Texts(
    (yield* run("SELECT now()::text AS at, current_setting('server_version') AS server")).rows[0]
  )

  const head: Head = {
    backup: "runplane",
    format: FORMAT,
    program: RUNPLANE_VERSION,
    ...{ at, server, tables: tables.length, migrations: [first, ...later] }
  }

  const checksum = makeChecksum()
  const total = { tables: 0, rows: 0, sha256: "" }
  const rowsOf = ({ columns, name, quoted }: BackupTable) =>
    Stream.suspend(() => {
      let rows = 0
      const values = columns.map((column) => `${column.quoted}::text`).join(", ")
      const report = Effect.suspend(() => progress({ table: name, ...total, of: tables.length }))
      const found = connection.stream(`SELECT to_json(ARRAY[${values}])::text AS line FROM ONLY ${quoted}`).pipe(
        Stream.mapEffect((row) => {
          if (!RowLine(row)) return Effect.die(new Error(`a row of ${name} without its line`))
          rows += 1
          total.rows += 1
          return total.rows % REPORT_ROWS === 0 ? Effect.as(report, row.line) : Effect.succeed(row.line)
        })
      )
      const end = Stream.fromEffect(
        Effect.suspend(() => {
          total.tables += 1
          return Effect.as(report, JSON.stringify({ rows }))
        })
      )
      const start = Stream.make(JSON.stringify({ table: name, columns: columns.map((column) => column.name) }))
      return Stream.concat(Stream.concat(start, found), end)
    })
  // Sequences are outside of the snapshot: read after the rows, each is beyond all of them.
  const sequences = Stream.fromIterableEffect(
    Effect.gen(function* () {
      const found = yield* SequenceRows((yield* connection.query(SEQUENCES, [schema], false)).rows)
      return yield* Effect.forEach(found, ({ quoted, sequence }) =>
        run(`SELECT last_value::text AS value, is_called AS "isCalled" FROM ${quoted}`).pipe(
          Effect.flatMap(({ rows }) => SequenceValue(rows[0])),
          Effect.map((value) => JSON.stringify({ sequence, ...value }))
        )
      )
    })
  )
  const lines = Stream.make(JSON.stringify(head)).pipe(
    Stream.concat(Stream.flatMap(Stream.fromIterable(tables), rowsOf)),
    Stream.concat(sequences),
    Stream.map((line) => {
      checksum.add(line)
      return line
    }),
    Stream.concat(
      Stream.suspend(() => {
        total.sha256 = checksum.digest()
        return Stream.make(JSON.stringify(total))
      })
    )
  )
  const bytes = yield* writeBackup(file, lines)
  const { hasPeople } = yield* People((yield* run(PEOPLE)).rows[0])
  yield* run("COMMIT")
  return { file, bytes, ...total, hasPeople } satisfies BackupResult
})
