import { assert, describe, it } from "@effect/vitest"
import { accessesOf, isAllowed, tableFaults } from "../../../../scripts/tables.mjs"

const TABLES = new Map([
  ["runs", "event-log"],
  ["marks", "marks"]
])

describe("the check of tables", () => {
  it("finds reads and writes in SQL, and none in comments", () => {
    const text = `
      /** Reads FROM marks. */
      // UPDATE marks
      sql\`SELECT FROM runs r JOIN marks m ON m.run_id = r.id WHERE r.id IN (DELETE FROM marks RETURNING run_id)\`
      sql\`INSERT INTO runs (id) SELECT id FROM other\`
      sql\`UPDATE marks SET number = 1\``
    assert.deepStrictEqual(accessesOf(text, TABLES), [
      { table: "runs", isWrite: false },
      { table: "marks", isWrite: false },
      { table: "marks", isWrite: true },
      { table: "runs", isWrite: true },
      { table: "marks", isWrite: true }
    ])
  })

  it("allows the owner everything, and folders above it to read", () => {
    assert.isTrue(isAllowed("event-log", "event-log", true))
    assert.isTrue(isAllowed("queries", "event-log", false))
    assert.isFalse(isAllowed("queries", "event-log", true))
    assert.isFalse(isAllowed("platform", "event-log", false))
    assert.isFalse(isAllowed("features/alerts", "features/webhooks", false))
    assert.isTrue(isAllowed("features/alerts", "marks", false))
  })

  it("finds no access against the order", () => {
    assert.deepStrictEqual(tableFaults(), [])
  })
})
