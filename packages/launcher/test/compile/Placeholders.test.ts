import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { Json, JsonObject } from "../../src/common/Json.ts"
import { interpolate } from "../../src/compile/Placeholders.ts"

const inputs: JsonObject = {
  name: "checkout",
  n: 12.5,
  on: true,
  nothing: null,
  list: ["a", { deep: 1 }],
  object: { region: "north", "odd-key": 1 },
  template: "{{ inputs.name }}"
}

const filled = (template: Json) => Result.map(interpolate({ template }, inputs), (result) => result["template"])

describe("placeholders", () => {
  it.each<[name: string, template: Json, expected: Json]>([
    ["a whole number keeps its type", "{{ inputs.n }}", 12.5],
    ["a whole boolean keeps its type", "{{inputs.on}}", true],
    ["a whole object is the object", "{{ inputs.object }}", { region: "north", "odd-key": 1 }],
    ["a whole array is the array", "{{ inputs.list }}", ["a", { deep: 1 }]],
    ["null is a value", "{{ inputs.nothing }}", null],
    ["the root alone is all inputs", "{{ inputs }}", inputs],
    ["inside text a number is written out", "at {{ inputs.n }}%", "at 12.5%"],
    ["spaces around the whole text make it text", " {{ inputs.n }} ", " 12.5 "],
    ["several placeholders are each replaced", "{{ inputs.name }}-{{ inputs.on }}", "checkout-true"],
    ["an object inside text is JSON", "x {{ inputs.list }}", 'x ["a",{"deep":1}]'],
    ["null inside text reads null", "x {{ inputs.nothing }}", "x null"],
    ["a dotted path walks objects and arrays", "{{ inputs.list.1.deep }}", 1],
    ["a key with a hyphen can be named", "{{ inputs.object.odd-key }}", 1],
    ["braces outside the grammar stay", "{{ inputs.name | upper }}", "{{ inputs.name | upper }}"],
    ["a result is not scanned again", "{{ inputs.template }}", "{{ inputs.name }}"],
    ["values nested anywhere are replaced", [{ a: ["{{ inputs.n }}"] }], [{ a: [12.5] }]],
    ["numbers, booleans and null stay", [1, true, null], [1, true, null]]
  ])("%s", (_, template, expected) => {
    assert.deepStrictEqual(filled(template), Result.succeed(expected))
  })

  it.each([
    ["an unknown input", "{{ inputs.gone }}", "inputs.gone"],
    ["another root", "{{ env.HOME }}", "env.HOME"],
    ["a path into a text", "{{ inputs.name.length }}", "inputs.name.length"],
    ["an array's length", "{{ inputs.list.length }}", "inputs.list.length"],
    ["an inherited member", "{{ inputs.object.constructor }}", "inputs.object.constructor"],
    ["an index out of range", "x{{ inputs.list.9 }}", "inputs.list.9"]
  ])("refuses %s", (_, template, path) => {
    const failure = Result.getOrThrow(Result.flip(filled(template)))
    assert.strictEqual(failure.message, `undefined placeholder: {{ ${path} }}`)
  })

  it("leaves keys alone", () => {
    assert.deepStrictEqual(interpolate({ "{{ inputs.name }}": 1 }, inputs), Result.succeed({ "{{ inputs.name }}": 1 }))
  })
})
