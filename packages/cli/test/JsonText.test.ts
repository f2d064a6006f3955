import { assert, describe, it } from "@effect/vitest"
import { jsonText } from "../src/JsonText.ts"

describe("JSON on a terminal", () => {
  const value = { "\u202ekey": ["\u009b31m\u0007", "\u2066x\u2069", "a\nb\u2028\u007f", "سلام 👩‍👩‍👧"] }

  it.each([undefined, 2])("escapes controls and direction marks, and means the same (indent %s)", (indent) => {
    const text = jsonText(value, indent)
    assert.notMatch(text, /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u)
    assert.deepStrictEqual(JSON.parse(text), value)
    assert.include(text, "سلام 👩‍👩‍👧")
    assert.strictEqual(text.split("\n").length, indent === undefined ? 1 : 8)
  })
})
