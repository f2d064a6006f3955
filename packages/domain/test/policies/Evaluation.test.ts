import { assert, describe, it } from "@effect/vitest"
import { denyCommitment } from "../../src/policies/Evaluation.ts"
import type { Release } from "../../src/policies/Release.ts"
import type { DecisionRecord } from "../../src/policies/SessionRecord.ts"
import { record, terms } from "./Sessions.ts"

interface Case {
  readonly name: string
  readonly rules: object
  readonly given: DecisionRecord
  readonly version?: number
  readonly release?: Release
  /** Whether a positive and a negative outcome are allowed. */
  readonly allows: readonly [positive: boolean, negative: boolean]
}

const voting = (algorithm: string, rest: object = {}, commitment: object = {}) => ({
  voting: { algorithm, ...rest },
  commitment
})
const quorum = (type: string, value: number) => ({
  voting: { quorum: { type, value } },
  commitment: { require_vote_quorum: true }
})
const veto = (critical_objection_action: string, veto_threshold = 1, rest: object = {}) => ({
  objection_handling: { critical_severity_vetoes: true, veto_threshold, critical_objection_action },
  ...rest
})
const needsEvaluation = (minimum_confidence: number) => ({
  evaluation: { required_before_voting: true, minimum_confidence }
})
const evaluations = (...list: ReadonlyArray<readonly [string, number]>) => ({
  evaluations: list.map(([recommendation, confidence]) => ({ recommendation, confidence }))
})

const cases: ReadonlyArray<Case> = [
  { name: "none takes any outcome at face value", rules: {}, given: record("RR"), allows: [true, true] },
  { name: "majority passes a tie", rules: voting("majority"), given: record("AR"), allows: [true, false] },
  {
    name: "majority fails below the threshold",
    rules: voting("majority"),
    given: record("ARR"),
    allows: [false, true]
  },
  { name: "majority excludes abstentions", rules: voting("majority"), given: record("A--"), allows: [true, false] },
  {
    name: "majority honours its threshold",
    rules: voting("majority", { threshold: 0.7 }),
    given: record("AAR"),
    allows: [false, true]
  },
  {
    name: "a decline over approval can be allowed",
    rules: voting("majority", {}, { allow_decline_over_approval: true }),
    given: record("AAR"),
    version: 2,
    allows: [true, true]
  },
  {
    name: "a decline over approval needs a rejection",
    rules: voting("majority", {}, { allow_decline_over_approval: true }),
    given: record("AA"),
    version: 2,
    allows: [true, false]
  },
  {
    name: "a decline over approval needed no rejection in older releases",
    rules: voting("majority", {}, { allow_decline_over_approval: true }),
    given: record("AA"),
    version: 2,
    release: "0.6.1",
    allows: [true, true]
  },
  {
    name: "supermajority defaults to two thirds",
    rules: voting("supermajority"),
    given: record("AAR"),
    release: "0.6.1",
    allows: [true, false]
  },
  {
    name: "supermajority fails below two thirds",
    rules: voting("supermajority"),
    given: record("AAARR"),
    release: "0.6.1",
    allows: [false, true]
  },
  {
    name: "supermajority 0.67 fails at two thirds",
    rules: voting("supermajority", { threshold: 0.67 }),
    given: record("AAR"),
    allows: [false, true]
  },
  {
    name: "unanimous needs every participant",
    rules: voting("unanimous"),
    given: record("AAA"),
    allows: [false, false]
  },
  {
    name: "unanimous passes when all approve",
    rules: voting("unanimous"),
    given: record("AAAA"),
    allows: [true, false]
  },
  { name: "unanimous fails on one reject", rules: voting("unanimous"), given: record("AAAR"), allows: [false, true] },
  { name: "plurality needs more approvals", rules: voting("plurality"), given: record("AR"), allows: [false, true] },
  {
    name: "plurality passes with more approvals",
    rules: voting("plurality"),
    given: record("AAR"),
    allows: [true, false]
  },
  {
    name: "weights decide",
    rules: voting("weighted", { weights: { a: 3, b: 1 } }),
    given: record("AR"),
    allows: [true, false]
  },
  {
    name: "an unlisted voter weighs nothing",
    rules: voting("weighted", { weights: { a: 1 } }),
    given: record("ARR"),
    allows: [true, false]
  },
  {
    name: "an unlisted voter weighs one in 0.6.1",
    rules: voting("weighted", { weights: { a: 1 } }),
    given: record("ARR"),
    release: "0.6.1",
    allows: [false, true]
  },
  {
    name: "without votes versions 1 and 2 fail open",
    rules: voting("majority"),
    given: record(""),
    allows: [true, false]
  },
  {
    name: "without votes a required quorum denies",
    rules: voting("majority", {}, { require_vote_quorum: true }),
    given: record(""),
    allows: [false, false]
  },
  {
    name: "without votes version 3 denies",
    rules: voting("majority"),
    given: record(""),
    version: 3,
    allows: [false, false]
  },
  {
    name: "abstentions alone are no decisive vote",
    rules: voting("majority"),
    given: record("--"),
    version: 3,
    allows: [false, false]
  },
  {
    name: "version 3 is refused in 0.6.1",
    rules: {},
    given: record("A"),
    version: 3,
    release: "0.6.1",
    allows: [false, false]
  },
  { name: "a count quorum counts voters", rules: quorum("count", 2), given: record("A-"), allows: [true, true] },
  { name: "a count quorum is missed", rules: quorum("count", 3), given: record("AA"), allows: [false, false] },
  {
    name: "a percentage quorum is 0 to 100",
    rules: quorum("percentage", 50),
    given: record("AA"),
    allows: [true, true]
  },
  {
    name: "a percentage quorum is missed",
    rules: quorum("percentage", 51),
    given: record("AA"),
    allows: [false, false]
  },
  {
    name: "a quorum that is not required is ignored",
    rules: { voting: { quorum: { type: "count", value: 4 } } },
    given: record(""),
    allows: [true, true]
  },
  {
    name: "a veto denies both outcomes",
    rules: veto("deny"),
    given: record("", { criticalObjections: 1 }),
    allows: [false, false]
  },
  {
    name: "a held session denies both outcomes",
    rules: veto("hold"),
    given: record("", { criticalObjections: 1 }),
    allows: [false, false]
  },
  {
    name: "below the veto threshold nothing happens",
    rules: veto("deny", 2),
    given: record("", { criticalObjections: 1 }),
    allows: [true, true]
  },
  {
    name: "finalize_decline refuses only the positive outcome",
    rules: veto("finalize_decline"),
    given: record("", { criticalObjections: 1 }),
    allows: [false, true]
  },
  {
    name: "a decline by veto needs no votes",
    rules: veto("finalize_decline", 1, voting("majority", {}, { require_vote_quorum: true })),
    given: record("AA", { criticalObjections: 1 }),
    version: 2,
    allows: [false, true]
  },
  {
    name: "a decline by veto still needs votes in 0.6.1",
    rules: veto("finalize_decline", 1, voting("majority")),
    given: record("AA", { criticalObjections: 1 }),
    version: 2,
    release: "0.6.1",
    allows: [false, false]
  },
  {
    name: "critical objections without the rule do not matter",
    rules: {},
    given: record("", { criticalObjections: 5 }),
    allows: [true, true]
  },
  { name: "a required evaluation is missing", rules: needsEvaluation(0), given: record(""), allows: [false, false] },
  {
    name: "REVIEW does not count as an evaluation",
    rules: needsEvaluation(0),
    given: record("", evaluations(["REVIEW", 1])),
    allows: [false, false]
  },
  {
    name: "any other evaluation is enough",
    rules: needsEvaluation(0),
    given: record("", evaluations(["BLOCK", 0])),
    allows: [true, true]
  },
  {
    name: "one evaluation must reach the confidence",
    rules: needsEvaluation(0.6),
    given: record("", evaluations(["APPROVE", 0.5])),
    allows: [false, false]
  },
  {
    name: "one evaluation reaches the confidence",
    rules: needsEvaluation(0.6),
    given: record("", evaluations(["APPROVE", 0.5], ["BLOCK", 0.6])),
    allows: [true, true]
  },
  {
    name: "a minimum confidence alone does nothing",
    rules: { evaluation: { minimum_confidence: 0.9 } },
    given: record(""),
    allows: [true, true]
  }
]

