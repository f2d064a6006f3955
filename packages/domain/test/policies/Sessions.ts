import * as Result from "effect/Result"
import { parsePolicyRules } from "../../src/policies/Policy.ts"
import { PINNED_RELEASE, type Release } from "../../src/policies/Release.ts"
import type { DecisionRecord, SessionTerms } from "../../src/policies/SessionRecord.ts"

export const terms = (rules: object, schemaVersion = 1, release: Release = PINNED_RELEASE): SessionTerms => ({
  initiator: "a",
  participants: ["a", "b", "c", "d"],
  policy: {
    policyId: "policy.test.rules",
    schemaVersion,
    rules: Result.getOrThrow(parsePolicyRules(JSON.stringify(rules), schemaVersion, release))
  },
  release
})

interface Said {
  readonly evaluations?: DecisionRecord["evaluations"]
  readonly criticalObjections?: number
}

/** Votes as letters per voter a, b, c...: A approve, R reject, `-` abstain, space none. */
export const record = (votes: string, { criticalObjections = 0, evaluations = [] }: Said = {}): DecisionRecord => ({
  mode: "decision",
  proposals: 1,
  evaluations,
  objections: [...Array(criticalObjections).fill({ by: "c", severity: "critical" }), { by: "a", severity: "high" }],
  votes: [...votes].flatMap((letter, index) => {
    const choice = { A: "APPROVE", R: "REJECT", "-": "ABSTAIN" }[letter]
    return choice === undefined ? [] : [{ voter: "abcd"[index] ?? "", vote: choice }]
  })
})
