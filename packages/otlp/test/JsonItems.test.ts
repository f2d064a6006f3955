import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { JsonUnreadable, splitJson } from "../src/JsonItems.ts"

const encoder = new TextEncoder()

/** The slices of a text, and how often the thread could have been given back. */
const split = (text: string) => {
  const slices = splitJson(encoder.encode(text), "spans", 2_000)
  for (let pauses = 0; ; pauses++) {
    const { done, value } = slices.next()
    if (done === true) return { ...value, pauses }
  }
}

const requestOf = (spans: ReadonlyArray<unknown>, more: object = {}) => ({
  ...more,
  resourceSpans: [{ resource: more, scopeSpans: [{ scope: { name: "s" }, spans }] }]
})

describe("a request in JSON", () => {
  it.prop(
    "is split into the spans that a parser finds",
    { json: Schema.Json, spans: Schema.Array(Schema.Record(Schema.String, Schema.Json)) },
    ({ json, spans }) => {
      for (const space of [0, 2]) {
        const text = JSON.stringify(requestOf(spans, { spans: [json], x: [[[[[json]]]]] }), null, space)
        const { body, take } = split(text)
        const numbers = spans.map((_, number) => number)
        assert.deepStrictEqual(
          body,
          JSON.parse(JSON.stringify(requestOf(numbers, { spans: [json], x: [[[[[json]]]]] })))
        )
        assert.deepStrictEqual(numbers.map(take), JSON.parse(JSON.stringify(spans)))
      }
    },
    { arbitrary: { runs: 200 } }
  )

  it("gives each span once, and none for a number of the sender", () => {
    const { body, take } = split(JSON.stringify(requestOf([0, { name: '"}]{[\\' }, 7])))
    assert.deepStrictEqual(body, requestOf([0, 0, 7]))
    assert.deepStrictEqual([take(0), take(0), take(7)], [{ name: '"}]{[\\' }, undefined, undefined])
  })

  it("is unreadable when it is cut, damaged, or nests too deep", () => {
    const text = JSON.stringify(requestOf([{ name: "a" }]))
    for (let end = 0; end < text.length; end++) assert.throws(() => split(text.slice(0, end)), JsonUnreadable)
    assert.throws(() => split("[".repeat(1_001) + "]".repeat(1_001)), /deeper than 1000/)
    const { take } = split(text.replace('"a"', "a"))
    assert.throws(() => take(0), JsonUnreadable)
  })

  it("has no more spans than its bound", () => {
    const { body, take } = split(JSON.stringify(requestOf(Array.from({ length: 2_002 }, () => ({ name: "a" })))))
    assert.deepStrictEqual(body, requestOf([...Array.from({ length: 2_000 }, (_, number) => number), -1, -1]))
    assert.deepStrictEqual([take(1_999), take(-1)], [{ name: "a" }, undefined])
  })

  it("of megabytes gives the thread back meanwhile", () => {
    const spans = Array.from({ length: 2_000 }, () => ({ name: "n".repeat(1_000) }))
    assert.isAtLeast(split(JSON.stringify(requestOf(spans))).pauses, 20)
  })
})
