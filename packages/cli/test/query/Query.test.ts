import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { type ArchiveTarget, fileTarget } from "@runplane/archive"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../src/index.ts"
import { DUCKDB_PACKAGE, DuckDbModule } from "../../src/query/QueryEngine.ts"
import { runQuery } from "../../src/query/RunQuery.ts"
import { eventRowOf, openArchive, openFolder, pathOf, putRows } from "./Archives.ts"

const bounds = { rows: 100, bytes: 100_000, memory: 512 * 2 ** 20, download: 1_000_000 }

const query = Effect.fnUntraced(function* (target: ArchiveTarget, sql: string, ...flags: ReadonlyArray<string>) {
  const [lines, errors] = [(yield* TestConsole.logLines).length, (yield* TestConsole.errorLines).length]
  const url = `file://${encodeURI(target.url.slice("file://".length))}`
  const args = ["query", sql, "--archive", url, ...flags]
  const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), args)
  const outcome = yield* Effect.result(Effect.provide(program, NodeServices.layer))
  const text = (yield* TestConsole.logLines).slice(lines).join("\n")
  const notes = (yield* TestConsole.errorLines).slice(errors).join("\n")
  return Result.isSuccess(outcome)
    ? { code: 0, text, complaint: notes }
    : { code: exitCodeOf(outcome.failure), text, complaint: String(outcome.failure.message) }
})

const rowsOf = Effect.fnUntraced(function* (target: ArchiveTarget, sql: string, ...flags: ReadonlyArray<string>) {
  const { code, complaint, text } = yield* query(target, sql, "--jsonl", ...flags)
  assert.deepStrictEqual([code, complaint], [0, ""])
  return text.split("\n").map((line) => JSON.parse(line))
})

describe("the views of runplane query", () => {
  it.effect("have each event of a merged file once, the last version of a run, and nothing of a deleted one", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const totals =
        "SELECT count(*) AS n, sum(total_tokens) AS tokens, sum(cost_usd::DECIMAL(18, 9)) AS usd FROM events"
      assert.deepStrictEqual(yield* rowsOf(target, totals), [{ n: 4, tokens: 30, usd: 0.3 }])
      const runs = "SELECT run_id, version, tags, dt FROM runs ORDER BY run_id"
      assert.deepStrictEqual(yield* rowsOf(target, runs), [
        { run_id: "run-1", version: 3, tags: ["later", "a,b"], dt: "2026-11-26" },
        { run_id: "run-2", version: 2, tags: [], dt: "2026-11-26" }
      ])
      assert.deepStrictEqual(yield* rowsOf(target, "SELECT run_id FROM Tombstones"), [{ run_id: "gone" }])
    })
  )

  it.effect("have their columns, and no rows, in an archive without files", () =>
    Effect.gen(function* () {
      const full = yield* openArchive
      const empty = fileTarget(join(yield* openFolder, "nothing"))
      const described = "SELECT column_name, column_type FROM (DESCRIBE "
      for (const table of ["events", "runs", "tombstones"]) {
        const columns = yield* rowsOf(full, `${described}${table})`)
        const { code, complaint, text } = yield* query(empty, `${described}${table})`, "--jsonl")
        assert.strictEqual(code, 0)
        assert.include(complaint, "has no files of these tables yet")
        assert.deepStrictEqual(
          text.split("\n").map((line) => JSON.parse(line)),
          columns
        )
      }
      const { text } = yield* query(empty, "SELECT count(*) AS n FROM marks", "--csv")
      assert.strictEqual(text, "n\n0")
    })
  )

  it.effect("lose no row to a file whose name covers others, and the command names that file", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const count = (sql: string) => Effect.map(query(target, sql, "--csv"), ({ text }) => text.split("\n")[1])
      const before = yield* count("SELECT count(*) AS n FROM events")
      yield* putRows(target, "events", [1, 999_999], [eventRowOf(2)])
      assert.strictEqual(yield* count("SELECT count(*) AS n FROM events"), before)
      const { complaint } = yield* query(target, "SELECT 1 AS one FROM events", "--csv")
      assert.match(complaint, /main-0000000000000001-0000000000999999\.parquet does not count: it lacks \d rows/)
    })
  )

  it.effect("refuse a table whose name is composed, because only named tables are read", () =>
    Effect.gen(function* () {
      const { code, complaint } = yield* query(yield* openArchive, "SELECT run_id FROM query_table('ru' || 'ns')")
      assert.deepStrictEqual([code, complaint], [1, "the query does not name runs"])
      assert.lengthOf(yield* rowsOf(yield* openArchive, "SHOW TABLES"), 4)
    })
  )
})

