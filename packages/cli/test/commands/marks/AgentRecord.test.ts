import { assert, describe, it } from "@effect/vitest"
import { curveLines } from "../../../src/commands/marks/Agents.ts"

describe("the reliability curve as text", () => {
  it("has the share of right votes as a bar, and the stated confidence as a line", () => {
    const lines = curveLines([
      { low: 0.5, high: 0.6, n: 8, confidence: 0.55, right: 0.25 },
      { low: 0.9, high: 1, n: 120, confidence: 0.95, right: 1 }
    ])
    assert.deepStrictEqual(lines, [
      "  CONFIDENCE   RIGHT (# share, | stated)                     VOTES",
      "  0.5 - 0.6    ##########............|.................  25 %  8",
      "  0.9 - 1.0    ######################################|# 100 %  120"
    ])
  })

  it("draws a line for a confidence of 0 and of 1 too", () => {
    const [, lowest = "", highest = ""] = curveLines([
      { low: 0, high: 0.1, n: 1, confidence: 0, right: 0 },
      { low: 0.9, high: 1, n: 1, confidence: 1, right: 0 }
    ])
    assert.strictEqual(lowest, `  0.0 - 0.1    |${".".repeat(39)}   0 %  1`)
    assert.strictEqual(highest, `  0.9 - 1.0    ${".".repeat(39)}|   0 %  1`)
  })
})
