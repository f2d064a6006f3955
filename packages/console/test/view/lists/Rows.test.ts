import { assert, describe, it } from "@effect/vitest"
import { rowsInView } from "../../../src/view/lists/Rows.ts"

describe("rows in view", () => {
  it("are those between the edges and a few beyond, within the list", () => {
    assert.deepStrictEqual(rowsInView(0, 400, 40, 1_000, 2), { first: 0, last: 12 })
    assert.deepStrictEqual(rowsInView(4_000, 400, 40, 1_000, 2), { first: 98, last: 112 })
    assert.deepStrictEqual(rowsInView(40_000, 400, 40, 20, 2), { first: 20, last: 20 })
    assert.deepStrictEqual(rowsInView(0, 400, 40, 0, 2), { first: 0, last: 0 })
  })
})