describe("the answer of runplane query", () => {
  const values = `SELECT 1::BIGINT AS small, 9007199254740993 AS large, 1.10::DECIMAL(9, 2) AS money,
    12345678901234567.89::DECIMAL(20, 2) AS fortune, 'nan'::DOUBLE AS nothing, NULL AS absent, '' AS empty,
    'a "b", c' AS quoted, ts, [1, 2] AS list FROM events ORDER BY seq LIMIT 1`

  it.effect("has exact numbers and times of UTC as JSON", () =>
    Effect.gen(function* () {
      const [row] = yield* rowsOf(yield* openArchive, values)
      assert.deepStrictEqual(row, {
        ...{ small: 1, large: "9007199254740993", money: 1.1, fortune: "12345678901234567.89", nothing: "NaN" },
        ...{ absent: null, empty: "", quoted: 'a "b", c', ts: "2026-11-26T00:00:00.001Z", list: [1, 2] }
      })
    })
  )

  it.effect("is CSV with quotes where they are needed, or a table", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const csv = yield* query(target, values, "--csv")
      assert.strictEqual(
        csv.text,
        "small,large,money,fortune,nothing,absent,empty,quoted,ts,list\n" +
          '1,9007199254740993,1.1,12345678901234567.89,NaN,,"","a ""b"", c",2026-11-26T00:00:00.001Z,"[1,2]"'
      )
      const table = yield* query(target, "SELECT run_id, NULL AS x, repeat('é', 99) AS text FROM runs ORDER BY ALL")
      assert.strictEqual(table.text.split("\n")[1], `run-1   -  ${"é".repeat(59)}…`)
    })
  )

  it.effect("is marked where it was cut, and fails where the format has no mark", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const sql = "SELECT seq, repeat('x', 100) AS text FROM events ORDER BY seq"
      const byRows = yield* query(target, sql, "--json", "--limit", "2")
      assert.deepInclude(JSON.parse(byRows.text), { cut: "rows" })
      assert.lengthOf(JSON.parse(byRows.text).rows, 2)
      const byBytes = yield* query(target, sql, "--json", "--max-bytes", "1KiB")
      assert.deepInclude(JSON.parse(byBytes.text), { cut: null })
      const many = yield* query(
        target,
        "SELECT repeat('é', 100) FROM range(50), tombstones",
        "--json",
        "--max-bytes",
        "1KiB"
      )
      assert.deepInclude(JSON.parse(many.text), { cut: "bytes" })
      assert.lengthOf(JSON.parse(many.text).rows, 4)
      assert.include((yield* query(target, sql, "--limit", "2")).text, "\n... cut after 2 rows: there are more")
      const csv = yield* query(target, sql, "--csv", "--limit", "2")
      assert.deepStrictEqual([csv.code, csv.text.split("\n").length], [1, 3])
      assert.include(csv.complaint, "--limit raises the bound")
      assert.deepStrictEqual((yield* query(target, sql, "--csv", "--limit", "4")).code, 0)
    })
  )
})

