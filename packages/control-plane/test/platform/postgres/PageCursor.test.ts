import { assert, describe, it } from "@effect/vitest"
import { cursorOf, isPlaceValue, placeOf } from "../../../src/platform/postgres/search/PageCursor.ts"

describe("a cursor", () => {
  const place = { value: "2026-07-01T10:00:00.000000Z", id: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10" }

  it("restores the position, in its own order alone", () => {
    const cursor = cursorOf("runs createdAt desc", place)
    assert.match(cursor, /^[\w-]+$/)
    assert.deepStrictEqual(placeOf("runs createdAt desc", cursor), place)
    assert.isUndefined(placeOf("runs createdAt asc", cursor))
    assert.isUndefined(placeOf("audit createdAt desc", cursor))
  })

  for (const text of ["", "x", "bnVsbA", Buffer.from('["a","b"]').toString("base64url"), "\u0000", "%"]) {
    it(`rejects another text: ${JSON.stringify(text)}`, () => assert.isUndefined(placeOf("a", text)))
  }

  it("has values that the database can read", () => {
    assert.isTrue(isPlaceValue.time(place.value))
    for (const text of ["2026-13-01T10:00:00.000000Z", "now", "0000-01-01T00:00:00.000000Z", ""]) {
      assert.isFalse(isPlaceValue.time(text), text)
    }
    for (const text of ["0", "-1", "0.0125", "NaN", "Infinity"]) assert.isTrue(isPlaceValue.number(text), text)
    for (const text of ["", "1e9", "1;2", "--1", "1.", "0x1"]) assert.isFalse(isPlaceValue.number(text), text)
    assert.deepStrictEqual(["1", "-1", "9999999999", "1.5"].map(isPlaceValue.integer), [true, false, false, false])
  })
})
