import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { unknownRuleKeys } from "../../src/core/PolicyKeys.ts"
import { parsePolicyRules } from "../../src/core/PolicyRules.ts"
import { PINNED_RELEASE } from "../../src/core/Release.ts"

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
    { acceptance: { criterion: "nobody" } },
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
