import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ownCitations } from "../../src/documents/Citations.ts"

describe("the check of citations", () => {
  it("reports pages and sections that do not exist", () => {
    // In parts, because the check reads this file too.
    const [page, absent] = [join("docs", "reference/runs.md"), join("docs", "internals/none.md")]
    const lines = [`see ${page}#cancel`, `${page}#nothing`, `(${absent})`]
    assert.deepStrictEqual(lines.flatMap(ownCitations), [
      undefined,
      `${page} has no anchor nothing`,
      `${absent} does not exist`
    ])
  })
})
