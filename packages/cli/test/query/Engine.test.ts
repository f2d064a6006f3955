import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as duckdb from "@duckdb/node-api"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { csvLine, visibleCsvLine } from "../../src/query/Cells.ts"
import { openDatabase } from "../../src/query/engine/Database.ts"
import type { EngineOutcome } from "../../src/query/engine/Exchange.ts"
import { answerOf } from "../../src/query/engine/Rows.ts"
import { prepareReading } from "../../src/query/engine/Statement.ts"
import { watchBounds } from "../../src/query/engine/Watchdog.ts"
import { openFolder } from "./Archives.ts"

const literal = (path: string) => `'${path.replaceAll("'", "''")}'`

/** A file of an archive, others beside it, and a function that runs SQL on a database of its own. */
const openEngine = Effect.gen(function* () {
  const folder = yield* openFolder
  const archive = join(folder, "it's [an] archive")
  const spill = join(folder, "spill")
  mkdirSync(archive)
  mkdirSync(spill)
  const file = join(archive, "a=1.parquet")
  const other = join(archive, "other.txt")
  writeFileSync(other, "SECRET")
  yield* Effect.promise(async () => {
    const instance = await duckdb.DuckDBInstance.create(":memory:")
    const connection = await instance.connect()
    await connection.run(`COPY (SELECT 1 AS x) TO ${literal(file)}`)
    connection.closeSync()
    instance.closeSync()
  })
  const bounds = { rows: 100, bytes: 100_000 }
  const request = { bounds, module: "", folder, spill, memory: 128 * 2 ** 20, disk: 2 ** 20, files: [file], sql: "" }
  const views = [`CREATE VIEW v AS SELECT x FROM read_parquet([${literal(file)}])`]
  const run = (sql: string) =>
    Effect.promise(async () => {
      const connection = await openDatabase(duckdb, { ...request, sql, views })
      try {
        const prepared = await prepareReading(duckdb, connection, sql)
        return prepared === undefined ? "refused" : (await answerOf(duckdb, prepared, bounds)).rows
      } catch (cause) {
        return String(cause)
      } finally {
        connection.closeSync()
      }
    })
  const state = () => [
    readFileSync(file, "hex"),
    ...readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()
  ]
  return { file, other, spill, archive, request: { ...request, views }, run, state }
})

