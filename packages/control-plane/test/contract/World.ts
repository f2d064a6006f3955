import { randomUUID } from "node:crypto"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { call, descriptor } from "../support/HttpService.ts"
import { awaitEvent, awaitStatus } from "../support/Observation.ts"

export const LEAD = "agent://lead"
export const RISK = "agent://risk"
export const MODE = "macp.mode.decision.v1"

/** The frames of the session of the scripted run, in their order. */
const script: ReadonlyArray<
  readonly [messageType: string, sender: string, payload: Readonly<Record<string, unknown>>]
> = [
  ["SessionStart", LEAD, { participants: [LEAD, RISK] }],
  ["PolicyResolved", LEAD, { policyId: "p.main", policyVersion: "p.main.v1", description: "main", resolvedAt: "now" }],
  ["Proposal", LEAD, { proposalId: "p1", option: "go", rationale: "because", confidence: 0.8 }],
  ["Evaluation", RISK, { proposalId: "p1", recommendation: "APPROVE", confidence: 0.9, reason: "sound" }],
  ["Vote", RISK, { proposalId: "p1", vote: "APPROVE", reason: "fine" }],
  ["Note", RISK, { llmCall: { prompt_tokens: 100, completionTokens: 50, model: "vendor1-4o", latencyMs: 12 } }],
  ["Note", RISK, { metadata: { tokenUsage: { promptTokens: 1_000_000, completionTokens: 0, model: "unheard-of" } } }],
  ["Progress", RISK, { progress: 0.5, message: "half" }],
  ["ToolCall", RISK, { toolCallId: "t1", name: "look" }],
  ["ToolResult", RISK, { toolCallId: "t1", result: 7 }],
  ["PolicyCommitmentEvaluated", LEAD, { commitmentId: "c1", decision: "allow", reasons: ["quorum met"] }],
  ["PolicyDenied", LEAD, { commitmentId: "c0", reasons: ["too early"] }],
  ["Signal", RISK, { signalType: "risk.high", severity: "high", confidence: 0.7 }],
  ["SignalAck", LEAD, { signalId: "m12" }],
  ["Commitment", LEAD, { proposalId: "p1", commitmentId: "c1", action: "approve", confidence: 0.9, reason: "agreed" }]
]

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

export const METADATA = {
  environment: "staging",
  scenarioRef: "loans/fast-check@1.0.0",
  source: "launch-service",
  sourceRef: "loans/fast-check@1.0.0",
  templateId: "default",
  runLabel: "nightly loan"
}

const post = Effect.fnUntraced(function* (sessionId: string, metadata: Readonly<Record<string, unknown>>) {
  const { body } = yield* call("POST", "/runs", {
    body: descriptor({ session: { sessionId, metadata }, execution: { tags: ["nightly"] } })
  })
  return RunId.make(body.runId)
})

const running = Effect.fnUntraced(function* (metadata: Readonly<Record<string, unknown>> = METADATA) {
  const sessionId = randomUUID()
  const fake = yield* RuntimeFake
  yield* fake.openSession({ sessionId, participants: [LEAD, RISK], initiator: LEAD })
  const runId = yield* post(sessionId, metadata)
  yield* awaitStatus(runId, "running")
  return runId
})

const ended = Effect.fnUntraced(function* (how: "RESOLVED" | "EXPIRED" | "CANCELLED") {
  const runId = yield* running()
  const fake = yield* RuntimeFake
  // A session has its SessionStart, or its end would wait for it.
  yield* fake.accept(runId, { messageType: "SessionStart", sender: LEAD })
  yield* fake.transition(runId, how)
  yield* awaitStatus(runId, how === "RESOLVED" ? "completed" : how === "EXPIRED" ? "failed" : "cancelled")
  return runId
})

const scripted = Effect.gen(function* () {
  const runId = yield* running()
  const fake = yield* RuntimeFake
  for (const [index, [messageType, sender, payload]] of script.entries()) {
    yield* fake.accept(runId, { messageType, sender, messageId: `m${index}`, payload: bytes(payload) })
  }
  // Frames beside the history reach only who listens already.
  yield* fake.awaitOpenStreams("StreamSession", 1, runId)
  yield* fake.deliverInlineError(runId, "PolicyDenied: no quorum; too late", "X")
  yield* awaitEvent(runId, "policy.denied", ({ errorMessage }) => String(errorMessage).includes("no quorum"))
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitStatus(runId, "completed")
  return runId
})

const waiting = Effect.fnUntraced(function* (metadata: Readonly<Record<string, unknown>>) {
  const runId = yield* post(randomUUID(), metadata)
  yield* awaitStatus(runId, "starting")
  return runId
})

/** How to create a run in the state of a statement. Each is a run of its own, only `scripted` is shared. */
export const givens = {
  unknown: Effect.sync(() => RunId.make(randomUUID())),
  /** Waits for its initiator. */
  waiting: waiting({}),
  delegated: running({ cancellationDelegated: true }),
  running: running(),
  suspended: Effect.tap(running(), (runId) => call("POST", `/runs/${runId}/suspend`)),
  completed: ended("RESOLVED"),
  failed: ended("EXPIRED"),
  cancelled: ended("CANCELLED"),
  /** A completed run whose log has an event of nearly every kind. */
  scripted
}
export type Given = keyof typeof givens
