import { assert, describe, it } from "@effect/vitest"
import { cursorOf, isPositionValue, positionOf } from "../../../src/platform/postgres/search/PageCursor.ts"

describe("a cursor", () => {
  const position = { value: "2026-07-01T10:00:00.000000Z", id: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10" }

  it("restores the position, in its own order alone", () => {
    const cursor = cursorOf("runs createdAt desc", position)
    assert.match(cursor, /^[\w-]+$/)
    assert.deepStrictEqual(positionOf("runs createdAt desc", cursor), position)
    assert.isUndefined(positionOf("runs createdAt asc", cursor))
    assert.isUndefined(positionOf("audit createdAt desc", cursor))
  })

  for (const text of ["", "x", "bnVsbA", Buffer.from('["a","b"]').toString("base64url"), "\u0000", "%"]) {
    it(`rejects another text: ${JSON.stringify(text)}`, () => assert.isUndefined(positionOf("a", text)))
  }

  it("has values that the database can read", () => {
    assert.isTrue(isPositionValue.time(position.value))
    for (const text of ["2026-13-01T10:00:00.000000Z", "now", "0000-01-01T00:00:00.000000Z", ""]) {
      assert.isFalse(isPositionValue.time(text), text)
    }
    for (const text of ["0", "-1", "0.0125", "NaN", "Infinity"]) assert.isTrue(isPositionValue.number(text), text)
    for (const text of ["", "1e9", "1;2", "--1", "1.", "0x1"]) assert.isFalse(isPositionValue.number(text), text)
    assert.deepStrictEqual(["1", "-1", "9999999999", "1.5"].map(isPositionValue.integer), [true, false, false, false])
  })
})
