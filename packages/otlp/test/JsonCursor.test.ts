import { assert, describe, it } from "@effect/vitest"
import { runSliced } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { OTLP_LIMITS, RequestBounds } from "../src/Bounds.ts"
import { JsonCursor, JsonUnreadable } from "../src/JsonCursor.ts"
import { parsePart } from "../src/JsonCut.ts"

const encoder = new TextEncoder()

/** The members of an object, each as its text and as it is cut and parsed. */
const membersOf = (text: string, bounds = new RequestBounds(OTLP_LIMITS)) => {
  const cursor = new JsonCursor(encoder.encode(text))
  const members: Array<readonly [string, unknown]> = []
  runSliced(
    cursor.members(function* (key) {
      const part = yield* cursor.skip()
      members.push([key, (yield* parsePart(cursor.bytes, part, bounds)).value])
    })
  )
  cursor.end()
  return members
}

describe("a cursor over JSON", () => {
  it.prop(
    "finds the members that a parser finds",
    { json: Schema.Record(Schema.String, Schema.Json) },
    ({ json }) => {
      for (const space of [0, 2]) {
        const found = Object.fromEntries(membersOf(JSON.stringify(json, null, space)))
        const parsed: typeof json = JSON.parse(JSON.stringify(json))
        const short = Object.entries(parsed).filter(([key]) => JSON.stringify(key).length < 60)
        for (const [key, value] of short) if (/^[\x20-\x7e]*$/.test(key)) assert.deepStrictEqual(found[key], value)
      }
    },
    { arbitrary: { runs: 200 } }
  )

  it("fails for JSON that is cut, damaged, or nests too deep", () => {
    const text = JSON.stringify({ a: [1, { b: 'c\\"' }], d: { e: [null, true] }, f: "g" })
    assert.lengthOf(membersOf(text), 3)
    for (let end = 0; end < text.length; end++) assert.throws(() => membersOf(text.slice(0, end)), JsonUnreadable)
    for (const damaged of [`${text}}`, `${text}1`, text.replace("]", "}"), text.replace('"g"', "g"), "[]", "1", ""]) {
      assert.throws(() => membersOf(damaged), JsonUnreadable)
    }
    assert.throws(() => membersOf(`{"a":${"[".repeat(1_001)}${"]".repeat(1_001)}}`), /deeper than 1000/)
  })

  it("cuts lists by their names, counts what is left out, and keeps what follows", () => {
    const bounds = new RequestBounds(OTLP_LIMITS)
    const many = (count: number) => Array.from({ length: count }, () => ({}))
    const span = {
      attributes: many(10_000),
      events: many(9_000),
      links: [{ attributes: many(4_097) }],
      status: { code: 2, message: '[{,\\"' }
    }
    const [[, value] = []] = membersOf(JSON.stringify({ span }), bounds)
    assert.deepStrictEqual(value, {
      ...span,
      attributes: many(4_096),
      events: many(128),
      links: [{ attributes: many(4_096) }]
    })
    assert.deepStrictEqual(bounds.dropped, { groups: 0, attributes: 5_905, events: 8_872, links: 0, values: 0 })
  })
})
