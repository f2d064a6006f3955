import { assert, describe, it } from "@effect/vitest"
import { AlertAction, MarkValue } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { RunSort } from "../../src/control-plane/runs/RunRequests.ts"
import { bodySchema } from "../../src/validation/RequestSchema.ts"
import { decode } from "../support/Decode.ts"

const messages = <A>(schema: Schema.Codec<A, unknown>, n: unknown) =>
  decode(bodySchema(Schema.Struct({ n: schema }), { unknownKeys: "reject" }), { n }).messages

const KINDS = "n must be a number, a boolean value or a string"
const TYPES = "n.0.type must be one of the following values: webhook, mark, tag, suspend, cancel"
const SORTS = "n must be one of the following values: createdAt, updatedAt, duration, cost, tokens, events"

describe("a choice that a value is not of", () => {
  it.each([null, undefined, {}, []])("of types names them: %s", (value) => {
    assert.deepStrictEqual(messages(MarkValue, value), [KINDS])
  })

  it("of types without a list of values has no empty list", () => {
    assert.deepStrictEqual(messages(Schema.Union([Schema.String, Schema.Int]), null), [
      "n must be a string or an integer number"
    ])
  })

  it.each([{}, { type: "nope" }, { type: null }])("of objects names the member that decides: %o", (value) => {
    assert.deepStrictEqual(messages(Schema.Array(AlertAction), [value]), [TYPES])
  })

  it.each([null, 3, "mark", []])("of objects says so of another value: %s", (value) => {
    assert.deepStrictEqual(messages(Schema.Array(AlertAction), [value]), ["n.0 must be an object"])
  })

  it("of objects names the item and the member that is wrong", () => {
    assert.deepStrictEqual(messages(Schema.Array(AlertAction), [{ type: "suspend" }, { type: "mark" }]), [
      "n.1.name must be a string",
      "n.1.value must be a number, a boolean value or a string"
    ])
  })

  it.each([null, "x", "mark.", 3])("of values lists all of them: %s", (value) => {
    assert.deepStrictEqual(messages(RunSort, value), [SORTS])
  })

  it("of one value names it", () => {
    assert.deepStrictEqual(messages(Schema.Literal("a"), "b"), ["n must be one of the following values: a"])
  })
})
