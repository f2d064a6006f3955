import { assert, describe, it } from "@effect/vitest"
import { sharedNames } from "../../src/sizes/SharedNames.ts"
import { generatorsOf, oversized } from "../../src/sizes/Sizes.ts"

const reason = "a test"

describe("the check of sizes", () => {
  it("accepts the bound, and reports what exceeds it", () => {
    const sizes = [
      { path: "a", value: 10 },
      { path: "b", value: 11 }
    ]
    assert.deepStrictEqual(oversized(sizes, 10, [], "lines"), ["b has 11 lines, more than 10"])
  })

  it("accepts an exception up to its own bound", () => {
    const exceptions = [{ path: "a", atMost: 15, reason }]
    assert.deepStrictEqual(oversized([{ path: "a", value: 15 }], 10, exceptions, "lines"), [])
    assert.deepStrictEqual(oversized([{ path: "a", value: 16 }], 10, exceptions, "lines"), [
      "a has 16 lines, more than 15"
    ])
  })

  it.each([
    ["a file within the bound", [{ path: "a", value: 10 }]],
    ["a file that does not exist", []]
  ])("reports the exception of %s", (_, sizes) => {
    assert.deepStrictEqual(oversized(sizes, 10, [{ path: "a", atMost: 15, reason }], "lines"), [
      "a has at most 10 lines: remove its exception"
    ])
  })

  it("counts the lines of each generator, nested ones too", () => {
    const text = [
      "const outer = Effect.gen(function* () {",
      "  const inner = Effect.fnUntraced(function* (id) {",
      "    yield* read(id)",
      "  })",
      "  return inner",
      "}).pipe(",
      "  Effect.orDie",
      ")",
      "const short = Effect.gen(function* () { return 1 })"
    ].join("\n")
    assert.deepStrictEqual(generatorsOf(text), [4, 1])
  })

  it("finds a name that several files of a package have", () => {
    const files = [
      ...["packages/one/src/a/Rows.ts", "packages/one/test/support/Rows.ts", "packages/two/src/Rows.ts"],
      ...["packages/one/src/index.ts", "packages/one/src/a/index.ts", "scripts/build/Rows.ts"]
    ]
    assert.deepStrictEqual([...sharedNames(files)], [["one/Rows.ts", files.slice(0, 2)]])
  })
})