describe("runplane query refuses", () => {
  it.effect("SQL that is wrong, with its position in characters", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const cases = [
        ["selec 1", 'line 1, column 1: syntax error at or near "selec"'],
        ["SELECT 'é🦊',\n '🦊', nope FROM runs", "line 2, column 7: Referenced column"],
        ["SELECT frobnicate(run_id)\nFROM runs", "line 1, column 8: Scalar Function with name frobnicate"]
      ] as const
      for (const [sql, expected] of cases) {
        const { code, complaint } = yield* query(target, sql)
        assert.strictEqual(code, 2, complaint)
        assert.include(complaint, expected)
      }
      const wrong = yield* query(target, "SELECT run_id::INT FROM runs")
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.complaint, "Could not convert string 'run-")
    })
  )

  it.effect("everything that is not one SELECT, and files outside of the archive", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      for (const [sql, expected] of [
        ["COPY (SELECT 1) TO '/tmp/x'", "only one SELECT is run"],
        ["", "only one SELECT is run"],
        ["FROM read_text('/etc/passwd')", "a query reads the files of its archive alone"],
        ["SELECT ?", "a statement has no parameters here"],
        ["SELECT 1\0; SELECT 2", "the SQL has a NUL character"]
      ] as const) {
        const { code, complaint, text } = yield* query(target, sql)
        assert.deepStrictEqual([code, text], [2, ""], sql)
        assert.include(complaint, expected)
      }
      const long = yield* query(target, `SELECT now() AT TIME ZONE '${"x".repeat(5_000)}'`)
      assert.isBelow(long.complaint.length, 700)
    })
  )

  it.effect("bounds and formats that make no sense, and a missing archive", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const cases = [
        [["--limit", "0"], "--limit 0 is not from 1 to 1000000"],
        [["--memory", "much"], "--memory much is not a size: 512MiB, 2GiB"],
        [["--csv", "--json"], "--csv and --json exclude each other"]
      ] as const
      for (const [flags, expected] of cases) {
        const { code, complaint } = yield* query(target, "SELECT 1", ...flags)
        assert.deepStrictEqual([code, complaint], [2, expected])
      }
      const memory = yield* query(
        target,
        "SELECT string_agg(repeat('x', 1000000)) FROM range(2000)",
        "--memory",
        "64MiB"
      )
      assert.strictEqual(memory.code, 1)
      assert.include(memory.complaint, "--memory raises the limit")
    })
  )

  it.effect("an archive with a file that cannot be read, by its name", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const path = pathOf("events", 4, 6)
      const file = join(target.url.slice("file://".length), path)
      writeFileSync(file, readFileSync(file).subarray(0, 500))
      const { code, complaint } = yield* query(target, "SELECT count(*) FROM events")
      assert.strictEqual(code, 1)
      assert.include(complaint, path)
      assert.strictEqual((yield* query(target, "SELECT count(*) FROM runs")).code, 0)
    })
  )

  it.effect("to run without DuckDB, with the command that installs it", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const absent = yield* Effect.provideService(query(target, "SELECT 1"), DuckDbModule, "@duckdb/node-api-absent")
      assert.strictEqual(absent.code, 1)
      assert.match(absent.complaint, /^runplane query needs DuckDB: .*npm install @duckdb\/node-api@1\.5/)
      const broken = join(yield* openFolder, "broken.mjs")
      writeFileSync(broken, "throw new Error('libstdc++ is too old')")
      const unloadable = yield* Effect.provideService(query(target, "SELECT 1"), DuckDbModule, broken)
      assert.include(unloadable.complaint, "DuckDB cannot be loaded (libstdc++ is too old)")
    })
  )
})

describe("runplane query", () => {
  it("names the version that is tested", () => {
    const catalog = readFileSync(join(import.meta.dirname, "../../../../pnpm-workspace.yaml"), "utf8")
    assert.include(catalog, `"@duckdb/node-api": ${DUCKDB_PACKAGE.split("@").at(-1)}\n`)
  })

  it.effect("copies the files of a bucket that the query names, up to a bound", () =>
    Effect.gen(function* () {
      const local = yield* openArchive
      const read: Array<string> = []
      const bucket: ArchiveTarget = {
        ...local,
        url: "s3://bucket/prefix",
        read: (path, from, to) =>
          Effect.suspend(() => {
            read.push(path)
            return local.read(path, from, to)
          })
      }
      const { rows } = yield* runQuery(bucket, "SELECT run_id FROM runs ORDER BY run_id", bounds)
      assert.deepStrictEqual(rows, [["run-1"], ["run-2"]])
      assert.isFalse(read.some((path) => path.startsWith("events/")))
      const refused = yield* Effect.flip(runQuery(bucket, "SELECT 1 FROM runs", { ...bounds, download: 100 }))
      assert.match(refused.message, /4 files of s3:\/\/bucket\/prefix with \d+ bytes, more than --max-download/)
    })
  )

  it.effect("runs again when the files were merged while it ran", () =>
    Effect.gen(function* () {
      const target = yield* openArchive
      const folder = target.url.slice("file://".length)
      yield* putRows(target, "events", [7, 7], [eventRowOf(7)])
      let lists = 0
      const merging: ArchiveTarget = {
        ...target,
        list: (prefix) =>
          Effect.gen(function* () {
            const paths = yield* target.list(prefix)
            if (prefix === "events/" && lists++ === 0) {
              yield* putRows(target, "events", [4, 7], [eventRowOf(4, { run_id: "run-2" }), eventRowOf(7)])
              for (const [from, to] of [
                [4, 6],
                [7, 7]
              ] as const)
                rmSync(join(folder, pathOf("events", from, to)))
            }
            return paths
          })
      }
      const { rows } = yield* runQuery(merging, "SELECT count(*) FROM events", bounds)
      assert.deepStrictEqual([rows, lists > 1], [[[5]], true])
    })
  )
})
