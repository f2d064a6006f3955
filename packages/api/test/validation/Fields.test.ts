import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { integer, numberAtLeast, uuid } from "../../src/validation/Fields.ts"
import { bodySchema, querySchema } from "../../src/validation/RequestSchema.ts"
import { decode } from "../support/Decode.ts"

const body = <A>(n: Schema.Codec<A, unknown>) => bodySchema(Schema.Struct({ n }), { unknownKeys: "reject" })
const query = <A>(n: Schema.Codec<A, unknown>) => querySchema({ n })

const check = <A>(schema: Schema.Codec<{ readonly n: A }, unknown>, n: unknown) => {
  const { messages, value } = decode(schema, { n })
  return value === undefined ? messages : value.n
}

const SMALL = "n must not be less than 1"
const INTEGER = "n must be an integer number"
const NUMBER = "n must be a number conforming to the specified constraints"

describe("fields of numbers and ids", () => {
  for (const [name, schema, value, expected] of [
    ["an integer", body(integer({ min: 1 })), 1, 1],
    ["an integer", body(integer({ min: 1 })), 0, [SMALL]],
    ["an integer", body(integer({ min: 1 })), 1.5, [INTEGER]],
    ["an integer", body(integer({ min: 1 })), "1", [SMALL, INTEGER]],
    ["an integer", body(integer({ min: 1 })), undefined, [SMALL, INTEGER]],
    ["a number", body(numberAtLeast(1)), 1.5, 1.5],
    ["a number", body(numberAtLeast(1)), 0.5, [SMALL]],
    ["a number", body(numberAtLeast(1)), "2", [SMALL, NUMBER]],
    ["a number of a query", query(numberAtLeast(1)), "1.5", 1.5],
    ["a number of a query", query(numberAtLeast(1)), "0", [SMALL]],
    ["a number of a query", query(numberAtLeast(1)), "Infinity", [NUMBER]],
    ["a number of a query", query(numberAtLeast(1)), "x", [SMALL, NUMBER]],
    ["a number of a query", query(numberAtLeast(1)), " ", [SMALL, NUMBER]],
    ["a number of a query", query(numberAtLeast(1)), ["1", "2"], [SMALL, NUMBER]],
    [
      "a UUID of a query",
      query(uuid("An id")),
      "5B1F6C0E-6F0A-4C53-9A56-0D9C6F5F7A10",
      "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
    ],
    ["a UUID of a query", query(uuid("An id")), "5b1f6c0e", ["n must be a UUID"]]
  ] as const) {
    it(`check ${name}: ${String(value)}`, () => {
      assert.deepStrictEqual<unknown>(check<unknown>(schema, value), expected)
    })
  }
})
