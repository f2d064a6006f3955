import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { ROOT } from "../support/DocumentBlocks.ts"

/** The value of an expression over the exports of the check. */
const evaluated = (expression: string): unknown => {
  const program = `import { accessesOf, isAllowed } from "./scripts/tables.mjs"
    console.log(JSON.stringify(${expression}))`
  const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: ROOT,
    encoding: "utf8"
  })
  assert.strictEqual(status, 0, stderr)
  return JSON.parse(stdout)
}

describe("the check of tables", () => {
  it("finds reads and writes in SQL, and none in comments", () => {
    const text = [
      "/** Reads FROM marks. */",
      "// UPDATE marks",
      "SELECT FROM runs r JOIN marks m ON m.run_id = r.id WHERE r.id IN (DELETE FROM marks RETURNING run_id)",
      "INSERT INTO runs (id) SELECT id FROM other",
      "UPDATE marks SET number = 1",
      "readPage(sql, { from: sql`marks m` })",
      'makeLeasedRows<Row>(sql, { table: "runs" })'
    ].join("\n")
    const tables = `new Map([["runs", "event-log"], ["marks", "marks"]])`
    assert.deepStrictEqual(evaluated(`accessesOf(${JSON.stringify(text)}, ${tables})`), [
      { table: "runs", isWrite: false },
      { table: "marks", isWrite: false },
      { table: "marks", isWrite: true },
      { table: "runs", isWrite: true },
      { table: "marks", isWrite: true },
      { table: "marks", isWrite: false },
      { table: "runs", isWrite: true }
    ])
  })

  it("allows the owner everything, and folders above it to read", () => {
    const cases = [
      ["event-log", "event-log", true],
      ["queries", "event-log", false],
      ["queries", "event-log", true],
      ["platform", "event-log", false],
      ["features/alerts", "features/webhooks", false],
      ["features/alerts", "marks", false]
    ]
    assert.deepStrictEqual(evaluated(`${JSON.stringify(cases)}.map((each) => isAllowed(...each))`), [
      ...[true, true, false],
      ...[false, false, true]
    ])
  })
})
