import { assert, describe, it } from "@effect/vitest"
import type { CanonicalEventType, EventDraft, JsonObject } from "@runplane/domain"
import { base64, DECISION, envelopeFrame, json, normalise, proto } from "../support/frames.ts"

const derivedOf = (messageType: string, payload: Uint8Array, mode = DECISION): ReadonlyArray<EventDraft> =>
  normalise(envelopeFrame(messageType, payload, { mode })).drafts.slice(1)

const row = (types: ReadonlyArray<string>, event: CanonicalEventType, kind: string) =>
  types.map((messageType) => ({ messageType, event, kind }))

const table = [
  ...row(
    ["Proposal", "CounterProposal", "ApprovalRequest", "TaskRequest", "HandoffOffer"],
    "proposal.created",
    "proposal"
  ),
  ...row(
    [
      "Evaluation",
      "Objection",
      "Vote",
      "Accept",
      "Reject",
      "Withdraw",
      "Approve",
      "Abstain",
      "TaskAccept",
      "TaskReject"
    ],
    "proposal.updated",
    "proposal"
  ),
  ...row(
    ["TaskUpdate", "HandoffContext", "HandoffAccept", "HandoffDecline", "Contribute"],
    "proposal.updated",
    "proposal"
  ),
  ...row(["Commitment"], "decision.finalized", "decision"),
  ...row(["Signal"], "signal.emitted", "signal"),
  ...row(["SignalAck", "SignalAcknowledged"], "signal.acknowledged", "signal"),
  ...row(["PolicyResolved"], "policy.resolved", "policy"),
  ...row(["PolicyCommitmentEvaluated"], "policy.commitment.evaluated", "policy"),
  ...row(["PolicyDenied"], "policy.denied", "policy"),
  ...row(["ToolCall", "toolrequest", "TOOLCALL"], "tool.called", "tool"),
  ...row(["ToolResult", "toolCompleted", "TOOLOUTPUT"], "tool.completed", "tool")
]

describe("derived events", () => {
  it.each(table)("derives $event alone from $messageType, about the message when no id is given", (expected) => {
    const derived = derivedOf(expected.messageType, json({}))
    assert.deepStrictEqual(
      derived.map(({ type, subject }) => ({ type, subject })),
      [{ type: expected.event, subject: { kind: expected.kind as never, id: "m1" } }]
    )
    assert.deepStrictEqual(derived[0]?.source, {
      kind: "runtime",
      name: "rust-runtime",
      rawType: expected.messageType
    })
  })

  it.each(["SessionStart", "SessionCancel", "Whatever", "", "proposal", "constructor"])(
    "derives nothing from %j",
    (messageType) => {
      assert.deepStrictEqual(derivedOf(messageType, json({})), [])
    }
  )

  it.each([
    ["Proposal", { proposalId: "p", requestId: "r" }, "p"],
    ["Vote", { proposal_id: "p", requestId: "r" }, "p"],
    ["Approve", { requestId: "r", taskId: "t" }, "r"],
    ["Approve", { request_id: "r" }, "r"],
    ["TaskAccept", { taskId: "t" }, "t"],
    ["TaskReject", { task_id: "t" }, "t"],
    ["HandoffAccept", { handoffId: "h" }, "h"],
    ["HandoffDecline", { handoff_id: "h", proposalId: "" }, "h"],
    ["Commitment", { commitmentId: "c", decisionId: "d" }, "c"],
    ["Commitment", { commitment_id: "c" }, "c"],
    ["Commitment", { decision_id: "d" }, "d"],
    ["SignalAck", { signalId: "s" }, "s"],
    ["SignalAck", { signal_id: "s" }, "s"],
    ["PolicyResolved", { policyId: "p", policyVersion: "v" }, "p"],
    ["PolicyResolved", { policy_version: "v" }, "v"],
    ["PolicyCommitmentEvaluated", { commitmentId: "c" }, "c"],
    ["PolicyDenied", { commitmentId: "c" }, "c"],
    ["ToolCall", { toolCallId: "t", requestId: "r" }, "t"],
    ["ToolResult", { tool_call_id: "t" }, "t"],
    ["ToolOutput", { requestId: "r" }, "r"]
  ])("takes the subject of a %s with %j: %s", (messageType, payload, id) => {
    assert.strictEqual(derivedOf(messageType, json(payload))[0]?.subject?.id, id)
  })

  it("carries the common data, the decoded payload, its type, and a summary at the top", () => {
    const payload = { proposalId: "p1", recommendation: "APPROVE", confidence: 0.9, reason: "ok" }
    assert.deepStrictEqual(derivedOf("Evaluation", proto(payload))[0]?.recorded.data, {
      modeName: DECISION,
      messageType: "Evaluation",
      messageId: "m1",
      sessionId: "session-1",
      sender: "agent://a",
      confidence: 0.9,
      proposalId: "p1",
      decodedPayload: payload,
      payloadTypeName: "macp.modes.decision.v1.EvaluationPayload"
    })
    assert.notProperty(derivedOf("Evaluation", json(payload))[0]?.recorded.data, "payloadTypeName")
  })
})

const payloadOf = (messageType: string, payload: Uint8Array, mode?: string) =>
  derivedOf(messageType, payload, mode)[0]?.recorded.data["decodedPayload"] as JsonObject

