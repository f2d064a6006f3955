import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type DecisionRecord, denyDecision } from "../../src/core/DecisionPolicy.ts"
import { parsePolicyRules } from "../../src/core/PolicyRules.ts"
import { PINNED_RELEASE, type Release } from "../../src/core/Release.ts"
import { policyOf } from "../support/Sessions.ts"

/** Votes as letters per voter a, b, c...: A approve, R reject, `-` abstain, space none. */
const record = (votes: string, rest: Partial<DecisionRecord> = {}): DecisionRecord => ({
  participants: ["a", "b", "c", "d"],
  evaluations: [],
  criticalObjections: 0,
  votes: [...votes].flatMap((letter, index) => {
    const choice = { A: "APPROVE", R: "REJECT", "-": "ABSTAIN" }[letter]
    return choice === undefined ? [] : [{ voter: "abcd"[index] ?? "", vote: choice }]
  }),
  ...rest
})

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
    name: "a decline over approval needs somebody who rejects",
    rules: voting("majority", {}, { allow_decline_over_approval: true }),
    given: record("AA"),
    version: 2,
    allows: [true, false]
  },
  {
    name: "a decline over approval needed nobody in older releases",
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
  for (const { allows, given, name, rules, release = PINNED_RELEASE, version = 1 } of cases) {
    it(name, () => {
      const policy = policyOf(rules, version, release)
      const [positive, negative] = [true, false].map(
        (outcome) => denyDecision(policy, given, outcome, release).length === 0
      )
      assert.deepStrictEqual([positive, negative], [...allows])
    })
  }

  it("collects every reason", () => {
    const policy = policyOf({ ...quorum("percentage", 60), ...needsEvaluation(0), ...veto("deny") })
    const reasons = denyDecision(
      policy,
      { ...record("A", { criticalObjections: 1 }), participants: ["a", "b", "c"] },
      true,
      PINNED_RELEASE
    )
    assert.strictEqual(reasons.length, 3)
    assert.include(reasons, "vote quorum not met: 1 voters of 3 participants (quorum: 60 percentage)")
  })
})

describe("the rules text of a policy", () => {
  const refusals: ReadonlyArray<readonly [string, string, number?]> = [
    ["is JSON", "{"],
    ["is an object", "[]"],
    ["knows its schema version", "{}", 4],
    ["does not use schema version 0", "{}", 0],
    ["names a known algorithm", `{"voting":{"algorithm":"lottery"}}`],
    ["keeps a supermajority above one half", `{"voting":{"algorithm":"supermajority","threshold":0.5}}`],
    ["says what a supermajority is", `{"voting":{"algorithm":"supermajority"}}`],
    ["keeps a majority at one half or more", `{"voting":{"algorithm":"majority","threshold":0.4}}`],
    ["has no threshold of nothing", `{"voting":{"algorithm":"unanimous","threshold":0}}`],
    ["has no empty weights", `{"voting":{"weights":{}}}`],
    ["has no voter of no weight", `{"voting":{"algorithm":"weighted","weights":{"a":1,"b":0}}}`],
    ["asks a quorum for somebody", `{"threshold":{"value":0}}`],
    ["gives weights to a weighted vote", `{"voting":{"algorithm":"weighted"}}`],
    ["gives roles to designated_role", `{"commitment":{"authority":"designated_role"}}`],
    ["keeps a confidence within 0 and 1", `{"evaluation":{"minimum_confidence":1.5}}`],
    ["keeps a veto threshold at 1 or more", `{"objection_handling":{"veto_threshold":0}}`],
    ["has typed values", `{"commitment":{"require_vote_quorum":"yes"}}`]
  ]
  for (const [name, text, version = 1] of refusals) {
    it(name, () => assert.isTrue(Result.isFailure(parsePolicyRules(text, version, PINNED_RELEASE))))
  }

  it("may hold unknown keys", () => {
    assert.isTrue(Result.isSuccess(parsePolicyRules(`{"_note":"x","voting":{"extra":1}}`, 1, PINNED_RELEASE)))
  })
})
