import { assert, describe, it } from "@effect/vitest"
import { queryValue, suggestionsAt } from "../../../src/view/query/QueryCompletion.ts"

const FIELDS = [
  { name: "status", description: "Status of the run", values: ["failed", "completed"] },
  { name: "startedAt", description: "When it started" },
  { name: "metadata", description: "A member", dotted: true }
]
const inserts = (text: string) => suggestionsAt(text, text.length, FIELDS).options.map(({ insert }) => insert)

describe("completion of a search", () => {
  it("offers names, the ones that begin so first", () => {
    assert.deepStrictEqual(inserts("st"), ["status:", "startedAt:"])
    assert.deepStrictEqual(inserts("status:failed -meta"), ["metadata."])
  })

  it("offers the values of a field, in lists too", () => {
    assert.deepStrictEqual(inserts("status:"), ["failed", "completed"])
    assert.deepStrictEqual(inserts("status:(failed,com"), ["completed"])
    assert.deepStrictEqual(inserts("has:meta"), ["metadata"])
    assert.deepStrictEqual(inserts("startedAt:"), [])
  })

  it("replaces the word at the cursor only", () => {
    const { from, to } = suggestionsAt("sta failover", 3, FIELDS)
    assert.deepStrictEqual([from, to], [0, 3])
  })

  it("quotes what is more than a word", () => {
    assert.strictEqual(queryValue("incident/failover@1.0.0"), "incident/failover@1.0.0")
    assert.strictEqual(queryValue('a "b"'), '"a \\"b\\""')
    assert.strictEqual(queryValue("1..2"), '"1..2"')
  })
})
