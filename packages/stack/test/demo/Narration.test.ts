import { assert, describe, it } from "@effect/vitest"
import { CANONICAL_EVENT_TYPES, type CanonicalEvent, type CanonicalEventType, RunId } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { narrate, plainText } from "../../src/demo/Narration.ts"

const runId = Schema.decodeUnknownSync(RunId)("3fa85f64-5717-4562-b3fc-2c963f66afa6")

const event = (type: CanonicalEventType, data: CanonicalEvent["data"]): CanonicalEvent => ({
  id: "e1",
  runId,
  seq: 1,
  index: 1,
  ts: "2026-07-01T10:00:00.000Z",
  type,
  schemaVersion: 3,
  source: { kind: "runtime", name: "rust-runtime" },
  data
})

const told = (type: CanonicalEventType, data: CanonicalEvent["data"]) => {
  const line = narrate(event(type, data))
  return line === undefined ? undefined : `${line.who} ${line.what}`
}

const message = (sender: string, messageType: string, decodedPayload: CanonicalEvent["data"]) => ({
  sender,
  messageType,
  decodedPayload
})

describe("the story of a run", () => {
  it.each([
    ["run.created", {}, "run created, waiting for its session"],
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
      "one evaluates APPROVE with confidence 0.9: safe"
    ],
    ["proposal.updated", message("one", "Objection", { severity: "critical" }), "one objects (critical)"],
    ["proposal.updated", message("one", "Vote", { vote: "REJECT", reason: "cold" }), "one votes REJECT: cold"],
    ["proposal.updated", message("one", "Withdraw", {}), "one answers Withdraw"],
    ["signal.emitted", message("one", "Signal", { signalType: "standby_cold" }), "one signals standby_cold"],
    [
      "llm.call.completed",
      message("one", "Signal", { model: "m1", promptTokens: 12, completionTokens: 3 }),
      "one used m1, 12 + 3 tokens"
    ],
    [
      "decision.finalized",
      message("lead", "Commitment", { action: "decision.selected", outcome_positive: true, reason: "3 of 3" }),
      "lead commits decision.selected (positive): 3 of 3"
    ],
    ["run.failed", { error: "time is up" }, "run failed: time is up"],
    ["run.cancelled", { reason: "no longer needed" }, "run cancelled: no longer needed"],
    ["session.stream.opened", { status: "reconnecting" }, "run stream reconnecting"]
  ] satisfies ReadonlyArray<[CanonicalEventType, CanonicalEvent["data"], string]>)(
    "tells %s with %o",
    (type, data, line) => {
      assert.strictEqual(told(type, data), line)
    }
  )

  it("leaves out receipts, percentages and what other lines tell", () => {
    assert.isUndefined(told("message.received", message("one", "Vote", {})))
    assert.isUndefined(told("progress.reported", message("one", "Progress", { percentage: 50 })))
    assert.isUndefined(told("signal.emitted", message("one", "Signal", { signalType: "llm.call.completed" })))
    assert.isUndefined(told("session.stream.opened", { status: "opened" }))
  })

  it("survives events of every type with data of any form", () => {
    for (const type of CANONICAL_EVENT_TYPES) {
      for (const data of [{}, { sender: 7, decodedPayload: "text" }, { decodedPayload: { option: [1], vote: {} } }]) {
        const line = narrate(event(type, data))
        if (line !== undefined) assert.notInclude(`${line.who} ${line.what}`, "undefined")
      }
    }
  })

  it("lets no sender write on the terminal of somebody else", () => {
    const line = narrate(event("proposal.updated", message("\u001b[2Jone", "Vote", { vote: "\r\nfake line\u0007" })))
    assert.deepStrictEqual(line, { who: "[2Jone", what: "votes fake line", weight: "normal" })
    assert.strictEqual(plainText("a\u202eb\u2028c"), "a b c")
  })

  it("cuts reasons that are longer than a line", () => {
    const line = told("proposal.updated", message("one", "Vote", { vote: "APPROVE", reason: "x".repeat(500) }))
    assert.isBelow(line?.length ?? 0, 150)
  })
})
