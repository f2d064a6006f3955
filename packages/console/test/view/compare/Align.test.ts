import { assert, describe, it } from "@effect/vitest"
import { align } from "../../../src/view/compare/Align.ts"

describe("two lists side by side", () => {
  const rows = (left: string, right: string) =>
    align([...left], [...right]).map(
      (row) => `${row.left === undefined ? "-" : left[row.left]}${row.right === undefined ? "-" : right[row.right]}`
    )

  it("puts what is equal in one row, in order, and loses nothing", () => {
    assert.deepStrictEqual(rows("abc", "abc"), ["aa", "bb", "cc"])
    assert.deepStrictEqual(rows("abd", "acd"), ["aa", "b-", "-c", "dd"])
    assert.deepStrictEqual(rows("", "ab"), ["-a", "-b"])
  })

  it("has every entry of both exactly once, in order", () => {
    const left = [..."proposalvoteobjectvote"]
    const right = [..."propvotevoteobjectionend"]
    const aligned = align(left, right)
    const offsets = (side: "left" | "right") => aligned.flatMap((row) => row[side] ?? [])
    assert.deepStrictEqual(
      offsets("left"),
      left.map((_, at) => at)
    )
    assert.deepStrictEqual(
      offsets("right"),
      right.map((_, at) => at)
    )
  })
})
