import { assert, describe, it } from "@effect/vitest"
import { visibleText } from "@runplane/domain"

describe("visibleText", () => {
  for (const [what, text, visible] of [
    ["line breaks", "a\nb\r\nc\td", "a\\nb\\r\\nc\\td"],
    ["terminal escapes", "\u001b[31mred\u0007", "\\u001b[31mred\\u0007"],
    ["C1 controls and DEL", "a\u009b31m\u0085b\u007f", "a\\u009b31m\\u0085b\\u007f"],
    ["line separators", "a\u2028b\u2029c", "a\\u2028b\\u2029c"],
    [
      "direction marks",
      "\u202egnp.exe\u202c\u2066x\u2069\u200f\u061c",
      "\\u202egnp.exe\\u202c\\u2066x\\u2069\\u200f\\u061c"
    ],
    ["NUL", "a\0b", "a\\u0000b"]
  ] as const) {
    it(`escapes ${what}`, () => assert.strictEqual(visibleText(text), visible))
  }

  it("leaves other text as it is", () => {
    for (const text of ["", "policy 'x' = \"y\" \\n", "é e\u0301 日本語 سلام 👩‍👩‍👧 a\u00a0b"]) {
      assert.strictEqual(visibleText(text), text)
    }
  })

  it("keeps the meaning of JSON", () => {
    const text = "a\u0085\u202e\u2028\n\u001b"
    assert.deepStrictEqual(JSON.parse(visibleText(JSON.stringify({ text }))), { text })
  })
})
