import { assert, describe, it } from "@effect/vitest"
import { accessesOf, isAllowed } from "../../src/tables/TableAccess.ts"

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
    assert.deepStrictEqual(accessesOf(text, new Set(["runs", "marks"])), [
      { table: "runs", isWrite: false },
      { table: "marks", isWrite: false },
      { table: "marks", isWrite: true },
      { table: "runs", isWrite: true },
      { table: "marks", isWrite: true },
      { table: "marks", isWrite: false },
      { table: "runs", isWrite: true }
    ])
  })

  it.each([
    ["everything", "event-log", "event-log", true, true],
    ["reads of a folder that it imports", "queries", "event-log", false, true],
    ["reads that the declaration names", "queries", "reactors", false, true],
    ["reads of the core, to a feature", "features/alerts", "marks", false, true],
    ["no write of another folder", "queries", "event-log", true, false],
    ["no read of a folder above", "platform", "event-log", false, false],
    ["no read of another feature", "features/alerts", "features/webhooks", false, false],
    ["no read beside it", "marks", "runs", false, false]
  ])("allows %s: %s of a table of %s", (_, folder, owner, isWrite, expected) => {
    assert.strictEqual(isAllowed(folder, owner, isWrite), expected)
  })
})
