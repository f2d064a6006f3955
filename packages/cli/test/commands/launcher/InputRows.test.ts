import { assert, describe, it } from "@effect/vitest"
import { inputColumns, inputRows } from "../../../src/commands/launcher/InputRows.ts"
import { tableLines } from "../../../src/Table.ts"

const schema = {
  type: "object",
  required: ["severity", "lag"],
  properties: {
    severity: { enum: ["sev1", "sev2"] },
    lag: { type: "integer", minimum: 0, exclusiveMaximum: 600, description: "seconds behind" },
    hosts: { type: "array", items: { type: "string" }, minItems: 1, uniqueItems: true },
    standby: {
      type: "object",
      required: ["region"],
      properties: { region: { type: "string", minLength: 1 }, warm: { type: ["boolean", "null"], default: false } },
      default: { region: "north-2" }
    },
    at: { type: "string", format: "date-time" },
    budget: { anyOf: [{ type: "number" }, { const: "none" }] },
    free: true
  }
}

describe("the inputs of a scenario", () => {
  const rows = inputRows(schema, { severity: "sev2", standby: { region: "north-2" } })

  it("have their types, defaults and limits, with those inside of objects", () => {
    assert.deepStrictEqual(
      rows.map((row) => [row.name, row.type, row.default, row.limits]),
      [
        ["severity", "sev1 | sev2", '"sev2"', ""],
        ["lag", "integer", "required", ">= 0, < 600"],
        ["hosts", "list of string", "optional", "entries >= 1, no entry twice"],
        ["standby", "object", "", ""],
        ["standby.region", "string", '"north-2"', "length >= 1"],
        ["standby.warm", "boolean | null", "false", ""],
        ["at", "string", "optional", "date-time"],
        ["budget", 'number | "none"', "optional", ""],
        ["free", "any", "optional", ""]
      ]
    )
    assert.deepStrictEqual(
      rows.flatMap(({ about }) => about || []),
      ["seconds behind"]
    )
  })

  it("have a column of descriptions only where one is described", () => {
    assert.match(tableLines(inputColumns(rows), rows, 120)[0] ?? "", /LIMITS +ABOUT$/)
    const plain = rows.filter(({ about }) => about === "")
    assert.match(tableLines(inputColumns(plain), plain, 120)[0] ?? "", /LIMITS$/)
  })

  it("are none of a schema without properties", () => {
    assert.deepStrictEqual(inputRows({ type: "object" }, {}), [])
  })
})
