import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { cachedInputSchemaCompiler, MAX_REPORTED_ERRORS } from "../../src/catalog/InputSchema.ts"
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

  it("report every broken rule, in the words of the validator", () => {
    const schema = {
      type: "object",
      required: ["b"],
      properties: { a: { type: "string", format: "email" }, b: { type: "number" } }
    }
    assert.deepStrictEqual(errorsOf(schema, { a: "nobody" }), [
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
})