describe("a decision's policy", () => {
  for (const { allows, given, name, rules, release, version } of cases) {
    it(name, () => {
      const [positive, negative] = [true, false].map(
        (outcome) => denyCommitment(terms(rules, version, release), given, outcome).length === 0
      )
      assert.deepStrictEqual([positive, negative], [...allows])
    })
  }

  it("collects every reason", () => {
    const rules = { ...quorum("percentage", 60), ...needsEvaluation(0), ...veto("deny") }
    const given = record("A", { criticalObjections: 1 })
    assert.deepStrictEqual(denyCommitment({ ...terms(rules), participants: ["a", "b", "c"] }, given, true), [
      { code: "evaluation_required", message: "an evaluation is required before voting" },
      { code: "veto", message: "deny: 1 critical of 1 needed to veto", participants: ["c"] },
      {
        code: "quorum_not_met",
        message: "vote quorum not met: 1 voters of 3 participants (quorum: 60 percentage)"
      }
    ])
  })

  const codes = (rules: object, given: DecisionRecord, positive: boolean, version = 3) =>
    denyCommitment(terms(rules, version), given, positive).map(({ code }) => code)
  const majority = { voting: { algorithm: "majority", threshold: 0.5 } }

  it("names each reason by the code of the reference runtime", () => {
    assert.deepStrictEqual(codes(majority, record(""), true), ["no_votes"])
    assert.deepStrictEqual(codes(majority, record(""), false), ["decline_not_backed"])
    assert.deepStrictEqual(codes(majority, record("RR"), true), ["threshold_not_met"])
    assert.deepStrictEqual(codes(majority, record("AA"), false), ["decline_over_approval"])
    assert.deepStrictEqual(codes(veto("hold"), record("", { criticalObjections: 2 }), true), ["veto_hold"])
    assert.deepStrictEqual(codes(needsEvaluation(0.5), record(""), true), ["confidence_below_minimum"])
  })
})