describe("the engine of runplane query", () => {
  it.effect("runs one statement that reads, whatever its form", () =>
    Effect.gen(function* () {
      const { file, run } = yield* openEngine
      for (const sql of [
        "SELECT x FROM v",
        " -- what\n/* reads */ (SELECT x FROM v);;",
        "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 1) FROM r",
        "FROM v SELECT x QUALIFY row_number() OVER (ORDER BY x) = 1",
        "VALUES (1)",
        "SELECT COLUMNS('x') FROM v ASOF JOIN (SELECT 1 AS y) t ON v.x >= t.y",
        "FROM query('SELECT x FROM v')",
        `FROM ${literal(file)}`,
        "SELECT list_transform([0], lambda x: x + 1)[1]",
        "SELECT x FROM (PIVOT v ON x IN (1) USING count(*) AS n GROUP BY x) GROUP BY GROUPING SETS ((x))"
      ]) {
        assert.deepStrictEqual(yield* run(sql), [[1]], sql)
      }
      for (const sql of [
        "TABLE v",
        "DESCRIBE v",
        "SUMMARIZE v",
        "SHOW TABLES",
        "EXPLAIN SELECT 1",
        "explain analyze FROM v"
      ]) {
        assert.isArray(yield* run(sql), sql)
      }
    })
  )

  it.effect("refuses every other statement before it is bound, and nothing is written", () =>
    Effect.gen(function* () {
      const { archive, file, run, spill, state } = yield* openEngine
      const before = state()
      const [inside, replaced] = [literal(join(spill, "x")), literal(file)]
      for (const sql of [
        `COPY (SELECT 1) TO ${inside}`,
        `COPY (SELECT 2 AS x) TO ${replaced} (FORMAT parquet, USE_TMP_FILE false)`,
        `EXPLAIN ANALYZE COPY (SELECT 1) TO ${inside}`,
        `EXPLAIN /* */ ANALYZE COPY (SELECT 1) TO ${inside}`,
        `EXPLAIN ANALYZE WITH x AS (SELECT 1) COPY (SELECT 1) TO ${inside}`,
        `EXPORT DATABASE ${inside}`,
        `EXPLAIN EXPORT DATABASE ${inside}`,
        `/* /* SELECT */ EXPORT DATABASE ${inside}`,
        `/* /* EXPLAIN SELECT 1 */ SELECT */ EXPORT DATABASE ${inside}`,
        ` -- x\rEXPORT DATABASE ${inside} /*\nSELECT */`,
        `SELECT 1; EXPORT DATABASE ${inside}`,
        `EXPLAIN SELECT 1; EXPORT DATABASE ${inside}`,
        `ATTACH ${literal(join(archive, "new.db"))}`,
        `ATTACH ${literal(join(spill, "x.db"))}`,
        `IMPORT DATABASE ${literal(archive)}`,
        "WITH x AS (INSERT INTO t VALUES (1) RETURNING *) FROM x",
        "CREATE TABLE x (y INT)",
        "CREATE MACRO m() AS TABLE FROM v",
        "CREATE SECRET s (TYPE http)",
        "PREPARE p AS SELECT 1",
        "PIVOT v ON x USING count(*)",
        "SET memory_limit = '1TB'",
        "PRAGMA enable_profiling",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CALL enable_logging()",
        "VACUUM",
        "SELECT 1; SELECT 2",
        "-- nothing",
        ""
      ]) {
        const outcome = yield* run(sql)
        assert.isTrue(outcome === "refused" || /"Parser"|"Permission"/.test(String(outcome)), `${sql}: ${outcome}`)
      }
      assert.deepStrictEqual(state(), before)
    })
  )

  it.effect("reads the files of its views alone, by whatever function", () =>
    Effect.gen(function* () {
      const { archive, other, run, state } = yield* openEngine
      const before = state()
      const [beside, passwd] = [literal(other), "'/etc/passwd'"]
      const functions = ["read_text", "read_blob", "read_csv", "read_json", "read_ndjson_objects", "parquet_schema"]
      const statements = [
        ...functions.flatMap((name) => [beside, passwd].map((path) => `FROM ${name}(${path})`)),
        ...[`FROM glob(${literal(`${archive}/*`)})`, "FROM glob('/etc/*')", `FROM ${beside}`, `FROM ${passwd}`],
        `FROM read_text(${literal(`${archive}/../it's [an] archive/other.txt`)})`,
        `FROM query('FROM read_text(${passwd.replaceAll("'", "''")})')`,
        `FROM query_table(${passwd})`,
        `SUMMARIZE FROM ${passwd}`,
        "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''/etc/passwd'')'))",
        "FROM read_text('/proc/self/environ')",
        "FROM read_csv('http://127.0.0.1:1/x.csv')",
        "FROM 's3://bucket/x.parquet'",
        "FROM duckdb_secrets()",
        "SELECT getenv('HOME')"
      ]
      for (const sql of statements) {
        const outcome = yield* run(sql)
        assert.match(String(outcome), /"(Permission|Catalog)"/, `${sql}: ${outcome}`)
      }
      // These functions of a SELECT write a file elsewhere.
      for (const call of ["logging(storage = 'file', storage_path", "profiling(format = 'json', save_location"]) {
        yield* run(`SELECT write_log('x') FROM v, enable_${call} = ${literal(`${archive}/new.json`)})`)
      }
      assert.deepStrictEqual(state(), before)
    })
  )

  it.effect("counts the names of the columns in each row, and refuses columns beyond the bound", () =>
    Effect.gen(function* () {
      const { run } = yield* openEngine
      const name = "n".repeat(10_000)
      assert.lengthOf(yield* run(`SELECT 1 AS ${name} FROM range(100)`), 9)
      assert.match(
        String(yield* run(`SELECT 1 AS ${name.repeat(20)}`)),
        /the columns have 200\d+ bytes, more than --max/
      )
    })
  )

  it.effect("ends a query beyond the bound of its temporary files", () =>
    Effect.gen(function* () {
      const { run } = yield* openEngine
      const sorted = yield* run("SELECT * FROM range(30000000) t(x) ORDER BY hash(x)")
      assert.match(String(sorted), /"Out of Memory".*max_temp_directory_size/)
    })
  )

  it.live("reports memory and temporary files that DuckDB does not count", () =>
    Effect.gen(function* () {
      const { request, spill } = yield* openEngine
      const watched = (over: Partial<typeof request>) =>
        Effect.promise(() => new Promise<EngineOutcome>((report) => watchBounds({ ...request, ...over }, report)))
      assert.deepStrictEqual(yield* watched({ memory: -(2 ** 40) }), { _tag: "Beyond", bound: "memory" })
      writeFileSync(join(spill, "log.csv"), "")
      truncateSync(join(spill, "log.csv"), 600 * 2 ** 20)
      assert.deepStrictEqual(yield* watched({ memory: 2 ** 40 }), { _tag: "Beyond", bound: "disk" })
    })
  )

  it("escapes control characters of CSV for a terminal", () => {
    const row = ["a\u001b[2J\u009bx", 'q"', null]
    assert.strictEqual(csvLine(row), 'a\u001b[2J\u009bx,"q""",')
    assert.strictEqual(visibleCsvLine(row), 'a\\u001b[2J\\u009bx,"q""",')
  })
})
