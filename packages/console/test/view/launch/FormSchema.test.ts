import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { blankOf, fieldSpec, inputFaults, titleOf } from "../../../src/view/launch/FormSchema.ts"

const schema = {
  type: "object",
  required: ["severity", "standby"],
  properties: {
    severity: { type: "string", title: "How bad", enum: ["sev1", "sev2"] },
    errorRatePercent: { type: "number", minimum: 0, maximum: 100, description: "Share of requests" },
    customerFacing: { type: "boolean" },
    standby: {
      type: "object",
      required: ["region"],
      properties: { region: { type: "string", maxLength: 20 }, warm: { type: "boolean" } }
    },
    runbook: {
      type: "array",
      items: { type: "object", properties: { step: { type: "integer", minimum: 1 }, text: { type: "string" } } }
    },
    either: { oneOf: [{ type: "string" }, { type: "number" }] }
  }
}

describe("a form of a JSON Schema", () => {
  it("has a field for each member, nested ones too, and JSON for what it cannot show otherwise", () => {
    const spec = fieldSpec(schema)
    assert.strictEqual(spec.kind, "object")
    if (spec.kind !== "object") return
    assert.deepStrictEqual(
      spec.members.map(({ isRequired, name, spec: { kind, title } }) => [name, kind, title, isRequired]),
      [
        ["severity", "choice", "How bad", true],
        ["errorRatePercent", "number", "Error rate percent", false],
        ["customerFacing", "flag", "Customer facing", false],
        ["standby", "object", "Standby", true],
        ["runbook", "list", "Runbook", false],
        ["either", "either", "Either", false]
      ]
    )
    assert.deepStrictEqual(blankOf(spec), { severity: "sev1", standby: { region: "" } })
  })

  it.prop("is made of anything", [Schema.Json], ([any]) => {
    const spec = fieldSpec(any)
    assert.isDefined(blankOf(spec))
  })

  it("ends in a schema that is deeper than any form", () => {
    let deep: unknown = { type: "string" }
    for (let level = 0; level < 1_000; level++) deep = { type: "object", properties: { inner: deep } }
    assert.include(JSON.stringify(fieldSpec(deep)), '"kind":"json"')
  })

  it("has the faults of the service beside their fields", () => {
    const faults = inputFaults({
      errors: [
        { instancePath: "/errorRatePercent", message: "must be <= 100", params: {} },
        {
          instancePath: "/standby",
          message: "must have required property 'region'",
          params: { missingProperty: "region" }
        },
        "not an error"
      ]
    })
    assert.deepStrictEqual(
      [...faults],
      [
        ["/errorRatePercent", ["must be <= 100"]],
        ["/standby/region", ["is required"]]
      ]
    )
    assert.strictEqual(inputFaults(undefined).size, 0)
    assert.strictEqual(titleOf("a_b-c"), "A b c")
  })
})
