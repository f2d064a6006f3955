import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { createSchema } from "../schema/Migrations.ts"
import { type BackupProgress, REPORT_ROWS } from "./Backup.ts"
import { type BackupTable, EXACT_TEXT, TABLES, type TableRow, tablesOf } from "./BackupCatalog.ts"
import {
  BackupFailed,
  decodeHead,
  decodeLine,
  FORMAT,
  type Head,
  isRow,
  makeChecksum,
  readBackup
} from "./BackupFile.ts"
import { emptySchema, insertInto, setAside } from "./RestoreTables.ts"

export interface RestoreOptions {
  readonly file: string
  readonly progress: (done: BackupProgress) => Effect.Effect<void>
}

export interface RestoreResult {
  readonly tables: number
  readonly rows: number
  readonly head: Head
  /** `table`, `table.column` or `sequence` of the backup that no migration of Runplane makes, so it is not restored. */
  readonly leftOut: ReadonlyArray<string>
}

/** Bounds of the rows of one INSERT: characters, and how many. */
const BATCH_CHARACTERS = 4 * 1024 * 1024
const BATCH_ROWS = 2_000

/** The table of the file that is read now. */
interface Reading {
  readonly table: string
  /** Undefined: the schema has no such table. */
  readonly insert: string | undefined
  rows: number
}

/**
 * Fills an empty database from a backup, in one transaction: makes the schema of the backup by its migrations, writes
 * the rows and the sequences, and compares the numbers of rows and the checksum. It migrates no further.
 */
