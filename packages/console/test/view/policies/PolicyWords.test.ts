import { assert, describe, it } from "@effect/vitest"
import { DEFAULT_POLICY, PINNED_RELEASE, type PolicyText, readPolicy } from "@runplane/domain"
import * as Result from "effect/Result"
import { policyWords } from "../../../src/view/policies/PolicyWords.ts"

const balanced: PolicyText = {
  policyId: "p",
  mode: "macp.mode.decision.v1",
  schemaVersion: 3,
  rules: JSON.stringify({
    voting: { algorithm: "supermajority", threshold: 0.75, quorum: { type: "percentage", value: 60 } },
    objection_handling: { critical_severity_vetoes: true, veto_threshold: 2, critical_objection_action: "hold" },
    evaluation: { required_before_voting: true, minimum_confidence: 0.5 },
    commitment: { authority: "designated_role", designated_roles: ["lead"], require_vote_quorum: true }
  })
}

describe("the rules of a policy in words", () => {
  it("says each rule with its numbers, defaults included", () => {
    const { rules } = Result.getOrThrow(readPolicy(balanced, PINNED_RELEASE))
    assert.deepStrictEqual(
      policyWords("decision", rules).map(({ text }) => text),
      [
        "Approvals must be at least 75 % of the votes for and against.",
        "At least 60 % of the participants must vote; an abstention counts as a vote here.",
        "There must be an evaluation with a confidence of at least 50 %.",
        "2 critical objections are a veto: hold the decision.",
        "A negative outcome may not be committed while the votes approve.",
        "Only lead may commit."
      ]
    )
  })

  it("has words for every mode", () => {
    for (const mode of ["decision", "proposal", "task", "handoff", "quorum"] as const) {
      const texts = policyWords(mode, DEFAULT_POLICY.rules)
      assert.isAtLeast(texts.length, 2)
      assert.strictEqual(texts.at(-1)?.text, "Only the initiator commits.")
    }
  })
})
