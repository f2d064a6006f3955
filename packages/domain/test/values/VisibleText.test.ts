import { assert, describe, it } from "@effect/vitest"
import { shownText, visibleText } from "@runplane/domain"

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

// docs/reference/mcp.md#bounds
describe("shownText", () => {
  it.each([
    ["controls and escapes of terminals", "a\u0000b\u001b[31mc\u009b", "ab[31mc"],
    ["direction marks and soft hyphens", "\u202eab\u00adc\u2066", "abc"],
    ["tags and variation selectors that hide letters", "a\u{e0041}\u{e0100}\ufe01b", "ab"],
    ["joiners between letters that need none", "p\u200dass\u200cword", "password"],
    ["halves of pairs", "a\ud800b", "ab"],
    ["line breaks and tabs, which become spaces", "a\r\nb\tc\u2028d", "a b c d"]
  ])("leaves out %s", (_, text, shown) => {
    assert.strictEqual(shownText(text), shown)
  })

  it.each([
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
    "\u2764\ufe0f 1\ufe0f\u20e3",
    "gr\u00fc\u00dfe \u2014 ok"
  ])("keeps %j", (text) => {
    assert.strictEqual(shownText(text), text)
  })

  it("keeps lines and tabs where a text may have several", () => {
    assert.strictEqual(shownText("a\r\nb\tc\u2029d\u0007", { lines: true }), "a\nb\tc\nd")
  })

  it("repeats no selector, so that a text of them carries nothing", () => {
    assert.strictEqual(shownText(`\u2764${"\ufe0f\ufe0e".repeat(50)}`), "\u2764\ufe0f")
  })
})
