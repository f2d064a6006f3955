import { assert, describe, it } from "@effect/vitest"
import { isAhead, isChangeCursor } from "../../../src/people/changes/ChangeCursor.ts"

describe("the cursor of changes", () => {
  it.each(["1:1:", "700:712:", "700:712:700,705,711", `${2n ** 64n - 2n}:${2n ** 64n - 1n}:`])("is %s", (text) => {
    assert.isTrue(isChangeCursor(text))
  })

  it.each([
    "",
    "42",
    "9:3:",
    "0:1:",
    "1:2",
    "1:2:3",
    "5:9:4",
    "5:9:9",
    "5:9:7,6",
    "5:9:7,",
    "-1:2:",
    `1:${2n ** 64n}:`
  ])("is not %s", (text) => {
    assert.isFalse(isChangeCursor(text))
  })

  it("is ahead of a database that has not begun its transactions", () => {
    assert.isTrue(isAhead("5:900:", "700:712:"))
    assert.isFalse(isAhead("700:712:", "700:712:"))
  })
})
