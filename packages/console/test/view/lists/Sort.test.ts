import { assert, describe, it } from "@effect/vitest"
import { nextOrder, sortedBy } from "../../../src/view/lists/Sort.ts"

const rows = [
  { name: "b", cost: 2 },
  { name: "a", cost: undefined },
  { name: "c", cost: 10 },
  { name: "d", cost: 2 }
]

describe("the order of a table", () => {
  it("sorts numbers and texts, with rows without a value at the end, and equal ones as they were", () => {
    const names = (isDescending: boolean) =>
      sortedBy(rows, ({ cost }) => cost, isDescending)
        .map(({ name }) => name)
        .join("")
    assert.strictEqual(names(true), "cbda")
    assert.strictEqual(names(false), "bdca")
    assert.strictEqual(
      sortedBy(rows, ({ name }) => name, false)
        .map(({ name }) => name)
        .join(""),
      "abcd"
    )
  })

  it("begins with the most of a number and the first letter of a text, and turns around", () => {
    const first = nextOrder(undefined, { title: "Cost" }, 3)
    assert.deepStrictEqual(first, { title: "Cost", isDescending: true })
    assert.deepStrictEqual(nextOrder(first, { title: "Cost" }, 3), { title: "Cost", isDescending: false })
    assert.deepStrictEqual(nextOrder(first, { title: "Name" }, "a"), { title: "Name", isDescending: false })
    const least = nextOrder(undefined, { title: "Right", leastFirst: true }, 0.5)
    assert.deepStrictEqual(least, { title: "Right", isDescending: false })
  })
})
