import { assert, describe, it } from "@effect/vitest"
import { verdictOf } from "../../../src/view/compare/Verdict.ts"

describe("the verdict on two runs", () => {
  const side = (action: string | undefined, costUsd: number) => ({ action, positive: true, costUsd, isGuessed: false })
  const comparison = { left: { durationMs: 1_000 }, durationDeltaMs: 500, divergence: null }

  it("says outcome, cost and time", () => {
    assert.strictEqual(
      verdictOf(side("go", 1), side("go", 1.41), comparison),
      "Same outcome, the right run 41 % more expensive, 500 ms slower; the messages do not differ."
    )
    assert.match(verdictOf(side("go", 0), side(undefined, 1), comparison), /^Only the left run has a decision, 500 ms/)
  })

  it("says the first difference", () => {
    const divergence = { left: { index: 57 }, what: "bob voted REJECT" }
    assert.match(
      verdictOf(side("go", 1), side("no", 1), { ...comparison, divergence }),
      /^Different outcome.*first difference at event 57: bob voted REJECT\.$/
    )
  })
})
