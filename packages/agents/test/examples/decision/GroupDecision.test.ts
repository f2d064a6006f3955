import { assert, describe, it } from "@effect/vitest"
import { decide, hintsOf } from "../../../src/examples/decision/GroupDecision.ts"
import { balancedHints, fastTrackHints } from "../../support/Bridge.ts"

describe("the lead of a decision", () => {
  const specialists = ["a", "b", "c"]
  const call = (hints: object, votes: string, criticalObjections = 0) => {
    const cast = [...votes].map((letter, index): [string, string] => [
      specialists[index] ?? "",
      letter === "A" ? "APPROVE" : letter === "R" ? "REJECT" : "ABSTAIN"
    ])
    return decide(hintsOf(hints), { specialists, votes: new Map(cast), criticalObjections }).action
  }
  const cases: ReadonlyArray<readonly [string, object, string, number, string]> = [
    ["goes with a majority", balancedHints, "AAR", 0, "decision.selected"],
    ["stays without one", balancedHints, "ARR", 0, "decision.rejected"],
    ["stays on a veto", balancedHints, "AAA", 1, "decision.rejected"],
    ["ignores a veto that is off", fastTrackHints, "AAA", 2, "decision.selected"],
    ["stays below a supermajority", fastTrackHints, "AAR", 0, "decision.rejected"],
    ["stays without a vote", balancedHints, "--", 0, "decision.rejected"],
    ["needs all votes for unanimity", { type: "unanimous" }, "AA-", 0, "decision.rejected"],
    ["goes when all agree", { type: "unanimous" }, "AAA", 0, "decision.selected"],
    ["counts heads without an algorithm", {}, "AR", 0, "decision.rejected"]
  ]
  for (const [name, hints, votes, objections, expected] of cases) {
    it(name, () => assert.strictEqual(call(hints, votes, objections), expected))
  }
})
