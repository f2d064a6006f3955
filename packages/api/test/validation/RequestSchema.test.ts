import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { commaSeparated, integer, withDefault } from "../../src/validation/Fields.ts"
import { bodySchema, querySchema } from "../../src/validation/RequestSchema.ts"
import { violationText } from "../../src/validation/Violations.ts"

const body = bodySchema(
  Schema.Struct({ name: Schema.String.check(Schema.isMinLength(1)), note: Schema.optionalKey(Schema.String) }),
  { unknownKeys: "reject" }
)
const textOf = (value: unknown) =>
  Schema.decodeUnknownEffect(body)(value).pipe(
    Effect.flip,
    Effect.map((error) => violationText(error.issue))
  )

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])

describe("a body schema", () => {
  it.effect("carries every message to the error handler", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* textOf({ x: 1 }), [
        "property x should not exist",
        "name must be a string",
        "name should not be empty"
      ])
    })
  )

  it.effect("checks an empty body and an array as an empty object, and refuses bare values like a parser", () =>
    Effect.gen(function* () {
      for (const empty of [undefined, [], [1]]) assert.include(yield* textOf(empty), "name must be a string")
      assert.strictEqual(yield* textOf(null), `Unexpected token 'n', "null" is not valid JSON`)
      assert.strictEqual(yield* textOf(42), `Unexpected token '4', "42" is not valid JSON`)
    })
  )

  it.effect("refuses values that are nested too deeply, without a stack overflow", () =>
    Effect.gen(function* () {
      const message = ["body must not be nested deeper than 64 levels"]
      assert.deepStrictEqual(yield* textOf({ name: nested(64) }), message)
      assert.deepStrictEqual(yield* textOf(JSON.parse("[".repeat(100_000) + "]".repeat(100_000))), message)
    })
  )

  it.effect("refuses text that the database cannot hold, and keeps every other as it is", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* textOf({ name: "a\u0000b" }), ["name must not contain the character U+0000"])
      assert.deepStrictEqual(yield* textOf({ name: "n", note: "\ud800" }), [
        "note must not contain half of a surrogate pair"
      ])
      assert.deepStrictEqual(yield* textOf({ name: "n", "\u0000": 1 }), ["a key must not contain the character U+0000"])
      const kept = { name: "\u{1F600}\u0001\r\n", note: "\uFFFD" }
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(body)(kept), kept)
    })
  )

  it.effect("leaves a value as it is when a client sends it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Schema.encodeEffect(body)({ name: "n" }), { name: "n" })
    })
  )
})

describe("a query schema", () => {
  const query = querySchema({
    limit: withDefault(integer({ min: 1 }), 5),
    all: withDefault(Schema.Boolean, false),
    tags: Schema.optionalKey(commaSeparated("Tags", "a,b"))
  })

  it.effect("counts empty values as absent and ignores unknown keys", () =>
    Effect.gen(function* () {
      const decoded = yield* Schema.decodeUnknownEffect(query)({ limit: "", tags: "", other: "x" })
      assert.deepStrictEqual(decoded, { limit: 5, all: false })
    })
  )

  it.effect("decodes its own encoding", () =>
    Effect.gen(function* () {
      const value = { limit: 7, all: true, tags: ["a", "b"] }
      const encoded = yield* Schema.encodeEffect(query)(value)
      assert.deepStrictEqual(encoded, { limit: "7", all: "true", tags: "a,b" })
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(query)(encoded), value)
    })
  )
})
