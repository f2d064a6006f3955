import { assert, describe, it } from "@effect/vitest"
import { voteFor } from "../../../src/examples/decision/Assessment.ts"
import type { Brief } from "../../../src/examples/runner/Brief.ts"
import { isGenuine } from "../../../src/examples/support/ClaimContext.ts"
import { reviewClaim } from "../../../src/examples/support/ClaimReview.ts"

const CLAIMS = 400

const briefOf = (self: string, at: number): Brief => ({
  ...{ self, agentRef: "claims-quick-agent", role: "reviewer", framework: "custom", participants: [], people: [] },
  ...{ hints: {}, versions: { mode: "", configuration: "", policy: "" }, opening: undefined, seed: `s${at}` },
  context: claim(at)
})

const claim = (at: number) => ({
  ...{ claimId: `CLM-${at}`, amount: 20, withdrawn: false },
  ...(at % 2 === 0 ? { daysSincePurchase: 12, receiptShown: true } : { daysSincePurchase: 55, receiptShown: false })
})

/** Whether a reviewer errs, claim by claim. */
const errors = (self: string, model: string, misreadShare: number): ReadonlyArray<boolean> =>
  Array.from({ length: CLAIMS }, (_, at) => {
    const vote = voteFor(reviewClaim(model, misreadShare)(briefOf(self, at)))
    return (vote === "APPROVE") !== isGenuine(claim(at))
  })

const shareOf = (flags: ReadonlyArray<boolean>): number => flags.filter((flag) => flag).length / flags.length

describe("the reviewers of a refund claim", () => {
  it("misread about the share of claims that their model does", () => {
    assert.closeTo(shareOf(errors("receipt", "thorough", 14)), 0.17, 0.06)
    assert.closeTo(shareOf(errors("tone", "small", 32)), 0.35, 0.08)
  })

  it("err together with one model behind them, and apart with two", () => {
    const [tone, history] = [errors("tone", "small", 32), errors("history", "small", 32)]
    const other = errors("pattern", "quick", 32)
    const together = (right: ReadonlyArray<boolean>) =>
      shareOf(tone.map((isWrong, at) => isWrong && right[at] === true))
    assert.isAbove(together(history), 0.25)
    assert.isBelow(together(other), 0.18)
  })

  it("say the same about the same claim", () => {
    assert.deepStrictEqual(reviewClaim("small", 32)(briefOf("tone", 7)), reviewClaim("small", 32)(briefOf("tone", 7)))
  })
})
