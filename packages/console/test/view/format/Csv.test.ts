import { assert, describe, it } from "@effect/vitest"
import { csv } from "../../../src/view/format/Csv.ts"

describe("CSV", () => {
  it("quotes what needs it, and lets no cell be a formula", () => {
    assert.strictEqual(csv(["a", "b"], [['x,"y"', "=1+1"]]), 'a,b\r\n"x,""y""",\'=1+1\r\n')
    assert.strictEqual(csv(["a"], [[null], [-1], [true]]), "a\r\n\r\n-1\r\ntrue\r\n")
  })
})