describe("decision.finalized", () => {
  it.each([
    [{ action: "decision.selected", outcomePositive: true }, true],
    [{ action: "decision.rejected" }, false],
    [{ action: "decision.rejected", outcomePositive: false }, false],
    [{ action: "approve", outcomePositive: false }, true],
    [{ action: "step_up", outcomePositive: true }, true],
    [{ action: "step_up", outcomePositive: false }, undefined],
    [{ action: "step_up" }, undefined]
  ])("infers an outcome that the protobuf of %j does not state: %s", (payload, outcome) => {
    const decoded = payloadOf("Commitment", proto(payload))
    assert.strictEqual(decoded["outcome_positive"], outcome)
    assert.notStrictEqual(decoded["outcomePositive"], false)
  })

  it("believes a false that is stated in JSON", () => {
    assert.strictEqual(
      payloadOf("Commitment", json({ action: "approve", outcome_positive: false }))["outcome_positive"],
      false
    )
    assert.strictEqual(
      payloadOf("Commitment", json({ action: "x", outcomePositive: false }))["outcome_positive"],
      false
    )
  })
})

describe("signal.emitted", () => {
  it("leaves out what protobuf only says by default and lifts the severity from the data", () => {
    const data = base64({ severity: "high" })
    const payload = proto({ signalType: "alert", data, confidence: 0, correlationSessionId: "" })
    const [event] = derivedOf("Signal", payload)
    assert.deepStrictEqual(event?.recorded.data["decodedPayload"], { signalType: "alert", data, severity: "high" })
    assert.deepInclude(event?.recorded.data, { signalType: "alert", name: "alert", severity: "high" })
  })

  it("has the signal's data at the top as well, unless it is long", () => {
    const liftedOf = (data: string) =>
      derivedOf("Signal", proto({ signalType: "alert", data }))[0]?.recorded.data["data"]
    const short = base64({ severity: "high" })
    assert.strictEqual(liftedOf(short), short)
    assert.isUndefined(liftedOf(base64({ text: "x".repeat(4_000) })))
    assert.deepStrictEqual(derivedOf("Signal", json({ signalType: "x", data: { a: 1 } }))[0]?.recorded.data["data"], {
      a: 1
    })
  })

  it("keeps what is stated", () => {
    const payload = { signalType: "alert", data: "", confidence: 0.5, correlationSessionId: "s" }
    assert.deepStrictEqual(payloadOf("Signal", proto(payload)), payload)
    assert.deepStrictEqual(payloadOf("Signal", json({ signalType: "x", severity: "low" })), {
      signalType: "x",
      severity: "low"
    })
  })
})

describe("progress.reported", () => {
  it.each([
    [
      { progress: 0.3, message: "on it" },
      { percentage: 30, message: "on it" }
    ],
    [{ progress: 0.55 }, { percentage: 55, message: "" }],
    [{ progress: 1 }, { percentage: 100, message: "" }],
    [{ message: "x" }, { message: "x" }],
    [{ progress: 0, total: 0, progressToken: "" }, { message: "" }],
    [
      { progress: 3, total: 12, progressToken: "t" },
      { percentage: 25, message: "", progressToken: "t", total: 12 }
    ],
    [{ progress: 1e308 }, { message: "" }]
  ])("reports %j as %j", (payload, expected) => {
    const [event] = derivedOf("Progress", proto(payload))
    assert.strictEqual(event?.type, "progress.reported")
    assert.deepStrictEqual(event?.subject, { kind: "participant", id: "agent://a" })
    assert.deepStrictEqual(event?.recorded.data["decodedPayload"], expected)
  })

  const task = (messageType: string, payload: Uint8Array) => derivedOf(messageType, payload, "macp.mode.task.v1")

  it.each([
    ["TaskUpdate", { progress: 0.4, message: "m", status: "s" }, { percentage: 40, message: "m" }],
    ["TaskUpdate", { progress: 40, status: "s" }, { percentage: 40, message: "s" }],
    ["TaskUpdate", { progress: 1 }, { percentage: 100, message: "" }],
    ["TaskComplete", { summary: "x" }, { percentage: 100, message: "completed" }],
    ["TaskFail", { reason: "broken" }, { message: "broken" }],
    ["TaskFail", {}, { message: "failed" }]
  ])("reports %s %j beside its proposal.updated", (messageType, payload, expected) => {
    const drafts = task(messageType, proto({ taskId: "t1", ...payload }))
    assert.deepStrictEqual(
      drafts.map(({ type }) => type),
      ["proposal.updated", "progress.reported"]
    )
    assert.deepStrictEqual(drafts[1]?.subject, { kind: "message", id: "m1" })
    assert.deepStrictEqual(drafts[1]?.recorded.data["decodedPayload"], expected)
  })

  it("reports no progress that a TaskUpdate does not have", () => {
    for (const payload of [{}, { progress: 0 }]) assert.strictEqual(task("TaskUpdate", proto(payload)).length, 1)
    assert.strictEqual(task("TaskUpdate", json({ progress: 0 })).length, 2)
  })
})

describe("policy.resolved", () => {
  it("has the policy version at the top, which is the policy id by default", () => {
    assert.strictEqual(derivedOf("PolicyResolved", json({ policy_id: "p" }))[0]?.recorded.data["policyVersion"], "p")
    assert.strictEqual(
      derivedOf("PolicyResolved", json({ policyId: "p", policyVersion: "v" }))[0]?.recorded.data["policyVersion"],
      "v"
    )
    assert.notProperty(derivedOf("PolicyResolved", json({}))[0]?.recorded.data, "policyVersion")
  })
})
