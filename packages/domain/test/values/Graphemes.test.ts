import { assert, describe, it } from "@effect/vitest"
import { firstGraphemes, graphemesOf, wholeStart } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"

const FAMILY = "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}\u200d\u{1F466}"
const E_ACUTE = "e\u0301"

describe("graphemes", () => {
  it.each([
    ["emoji of several people", `a${FAMILY}b`, ["a", FAMILY, "b"]],
    ["letters with combining marks", `${E_ACUTE}x`, [E_ACUTE, "x"]],
    ["Japanese", "日本", ["日", "本"]],
    ["flags", "\u{1F1EF}\u{1F1F5}\u{1F1EE}\u{1F1F7}", ["\u{1F1EF}\u{1F1F5}", "\u{1F1EE}\u{1F1F7}"]],
    ["Persian with its joiner", "می\u200cرود", ["م", "ی\u200c", "ر", "و", "د"]]
  ])("are found in %s", (_, text, graphemes) => {
    assert.deepStrictEqual([...graphemesOf(text)], graphemes)
  })

  it("stay whole at the end of a start", () => {
    assert.strictEqual(wholeStart(`ab${FAMILY}`, 5), "ab")
    assert.strictEqual(wholeStart(`ab${FAMILY}`, 2 + FAMILY.length), `ab${FAMILY}`)
    assert.strictEqual(firstGraphemes(`${FAMILY}${E_ACUTE}x`, 2), `${FAMILY}${E_ACUTE}`)
  })

  it("are cut where they are piles of marks", () => {
    const pile = `a${"\u0301".repeat(10_000)}`
    assert.strictEqual(wholeStart(pile, 500).length, 500)
    assert.isAtMost(firstGraphemes(pile, 3).length, 192)
  })

  const Piece = ["a", " ", "日", FAMILY, E_ACUTE, "\u{1F600}", "می\u200cرود", "\ud83d", "\u0301\u0301"]
  const text = Arbitrary.map(Arbitrary.array(pick(Piece)), (pieces) => pieces.join(""))
  const most = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })))
  it.prop("a start is a start, within its bound, of whole graphemes", { text, most }, ({ most, text }) => {
    const whole = [...graphemesOf(text)]
    const starts = [wholeStart(text, most), firstGraphemes(text, most)]
    for (const start of starts) assert.isTrue(text.startsWith(start))
    assert.isAtMost(starts[0]?.length ?? 0, most)
    assert.strictEqual(starts[1], whole.slice(0, most).join(""))
    for (const start of starts) {
      const count = [...graphemesOf(start)].length
      assert.strictEqual(whole.slice(0, count).join(""), start)
    }
  })
})
