import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parsePolicyRules, readPolicy } from "../../src/policies/Policy.ts"
import { PINNED_RELEASE } from "../../src/policies/Release.ts"
import { unknownRuleKeys } from "../../src/policies/RuleFaults.ts"

const unknown = (rules: object, mode: string) => unknownRuleKeys(JSON.stringify(rules), `macp.mode.${mode}.v1`)

describe("the closed set of rules", () => {
  const known: ReadonlyArray<readonly [string, object]> = [
    ["decision", { commitment: { authority: "any_participant", require_vote_quorum: true } }],
    [
      "decision",
      { voting: { algorithm: "weighted", quorum: { type: "count", value: 1 }, weights: { _: 1, $x: 2, a: 3 } } }
    ],
    ["decision", { objection_handling: { veto_threshold: 2 }, evaluation: { minimum_confidence: 0.5 } }],
    ["proposal", { acceptance: { criterion: "initiator" }, counter_proposal: { max_rounds: 1 } }],
    ["task", { assignment: {}, completion: { require_output: true }, audit: { level: "info" } }],
    ["handoff", { acceptance: { implicit_accept_timeout_ms: 5 } }],
    ["quorum", { threshold: { type: "n_of_m", value: 2 }, abstention: { interpretation: "ignored" } }],
    ["quorum", { _comment: "x", $schema: "y", threshold: { _why: "z", value: 1 } }]
  ]
  for (const [mode, rules] of known) {
    it(`holds for ${mode}: ${JSON.stringify(rules)}`, () => assert.deepStrictEqual(unknown(rules, mode), []))
  }

  const refused: ReadonlyArray<readonly [string, object, ReadonlyArray<string>]> = [
    ["decision", { voting: { treshold: 0.5, quorum: { kind: "count" } } }, ["voting.treshold", "voting.quorum.kind"]],
    ["decision", { threshold: { value: 2 } }, ["threshold"]],
    ["proposal", { commitment: { require_vote_quorum: true } }, ["commitment.require_vote_quorum"]],
    ["handoff", { acceptance: { criterion: "initiator" } }, ["acceptance.criterion"]],
    ["quorum", { threshold_type: "count" }, ["threshold_type"]],
    ["quorum", { toString: 1 }, ["toString"]]
  ]
  for (const [mode, rules, paths] of refused) {
    it(`names ${paths.join(" and ")} in ${mode}`, () => assert.deepStrictEqual(unknown(rules, mode), paths))
  }

  it("lets a policy for every mode use the rules of any", () => {
    assert.deepStrictEqual(unknownRuleKeys('{"voting":{},"threshold":{"value":1},"other":1}', "*"), ["other"])
  })
})

describe("rules of the other modes", () => {
  const invalid: ReadonlyArray<object> = [
    { acceptance: { criterion: "none" } },
    { counter_proposal: { max_rounds: -1 } },
    { counter_proposal: { max_rounds: 1.5 } },
    { rejection: { terminal_on_any_reject: "yes" } },
    { acceptance: { implicit_accept_timeout_ms: -1 } },
    { threshold: { type: "weighted" } },
    { threshold: { type: "percentage", value: 101 } },
    { abstention: { interpretation: "approve" } }
  ]
  for (const rules of invalid) {
    it(`are refused at registration: ${JSON.stringify(rules)}`, () =>
      assert.isTrue(Result.isFailure(parsePolicyRules(JSON.stringify(rules), 1, PINNED_RELEASE))))
  }

  for (const version of [0, 4]) {
    it(`are refused under schema version ${version}`, () =>
      assert.isTrue(Result.isFailure(parsePolicyRules("{}", version, PINNED_RELEASE))))
  }

  it("have the documented defaults", () => {
    const rules = Result.getOrThrow(parsePolicyRules("{}", 1, PINNED_RELEASE))
    assert.deepStrictEqual(
      [rules.acceptance, rules.counter_proposal, rules.rejection, rules.assignment, rules.completion, rules.threshold],
      [
        { criterion: "all_parties", implicit_accept_timeout_ms: 0 },
        { max_rounds: 0 },
        { terminal_on_any_reject: false },
        { allow_reassignment_on_reject: false },
        { require_output: false },
        { type: "n_of_m", value: 0 }
      ]
    )
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
    ["needs a quorum above 0", `{"threshold":{"value":0}}`],
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

  const policyText = { policyId: "policy.test.rules", mode: "macp.mode.quorum.v1", schemaVersion: 1 }
  it("is closed from 0.13.0 on", () => {
    const misspelt = { ...policyText, rules: `{"treshold":{"value":2}}` }
    assert.isTrue(Result.isSuccess(readPolicy(misspelt, "0.7.6")))
    assert.deepStrictEqual(readPolicy(misspelt, "0.13.0"), Result.fail("unknown rules: treshold"))
  })
})
