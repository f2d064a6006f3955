import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { isIdentifier } from "../src/Identifier.ts"
import { type Answer, bytesOf, fitRow, MAX_ROW_BYTES, MAX_TEXT, shape, within } from "../src/Shape.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const object = Schema.Record(Schema.String, Schema.Json)

const drawn = Schema.Struct({
  facts: object,
  item: Schema.Struct({ row: object, text: Schema.String, repeat: between(0, 2_000) }),
  items: between(0, 200),
  said: between(0, 60),
  widened: between(0, 400),
  omitted: between(0, 1_000),
  maxBytes: between(20_000, 60_000)
})

/** An answer of any size: the drawn values, repeated. */
const answerOf = ({ facts, item, items, omitted, said, widened }: typeof drawn.Type): Answer => {
  const text = `é${item.text}`.repeat(item.repeat)
  const texts = [{ of: item.row, text }]
  return {
    facts: { ...facts, list: Array.from({ length: widened }, () => ({ ...item.row, text })) },
    items: Array.from({ length: items }, (_, index) => ({
      row: { ...item.row, text, index },
      said: texts,
      cursor: index
    })),
    said: Array.from({ length: said }, () => ({ of: item.row, text })),
    omitted,
    nextCursor: "end",
    rest: "run_events"
  }
}

// docs/reference/mcp.md#bounds
describe("an answer", () => {
  it.prop(
    "stays within its bytes, text and structured part together, and accounts for all entries",
    { drawn },
    ({ drawn }) => {
      const answer = answerOf(drawn)
      const shaped = shape(answer, drawn.maxBytes)
      assert.isAtMost(2 * bytesOf(shaped), drawn.maxBytes)
      const { nextCursor, omitted = 0, rows, said: all = [] } = shaped
      assert.isTrue(Array.isArray(rows) && Array.isArray(all))
      if (!Array.isArray(rows) || !Array.isArray(all)) return
      const said = all.filter((entry) => Object(entry)["alias"] === undefined)
      for (const row of rows) assert.isAtMost(bytesOf(row), MAX_ROW_BYTES)
      for (const entry of said) assert.isAtMost(String(Object(entry)["text"]).length, MAX_TEXT)
      const loose = said.length - rows.length
      assert.strictEqual(omitted, drawn.omitted + drawn.items - rows.length + drawn.said - loose)
      // The next page begins behind the last row, or behind the whole page.
      const isWhole = rows.length === drawn.items
      assert.strictEqual(nextCursor, isWhole ? "end" : rows.length - 1)
    }
  )

  it.prop(
    "has rows within their bytes, whatever they hold",
    { row: object, repeat: between(1, 3_000) },
    ({ repeat, row }) => {
      assert.isAtMost(bytesOf(fitRow({ ...row, "\u{1F600}": "\u{1F600}".repeat(repeat) })), MAX_ROW_BYTES)
    }
  )

  it.prop(
    "keeps what fits as it is",
    { facts: Schema.Struct({ id: Schema.String.check(Schema.isMaxLength(20)) }) },
    ({ facts }) => {
      const { id } = facts
      const shaped = shape({ facts, rest: "run_get" }, 20_000)
      if (isIdentifier(id)) assert.deepStrictEqual(shaped, facts)
      else assert.deepInclude(shaped, { id: "said-1" })
    }
  )

  it("begins with facts and ends with the texts of agents, each cut with the tool that has the rest", () => {
    const long = "x".repeat(600)
    const shaped = shape(
      {
        facts: { total: 3 },
        items: [{ row: { id: "a" }, said: [{ of: { by: "risk" }, text: long }], cursor: 7 }],
        nextCursor: 7,
        omitted: 2,
        rest: "run_events"
      },
      40_000
    )
    assert.deepStrictEqual(Object.keys(shaped), ["total", "rows", "nextCursor", "omitted", "said"])
    assert.deepStrictEqual(shaped["said"], [{ by: "risk", text: "x".repeat(500), cut: true, rest: "run_events" }])
  })

  it("says how many entries of a list it left out", () => {
    const shaped = within({ ids: Array.from({ length: 80 }, (_, index) => index) }, 10_000)
    assert.strictEqual(shaped["idsOmitted"], 30)
  })
})
