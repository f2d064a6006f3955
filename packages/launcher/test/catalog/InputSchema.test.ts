import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Result from "effect/Result"
import { cachedInputSchemaCompiler, MAX_REPORTED_ERRORS, VALIDATION_LIMIT_MS } from "../../src/catalog/InputSchema.ts"
import type { JsonObject } from "../../src/common/Json.ts"

const compile = cachedInputSchemaCompiler()
const errorsOf = (schema: JsonObject, inputs: JsonObject) => Result.getOrThrow(compile(schema))(inputs)

describe("input schemas", () => {
  it.each<[what: string, schema: JsonObject]>([
    ["keys that only alternatives require", { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }],
    ["draft-07 by name", { $schema: "http://json-schema.org/draft-07/schema#", type: "object" }],
    ["a list whose items differ by place", { properties: { a: { items: [{ type: "string" }, { type: "number" }] } } }],
    ["the empty schema", {}],
    [
      "references within the schema",
      { definitions: { n: { type: "number" } }, properties: { a: { $ref: "#/definitions/n" } } }
    ]
  ])("may have %s", (_, schema) => {
    assert.isTrue(Result.isSuccess(compile(schema)))
  })

  it.each<[what: string, schema: JsonObject, reason: RegExp]>([
    ["an asynchronous schema", { $async: true, type: "object" }, /asynchronous/],
    ["an asynchronous part", { properties: { a: { $async: true, type: "string" } } }, /async schema in sync schema/],
    ["an unknown keyword", { colour: 1 }, /unknown keyword: "colour"/],
    ["an unknown format", { properties: { a: { type: "string", format: "colour" } } }, /unknown format "colour"/],
    ["a reference to nowhere", { $ref: "https://runplane.test/none.json" }, /can't resolve reference/],
    ["a pattern that is none", { properties: { a: { type: "string", pattern: "(" } } }, /Invalid regular expression/],
    ["a type that is none", { type: "text" }, /type/]
  ])("may not have %s", (_, schema, reason) => {
    const result = compile(schema)
    assert.match(Result.isFailure(result) ? result.failure : "", reason)
  })

  it("of draft 2020-12 know its keywords", () => {
    const schema = (draft: string): JsonObject => ({
      ...(draft === "" ? {} : { $schema: draft }),
      type: "object",
      properties: { a: { type: "array", prefixItems: [{ type: "string" }] } }
    })
    assert.lengthOf(errorsOf(schema("https://json-schema.org/draft/2020-12/schema"), { a: [1] }), 1)
    assert.isTrue(Result.isFailure(compile(schema(""))))
  })

  it("change nothing in the inputs: no coercion, no defaults", () => {
    const inputs = { n: "7" }
    const schema = { type: "object", properties: { n: { type: "number" }, m: { type: "number", default: 1 } } }
    assert.lengthOf(errorsOf(schema, inputs), 1)
    assert.deepStrictEqual(inputs, { n: "7" })
  })

  it("report every broken rule with the text of the validator", () => {
    const schema = {
      type: "object",
      required: ["b"],
      properties: { a: { type: "string", format: "email" }, b: { type: "number" } }
    }
    assert.deepStrictEqual(errorsOf(schema, { a: "not an address" }), [
      {
        instancePath: "",
        schemaPath: "#/required",
        keyword: "required",
        params: { missingProperty: "b" },
        message: "must have required property 'b'"
      },
      {
        instancePath: "/a",
        schemaPath: "#/properties/a/format",
        keyword: "format",
        params: { format: "email" },
        message: 'must match format "email"'
      }
    ])
  })

  it("report a bounded number of them", () => {
    const schema = { properties: { a: { type: "array", items: { type: "string" } } } }
    assert.lengthOf(errorsOf(schema, { a: Array.from({ length: 5_000 }, (_, n) => n) }), MAX_REPORTED_ERRORS)
  })

  it("treat __proto__ and constructor as keys like any others", () => {
    const inputs: JsonObject = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    assert.deepStrictEqual(errorsOf({ type: "object" }, inputs), [])
    const [error] = errorsOf({ type: "object", additionalProperties: false }, inputs)
    assert.deepStrictEqual(error?.["params"], { additionalProperty: "__proto__" })
    assert.isUndefined(Reflect.get({}, "polluted"))
  })

  describe("answer in time", () => {
    it.each<[what: string, schema: JsonObject, inputs: JsonObject, errors: number]>([
      ["a pattern with nested repetitions", { pattern: "^([a-z]+)*@" }, { a: "a".repeat(500_000) }, 1],
      [
        "unique objects",
        { type: "array", uniqueItems: true },
        { a: Array.from({ length: 8_000 }, (_, n) => ({ n, m: 0 })) },
        0
      ]
    ])("for %s", (_, schema, inputs, errors) => {
      assert.lengthOf(errorsOf({ properties: { a: { ...schema } } }, inputs), errors)
    })

    const overTime = {
      instancePath: "",
      schemaPath: "#",
      keyword: "timeLimit",
      params: { limitMs: VALIDATION_LIMIT_MS },
      message: `must be checked within ${VALIDATION_LIMIT_MS} ms: the schema takes too long over these inputs`
    }

    it("for a pattern that no linear engine supports: at the limit, and the validator continues", () => {
      const validate = Result.getOrThrow(compile({ properties: { a: { type: "string", pattern: "^(?=a)(a+)+$" } } }))
      assert.deepStrictEqual(validate({ a: `${"a".repeat(40)}!` }), [overTime])
      assert.deepStrictEqual(validate({ a: "aaa" }), [])
      assert.lengthOf(validate({ a: "b" }), 1)
    })

    it("for alternatives that double at every level", () => {
      const node = { type: "object", properties: { a: { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] } } }
      let inputs: JsonObject = { a: 1 }
      for (let level = 0; level < 60; level++) inputs = { a: inputs }
      assert.deepStrictEqual(errorsOf({ $defs: { n: node }, ...node }, inputs), [overTime])
    })
  })

  describe("find equal items as the validator's own keyword does", () => {
    const lists: ReadonlyArray<JsonObject> = [
      [1, 2, 1, 2, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 }
      ],
      [{ a: [1, { c: null }] }, 3, { a: [1, { c: null }] }, 3],
      ["1", 1, "true", true, null, "null"],
      [[1], ["1"], [[1]], [1, 2]],
      [0, -0],
      ["a", "a", "b", "b", 7, 7],
      []
    ].map((a) => ({ a }))
    const items: ReadonlyArray<JsonObject> = [
      {},
      { items: {} },
      { items: { type: "string" } },
      { items: { type: ["string", "number"] } },
      { items: { type: "object" } },
      { items: { type: ["object", "string"] } },
      { uniqueItems: false },
      { minItems: 4, maxItems: 1, contains: { type: "boolean" } }
    ]

    it.each(["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"])(
      "%s",
      (draft) => {
        for (const given of items) {
          const schema = { $schema: draft, properties: { a: { type: "array", uniqueItems: true, ...given } } }
          const own = new (draft.includes("2020") ? Ajv2020 : Ajv)({ allErrors: true, strictTypes: false }).compile(
            schema
          )
          for (const inputs of lists) {
            own(inputs)
            assert.deepEqual<unknown>(errorsOf(schema, inputs), own.errors ?? [])
          }
        }
      }
    )
  })
})
