import { assert, describe, it } from "@effect/vitest"
import { valuesIn, withValues } from "../../../src/view/query/QueryEdit.ts"

describe("a facet of a search", () => {
  it("reads its own condition and no other", () => {
    assert.deepStrictEqual(valuesIn("status:failed cost:>1", "status"), ["failed"])
    assert.deepStrictEqual(valuesIn("status:(failed, cancelled)", "status"), ["failed", "cancelled"])
    assert.deepStrictEqual(valuesIn("-status:failed", "status"), [])
    assert.deepStrictEqual(valuesIn("(status:failed OR has:cost)", "status"), [])
    assert.deepStrictEqual(valuesIn('environment:"eu west"', "environment"), ["eu west"])
  })

  it("changes its condition and leaves the rest", () => {
    assert.strictEqual(withValues("cost:>1", "status", ["failed"]), "cost:>1 status:failed")
    assert.strictEqual(
      withValues("status:failed cost:>1", "status", ["failed", "cancelled"]),
      "status:(failed,cancelled) cost:>1"
    )
    assert.strictEqual(withValues("status:failed cost:>1", "status", []), "cost:>1")
    assert.strictEqual(
      withValues("(status:failed OR x)", "status", ["completed"]),
      "(status:failed OR x) status:completed"
    )
  })
})
