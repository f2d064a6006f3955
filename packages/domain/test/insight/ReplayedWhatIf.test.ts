import { assert, describe, it } from "@effect/vitest"
import {
  type EventDraft,
  type JsonObject,
  type PolicyText,
  type StandardMode,
  type WhatIf,
  whatIf
} from "@runplane/domain"
import * as Result from "effect/Result"
import { commits, governed, modeName, opened, says } from "../support/deliberations.ts"
import { draft } from "../support/events.ts"

const under = (mode: StandardMode, rules: JsonObject, ...drafts: ReadonlyArray<EventDraft>): WhatIf => {
  const { by, run } = governed(opened({ mode, participants: ["lead", "a", "b"] }), drafts)
  const policy: PolicyText = {
    policyId: "policy.other.rules",
    mode: modeName(mode),
    schemaVersion: 1,
    rules: JSON.stringify(rules)
  }
  return Result.getOrThrow(whatIf(run, by, { policy }))
}

describe("what if another policy had refused messages of the run, as a replay of the runtime has it", () => {
  const initiator = { acceptance: { criterion: "initiator" } }
  const negotiation = [
    says("a", "Proposal", { title: "x" }),
    says("b", "CounterProposal", { title: "y" }, "p2"),
    says("lead", "Accept", {}, "p2"),
    says("a", "CounterProposal", { title: "z" }, "p3"),
    says("lead", "Accept", {}, "p3"),
    says("b", "Reject", { terminal: true }, "p3"),
    commits(true)
  ]

  it("leaves out counter-proposals above the rounds with the answers to them, and the earlier acceptance counts", () => {
    const { after, notes } = under("proposal", { ...initiator, counter_proposal: { max_rounds: 1 } }, ...negotiation)
    assert.deepStrictEqual(after, { outcome: "positive", allowed: true, reasons: [] })
    assert.deepStrictEqual(notes, [
      "not counted, as these rules refuse it: CounterProposal p3 of a, Accept p3 of lead, Reject p3 of b"
    ])
  })

  it("counts them all without a limit", () => {
    const { notes } = under("proposal", { ...initiator, counter_proposal: { max_rounds: 0 } }, ...negotiation)
    assert.deepStrictEqual(notes, [])
  })

  const handBack = [
    says("lead", "TaskRequest", { title: "x" }),
    says("a", "TaskAccept"),
    says("a", "TaskReject"),
    says("b", "TaskAccept"),
    says("b", "TaskComplete", { output: "ZG9uZQ==" }),
    commits(true)
  ]

  it("keeps a task with the assignee that may not give it back", () => {
    const strict = under("task", { assignment: { allow_reassignment_on_reject: false } }, ...handBack)
    assert.isFalse(strict.after.allowed)
    assert.deepStrictEqual(strict.notes, [
      "not counted, as these rules refuse it: TaskReject p1 of a, TaskAccept p1 of b, TaskComplete p1 of b"
    ])
    const lenient = under("task", { assignment: { allow_reassignment_on_reject: true } }, ...handBack)
    assert.isTrue(lenient.after.allowed)
    assert.deepStrictEqual(lenient.notes, [])
  })
})

describe("what if of a commitment whose action says nothing", () => {
  const finalized = (payload: JsonObject, rest: JsonObject = {}) =>
    draft("decision.finalized", { sender: "lead", messageType: "Commitment", ...rest, decodedPayload: payload })
  const quorum = (...drafts: ReadonlyArray<EventDraft>) =>
    under(
      "quorum",
      { threshold: { type: "n_of_m", value: 3 } },
      says("lead", "ApprovalRequest", { action: "x", requiredApprovals: 3 }),
      says("a", "Reject"),
      ...drafts
    ).after

  it("is the negative one that the runtime evaluates where a protobuf message lacks the flag", () => {
    const step = { action: "step_up" }
    assert.deepInclude(quorum(finalized(step, { payloadTypeName: "macp.v1.CommitmentPayload" })), {
      outcome: "negative",
      allowed: true
    })
    assert.deepInclude(quorum(finalized(step)), { outcome: "positive", allowed: false })
  })
})
