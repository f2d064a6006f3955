import { assert, describe, it } from "@effect/vitest"
import { because, plainText } from "../src/narrative/PlainText.ts"
import { tableLines } from "../src/Table.ts"
import { cutToWidth, padToWidth, widthOf } from "../src/TextWidth.ts"

const FAMILY = "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}\u200d\u{1F466}"
const PERSIAN = "می\u200cرود"
const TEXTS = ["plain", "日本語の提案", PERSIAN, `${FAMILY} family`, "cafe\u0301", "\u{1F1EF}\u{1F1F5} flag", "한국어"]

describe("the width of a text", () => {
  it.each([
    ["plain", 5],
    ["日本語", 6],
    [FAMILY, 2],
    [PERSIAN, 5],
    ["cafe\u0301", 4],
    ["\u{1F1EF}\u{1F1F5}", 2],
    ["", 0]
  ])("of %s is %d columns", (text, width) => {
    assert.strictEqual(widthOf(text), width)
    assert.strictEqual(widthOf(padToWidth(text, 12)), 12)
  })

  it.each([
    ["日本語の提案", 7, "日本語…"],
    ["日本語の提案", 6, "日本…"],
    [`ab${FAMILY}cd`, 4, "ab…"],
    [`ab${FAMILY}cd`, 5, `ab${FAMILY}…`],
    ["cafe\u0301s", 5, "cafe\u0301s"],
    ["cafe\u0301se", 5, "cafe\u0301…"],
    [`${PERSIAN} ${PERSIAN}`, 6, `${PERSIAN}…`]
  ])("cuts %s at %d columns by whole characters", (text, width, expected) => {
    assert.strictEqual(cutToWidth(text, width), expected)
    assert.isAtMost(widthOf(expected), width)
  })

  it("cuts a text without end", () => {
    assert.strictEqual(cutToWidth("日".repeat(1_000_000), 9), "日日日日…")
    assert.isAtMost(cutToWidth(`a${"\u0301".repeat(1_000_000)}`, 9).length, 300)
  })
})

describe("text of others", () => {
  it("keeps the joiners of Persian words and of emoji, and no mark that turns the line around", () => {
    assert.strictEqual(plainText(`${PERSIAN} ${FAMILY}`), `${PERSIAN} ${FAMILY}`)
    assert.strictEqual(plainText(`a\u202e${PERSIAN}\u2066b`), `a ${PERSIAN} b`)
    assert.strictEqual(plainText("\u200b\ufeff x \u001b[31m"), "x [31m")
  })

  it("is a reason cut by columns", () => {
    assert.strictEqual(because("日".repeat(55)), `: ${"日".repeat(55)}`)
    assert.strictEqual(because("日".repeat(56)), `: ${"日".repeat(54)}…`)
  })
})

describe("a table of texts in many scripts", () => {
  const columns = [
    { title: "ABOUT", text: (about: string) => about, elastic: true },
    { title: "ID", text: () => "id" }
  ]

  it.each([80, 20, 14])("has its columns under each other in %d columns", (width) => {
    const [title = "", ...lines] = tableLines(columns, TEXTS, width)
    const at = widthOf(title) - 2
    for (const line of lines) {
      assert.isTrue(line.endsWith("id"))
      assert.strictEqual(widthOf(line.slice(0, -2)), at, line)
      assert.isAtMost(widthOf(line), width)
    }
  })
})