export const restore = Effect.fnUntraced(function* ({ file, progress }: RestoreOptions) {
  const sql = yield* PgClient.PgClient
  const failed = (detail: string) =>
    new BackupFailed({ reason: `${file} is not a whole backup of Runplane: ${detail}; nothing of it is restored` })
  const checksum = makeChecksum()
  const leftOut: Array<string> = []
  const counts = new Map<string, number>()
  const total = { tables: 0, rows: 0 }
  let begun: Effect.Success<ReturnType<typeof begin>> | undefined
  let reading: Reading | undefined
  let batch: Array<string> = []
  let characters = 0
  let isWhole = false

  const begin = Effect.fnUntraced(function* (line: string) {
    const head = yield* Effect.mapError(decodeHead(line), () => failed("it has no head of a backup"))
    if (head.format !== FORMAT) {
      return yield* new BackupFailed({
        reason: `${file} has format ${head.format}, this program reads ${FORMAT}: restore it with Runplane ${head.program}`
      })
    }
    const schema = yield* emptySchema
    yield* createSchema(head.migrations).pipe(
      Effect.catchTag("SchemaRefused", ({ message }) =>
        Effect.fail(
          new BackupFailed({ reason: `${file} is of Runplane ${head.program} and does not fit this one: ${message}` })
        )
      )
    )
    const bringBack = yield* setAside(schema)
    const found = tablesOf(yield* sql.unsafe<TableRow>(TABLES, [schema]))
    // Migrations write rows, too.
    yield* sql.unsafe(`TRUNCATE ${found.map(({ quoted }) => quoted).join(", ")}`).unprepared
    return { head, schema, bringBack, tables: new Map(found.map((table) => [table.name, table])) }
  })

  const report = Effect.suspend(() => progress({ table: reading?.table ?? "", ...total, of: begun?.head.tables ?? 0 }))

  const flush = Effect.suspend(() => {
    const rows = batch
    batch = []
    characters = 0
    const insert = reading?.insert
    return rows.length === 0 || insert === undefined ? Effect.void : Effect.asVoid(sql.unsafe(insert, [rows]))
  })

  const addRow = (line: string) => {
    if (reading === undefined) return Effect.fail(failed("a row has no table"))
    reading.rows += 1
    total.rows += 1
    batch.push(line)
    characters += line.length
    const isFull = batch.length >= BATCH_ROWS || characters >= BATCH_CHARACTERS
    return Effect.andThen(isFull ? flush : Effect.void, total.rows % REPORT_ROWS === 0 ? report : Effect.void)
  }

  const startTable = (tables: ReadonlyMap<string, BackupTable>, table: string, columns: ReadonlyArray<string>) => {
    if (reading !== undefined) return Effect.fail(failed(`${reading.table} has no end`))
    const known = tables.get(table)
    if (known === undefined) leftOut.push(table)
    else {
      const names = new Set(known.columns.map(({ name }) => name))
      leftOut.push(...columns.filter((name) => !names.has(name)).map((name) => `${table}.${name}`))
    }
    reading = { table, insert: known && insertInto(known, columns), rows: 0 }
    return Effect.void
  }

  const endTable = Effect.fnUntraced(function* (rows: number) {
    if (reading?.rows !== rows) {
      return yield* failed(`${reading?.table ?? "a table"} has ${reading?.rows ?? 0} rows instead of ${rows}`)
    }
    yield* flush
    total.tables += 1
    if (reading.insert !== undefined) counts.set(reading.table, rows)
    yield* report
    reading = undefined
  })

  const setSequence = Effect.fnUntraced(function* (schema: string, name: string, value: string, isCalled: boolean) {
    const set = yield* sql`
      SELECT setval(c.oid::regclass, ${value}::text::bigint, ${isCalled}) FROM pg_class c
      WHERE c.relnamespace = ${schema}::text::regnamespace AND c.relkind = 'S' AND c.relname = ${name}`
    if (set.length === 0) leftOut.push(name)
  })

  const onLine = Effect.fnUntraced(function* (line: string) {
    if (isWhole) return yield* failed("it has more after its end")
    if (begun === undefined) {
      checksum.add(line)
      begun = yield* begin(line)
      return
    }
    if (isRow(line)) {
      checksum.add(line)
      return yield* addRow(line)
    }
    const entry = yield* Effect.mapError(decodeLine(line), () => failed("it has a line that is not one of a backup"))
    if ("sha256" in entry) {
      if (reading !== undefined) return yield* failed(`${reading.table} has no end`)
      if (entry.sha256 !== checksum.digest()) return yield* failed("its checksum does not fit")
      if (entry.rows !== total.rows || entry.tables !== total.tables) return yield* failed("rows are missing")
      isWhole = true
      return
    }
    checksum.add(line)
    if ("table" in entry) return yield* startTable(begun.tables, entry.table, entry.columns)
    if ("sequence" in entry) return yield* setSequence(begun.schema, entry.sequence, entry.value, entry.isCalled)
    return yield* endTable(entry.rows)
  })

  const compare = Effect.fnUntraced(function* (tables: ReadonlyMap<string, BackupTable>) {
    for (const [name, rows] of counts) {
      const quoted = tables.get(name)?.quoted ?? ""
      const [found] = yield* sql.unsafe<{ readonly rows: string }>(`SELECT count(*)::text AS rows FROM ${quoted}`)
      if (found?.rows !== String(rows)) {
        return yield* failed(`${name} has ${found?.rows} rows in the database instead of ${rows}`)
      }
    }
  })

  return yield* sql
    .withTransaction(
      Effect.gen(function* () {
        for (const setting of EXACT_TEXT) yield* sql.unsafe(setting.replace("SET", "SET LOCAL")).unprepared
        yield* Stream.runForEach(readBackup(file), onLine)
        if (begun === undefined || !isWhole) return yield* failed("its end is missing")
        yield* compare(begun.tables)
        yield* begun.bringBack
        return { ...total, head: begun.head, leftOut, tables: begun.tables }
      })
    )
    .pipe(
      Effect.tap(({ tables }) =>
        // Plans of the first queries would be those of empty tables.
        Effect.forEach(tables.values(), ({ quoted }) => sql.unsafe(`ANALYZE ${quoted}`).unprepared, { discard: true })
      ),
      Effect.map(({ head, leftOut: rest }): RestoreResult => ({ ...total, head, leftOut: rest }))
    )
})
