import { assert, describe, it } from "@effect/vitest"
import { jsonLines, jsonMatches, jsonParents, valueAt } from "../../../src/view/format/JsonLines.ts"

describe("JSON as lines", () => {
  const value = { a: [1, "two", null], "b/c": { deep: true }, empty: {}, long: "x".repeat(1_000) }

  it("writes every value on its line, and finds each again by its pointer", () => {
    const lines = jsonLines(value, () => false)
    assert.strictEqual(lines.length, 12)
    assert.strictEqual(lines.find(({ name }) => name === "long")?.leftOut, 700)
    for (const { pointer } of lines) assert.notStrictEqual(valueAt(value, pointer), undefined)
    assert.strictEqual(valueAt(value, "/b~1c/deep"), true)
    assert.isUndefined(valueAt(value, "/nowhere/else"))
  })

  it("is searched by names and values, closed members too, and opens around what it finds", () => {
    const text = { votes: [{ by: "Ana", reason: "warm" }, { by: "bob" }], "a/b": { ana: 1 }, none: undefined }
    const found = jsonMatches(text, "ANA")
    assert.deepStrictEqual(found, ["/votes/0/by", "/a~1b/ana"])
    for (const pointer of found) assert.notStrictEqual(valueAt(text, pointer), undefined)
    assert.deepStrictEqual([...jsonParents(found)].toSorted(), ["", "/a~1b", "/votes", "/votes/0"])
    assert.deepStrictEqual(jsonMatches(text, ""), [])
    assert.deepStrictEqual(jsonMatches(text, "none"), [])
    assert.deepStrictEqual(jsonMatches("warm", "arm"), [""])
    assert.lengthOf(
      jsonMatches(
        Array.from({ length: 5_000 }, (_, number) => String(number)),
        "1"
      ),
      1_000
    )
  })

  it("leaves out members that are not there", () => {
    const lines = jsonLines({ here: 1, absent: undefined }, () => false)
    assert.deepStrictEqual(
      lines.map(({ name }) => name),
      [undefined, "here", undefined]
    )
  })

  it("writes what is closed on one line", () => {
    const lines = jsonLines(value, (pointer) => pointer === "/a")
    assert.strictEqual(lines.find(({ pointer }) => pointer === "/a")?.text, "[ 3 items ]")
  })

  it("takes any depth", () => {
    let deep: unknown = 1
    for (let level = 0; level < 20_000; level++) deep = [deep]
    assert.strictEqual(jsonLines(deep, () => false).length, 40_001)
  })
})
