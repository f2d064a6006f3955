import { assert, describe, it } from "@effect/vitest"
import {
  CANONICAL_EVENT_TYPES,
  type CanonicalEventType,
  draftEvent,
  type JsonObject,
  RunId,
  recordEvent
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestConsole from "effect/testing/TestConsole"
import { lineOf, makeEventPrinter, styleFor } from "../../src/narrative/Narrative.ts"
import { plainText } from "../../src/narrative/PlainText.ts"

const runId = Schema.decodeUnknownSync(RunId)("3fa85f64-5717-4562-b3fc-2c963f66afa6")

const event = (type: CanonicalEventType, data: JsonObject) =>
  recordEvent(
    draftEvent(type, { ts: "2026-07-01T10:00:00.000Z", source: { kind: "runtime", name: "rust-runtime" } }, data),
    { id: "e1", runId, seq: 1, index: 1 }
  )

const printed = (type: CanonicalEventType, data: JsonObject) => {
  const line = lineOf(event(type, data))
  return line === undefined ? undefined : `${line.who} ${line.what}`
}

const message = (sender: string, messageType: string, decodedPayload: JsonObject) => ({
  sender,
  messageType,
  decodedPayload
})

const receipt = (report: JsonObject) => ({
  ...{ artifactId: "a1", kind: "macp.receipt", label: "Receipt of the decision" },
  receipt: report
})

describe("the narrative of a run", () => {
  it.each([
    ["run.created", {}, "run is created, waiting for its session"],
    [
      "session.bound",
      { initiator: "lead", participants: ["lead", "one"], policyVersion: "policy.default" },
      "lead opens the session for 2 participants, under policy.default"
    ],
    [
      "proposal.created",
      message("lead", "Proposal", { proposalId: "p1", option: "go", rationale: "it burns" }),
      "lead proposes go: it burns"
    ],
    [
      "proposal.updated",
      message("one", "Evaluation", { recommendation: "APPROVE", confidence: 0.9, reason: "safe" }),
      "one recommends APPROVE with confidence 0.9: safe"
    ],
    ["proposal.updated", message("one", "Objection", { severity: "critical" }), "one objects (critical)"],
    [
      "artifact.created",
      receipt({ verified: false, signed: true, disagreements: ["session_id", "reason"], reason: "it disagrees" }),
      "run has a receipt that disagrees with the log in session_id, reason"
    ],
    [
      "artifact.created",
      receipt({ verified: false, signed: false, reason: "the runtime has no receipt: NOT_FOUND" }),
      "run has no verified receipt of its decision: the runtime has no receipt: NOT_FOUND"
    ],
    ["proposal.updated", message("one", "Vote", { vote: "REJECT", reason: "cold" }), "one votes REJECT: cold"],
    ["proposal.updated", message("one", "Novelty", { reason: "why" }), "one sends Novelty: why"],
    ["proposal.updated", message("one", "constructor", {}), "one sends constructor"],
    [
      "proposal.created",
      message("lead", "ApprovalRequest", { action: "deploy", requiredApprovals: 3, summary: "to all" }),
      "lead requests 3 approvals of deploy: to all"
    ],
    ["proposal.updated", message("one", "Approve", { reason: "green" }), "one approves: green"],
    ["proposal.updated", message("one", "Abstain", {}), "one abstains"],
    [
      "proposal.created",
      message("lead", "Proposal", { proposalId: "o1", title: "40 x server" }),
      "lead proposes 40 x server"
    ],
    [
      "proposal.created",
      message("one", "CounterProposal", { summary: "40 at EUR 7,000" }),
      "one makes a counter-proposal: 40 at EUR 7,000"
    ],
    ["proposal.updated", message("one", "Accept", { reason: "fair" }), "one accepts the offer: fair"],
    [
      "proposal.updated",
      message("one", "Reject", { terminal: true, reason: "too dear" }),
      "one rejects the offer for good: too dear"
    ],
    ["proposal.updated", message("one", "Withdraw", {}), "one withdraws the offer"],
    [
      "proposal.created",
      message("lead", "TaskRequest", { title: "erase", requestedAssignee: "one" }),
      "lead requests the task erase from one"
    ],
    ["proposal.updated", message("one", "TaskAccept", {}), "one accepts the task"],
    [
      "proposal.updated",
      message("one", "TaskUpdate", { progress: 0.5, message: "half" }),
      "one works on the task (50 %): half"
    ],
    ["proposal.updated", message("one", "TaskComplete", { summary: "all" }), "one completes the task: all"],
    [
      "proposal.updated",
      message("one", "TaskFail", { errorCode: "HOLD", reason: "no" }),
      "one fails the task (HOLD): no"
    ],
    [
      "proposal.created",
      message("lead", "HandoffOffer", { scope: "the case", targetParticipant: "one", reason: "billing" }),
      "lead offers the case to one: billing"
    ],
    ["proposal.updated", message("lead", "HandoffContext", {}), "lead sends context"],
    ["proposal.updated", message("one", "HandoffAccept", { implicit: true }), "one accepts the handoff by time-out"],
    ["proposal.updated", message("one", "HandoffDecline", { reason: "full" }), "one declines the handoff: full"],
    ["signal.emitted", message("one", "Signal", { signalType: "standby_cold" }), "one signals standby_cold"],
    [
      "llm.call.completed",
      message("one", "Signal", { model: "m1", promptTokens: 12, completionTokens: 3 }),
      "one uses m1, 12 + 3 tokens"
    ],
    [
      "llm.call.completed",
      message("one", "Signal", { model: "m1", usage: "missing" }),
      "one uses m1, tokens not stated"
    ],
    [
      "llm.call.completed",
      message("one", "Signal", { model: "m1", promptTokens: 10, completionTokens: 5, totalTokens: 115 }),
      "one uses m1, 115 tokens"
    ],
    [
      "decision.finalized",
      message("lead", "Commitment", { action: "decision.selected", outcome_positive: true, reason: "3 of 3" }),
      "lead commits an approval: 3 of 3"
    ],
    ["run.failed", { error: "time is up" }, "run fails: time is up"],
    ["run.cancelled", { reason: "no longer needed" }, "run is cancelled: no longer needed"],
    ["session.stream.opened", { status: "reconnecting" }, "run reconnects to its session"]
  ] satisfies ReadonlyArray<[CanonicalEventType, JsonObject, string]>)("shows %s with %o", (type, data, line) => {
    assert.strictEqual(printed(type, data), line)
  })

  it("leaves out receipts, percentages and what other lines repeat", () => {
    assert.isUndefined(printed("artifact.created", receipt({ verified: true, signed: true })))
    assert.isUndefined(printed("message.received", message("one", "Vote", {})))
    assert.isUndefined(printed("progress.reported", message("one", "Progress", { percentage: 50 })))
    assert.isUndefined(printed("signal.emitted", message("one", "Signal", { signalType: "llm.call.completed" })))
    assert.isUndefined(printed("session.stream.opened", { status: "opened" }))
  })

  it.effect("names the proposal of an answer as soon as there are two", () =>
    Effect.gen(function* () {
      const print = makeEventPrinter(styleFor({ isTTY: false }, {}))
      const said = (type: CanonicalEventType, proposalId: string, messageType: string, payload: JsonObject) =>
        event(type, message("bea", messageType, { proposalId, ...payload }))
      yield* print(said("proposal.created", "p1", "Proposal", { option: "go" }))
      yield* print(said("proposal.updated", "p1", "Vote", { vote: "REJECT" }))
      yield* print(said("proposal.created", "p2", "Proposal", { option: "hold" }))
      yield* print(said("proposal.updated", "p1", "Vote", { vote: "REJECT", reason: "too early" }))
      yield* print(said("proposal.updated", "p2", "Objection", { severity: "high" }))
      yield* print(said("proposal.updated", "p2", "Approve", {}))
      const lines = (yield* TestConsole.logLines).map((line) => String(line).slice(10).replace(/ +/g, " ").trim())
      assert.deepStrictEqual(lines, [
        "bea proposes go",
        "bea votes REJECT",
        "bea proposes hold",
        "bea votes REJECT on go: too early",
        "bea objects (high) to hold",
        "bea approves (hold)"
      ])
    })
  )

  it("survives events of every type with data of any form", () => {
    for (const type of CANONICAL_EVENT_TYPES) {
      for (const data of [{}, { sender: 7, decodedPayload: "text" }, { decodedPayload: { option: [1], vote: {} } }]) {
        const line = lineOf(event(type, data))
        if (line !== undefined) assert.notInclude(`${line.who} ${line.what}`, "undefined")
      }
    }
  })

  it("lets no sender write on the terminal of a reader", () => {
    const line = lineOf(event("proposal.updated", message("\u001b[2Jone", "Vote", { vote: "\r\nfake line\u0007" })))
    assert.deepStrictEqual(line, { who: "[2Jone", what: "votes fake line", weight: "normal" })
    assert.strictEqual(plainText("a\u202eb\u2028c"), "a b c")
  })

  it("cuts reasons that are longer than a line", () => {
    const line = printed("proposal.updated", message("one", "Vote", { vote: "APPROVE", reason: "x".repeat(500) }))
    assert.isBelow(line?.length ?? 0, 150)
  })
})

// docs/reference/cli.md#story
describe("the times of a narrative", () => {
  const at = (ms: number) => new Date(Date.parse("2026-07-01T10:00:00.000Z") + ms).toISOString()
  const opened = { initiator: "lead", participants: ["lead"], policyVersion: "p" }
  const events = [
    { ...event("run.created", {}), ts: at(0) },
    { ...event("signal.emitted", { sender: "lead", decodedPayload: { signalType: "ready" } }), ts: at(-800) },
    { ...event("session.bound", opened), ts: at(40) },
    { ...event("proposal.created", message("lead", "Proposal", { option: "go" })), ts: at(-950) },
    { ...event("run.completed", {}), ts: at(200) }
  ]
  const linesOf = (metadata: JsonObject) =>
    Effect.gen(function* () {
      const print = makeEventPrinter(styleFor({}, {}), { createdAt: at(0), metadata })
      yield* Effect.forEach(events, print)
      return (yield* TestConsole.logLines).map((line) => String(line).replaceAll(/ +/g, " ").trim())
    })

  it.effect("begin with the creation of a run, and are never negative", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* linesOf({}), [
        "0.0 s run is created, waiting for its session",
        "0.0 s lead signals ready",
        "0.0 s lead opens the session for 1 participant, under p",
        "0.0 s lead proposes go",
        "0.2 s run is completed"
      ])
    })
  )

  it.effect("begin with the discovery of a session, which is open by then", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* linesOf({ discoveredAt: at(-1_000) }), [
        "0.0 s lead opens the session for 1 participant, under p",
        "0.2 s lead signals ready",
        "0.1 s lead proposes go",
        "1.2 s run is completed"
      ])
    })
  )

  it.effect("leave nothing out of a discovered session that was never bound", () =>
    Effect.gen(function* () {
      const print = makeEventPrinter(styleFor({}, {}), { createdAt: at(0), metadata: { discoveredAt: at(-1_000) } })
      const failed = { ...event("run.failed", { error: "away" }), ts: at(500) }
      for (const one of events.slice(0, 2)) yield* print(one)
      yield* print(failed)
      const lines = (yield* TestConsole.logLines).map((line) => String(line).replaceAll(/ +/g, " ").trim())
      assert.deepStrictEqual(lines, ["0.2 s lead signals ready", "1.5 s run fails: away"])
    })
  )
})
