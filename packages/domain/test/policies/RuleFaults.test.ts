import { assert, describe, it } from "@effect/vitest"
import type * as Schema from "effect/Schema"
import { policyRuleFaults } from "../../src/policies/RuleFaults.ts"

const decision = "macp.mode.decision.v1"

const cases: ReadonlyArray<readonly [mode: string, rules: Schema.JsonObject, faults: ReadonlyArray<string>]> = [
  [decision, {}, []],
  [
    decision,
    {
      voting: { algorithm: "majority", threshold: 0.5, quorum: { type: "count", value: 2 }, weights: {} },
      objection_handling: { critical_severity_vetoes: true, veto_threshold: 1, critical_objection_action: "hold" },
      evaluation: { minimum_confidence: 0.2, required_before_voting: false },
      commitment: { authority: "initiator_only", require_vote_quorum: true, allow_decline_over_approval: false }
    },
    []
  ],
  [decision, { votings: {} }, ['(root): unrecognized key "votings"']],
  [
    decision,
    { objection_handling: { block_severity_vetoes: true } },
    ['/objection_handling: unrecognized key "block_severity_vetoes"']
  ],
  [decision, { voting: { quorum: { kind: "count" } } }, ['/voting/quorum: unrecognized key "kind"']],
  [decision, { voting: [] }, ["/voting: must be an object"]],
  [decision, { voting: { threshold: 1.5 } }, ["/voting/threshold: must be a number from 0 to 1"]],
  [decision, { voting: { algorithm: "weighted" } }, ["/voting: weighted needs a non-empty weights map"]],
  [decision, { voting: { algorithm: "weighted", weights: { _a: 1 } } }, []],
  [decision, { voting: { weights: { a: 0 } } }, ["/voting/weights/a: must be a number above 0"]],
  [
    decision,
    { voting: { algorithm: "supermajority", threshold: 0.5 } },
    ["/voting: supermajority needs a threshold above 0.5"]
  ],
  [
    decision,
    { commitment: { authority: "designated_role", designated_roles: [] } },
    ["/commitment: designated_role needs a non-empty designated_roles"]
  ],
  [decision, { _why: 1, voting: { $note: [], algorithm: "none" } }, []],
  ["macp.mode.quorum.v1", { threshold: { type: "n_of_m", value: 2 }, abstention: { interpretation: "ignored" } }, []],
  ["macp.mode.quorum.v1", { voting: {} }, ['(root): unrecognized key "voting"']],
  [
    "macp.mode.quorum.v1",
    { commitment: { require_vote_quorum: true } },
    ['/commitment: unrecognized key "require_vote_quorum"']
  ],
  ["macp.mode.proposal.v1", { acceptance: { criterion: "initiator" }, counter_proposal: { max_rounds: 0 } }, []],
  ["macp.mode.task.v1", { completion: { require_output: "yes" } }, ["/completion/require_output: must be a boolean"]],
  [
    "macp.mode.handoff.v1",
    { acceptance: { implicit_accept_timeout_ms: 1.5 } },
    ["/acceptance/implicit_accept_timeout_ms: must be an integer of at least 0"]
  ],
  ["ext.multi_round.v1", { anything: { goes: [] } }, []],
  ["*", { voting: {}, threshold: { type: "n_of_m" }, acceptance: { implicit_accept_timeout_ms: 5 } }, []],
  ["*", { acceptance: { criterion: "initiator" }, $x: 1 }, []],
  ["*", { constructor: {} }, ['(root): unrecognized key "constructor"']],
  ["*", { rejection: { terminal: true } }, ['/rejection: unrecognized key "terminal"']]
]

describe("the rules of a policy", () => {
  for (const [mode, rules, faults] of cases) {
    it(`of ${mode}: ${JSON.stringify(rules)} ${faults.length === 0 ? "are right" : "are refused"}`, () => {
      assert.deepStrictEqual(policyRuleFaults(mode, rules), [...faults])
    })
  }
})
