import { assert, describe, it } from "@effect/vitest"
import {
  activePolicy,
  artifactCreated,
  decisionRecord,
  MAX_RECORDED_RULES,
  participantSeen,
  policyResolved,
  runCancelled,
  runCompleted,
  runCreated,
  runFailed,
  runResumed,
  runStarted,
  runSuspended,
  sessionBound,
  sessionStateChanged,
  streamOpened
} from "@runplane/domain"
import { number, recordedDraft } from "../support/events.ts"
import { NOW, snapshot } from "../support/frames.ts"

const run = { ts: NOW, runId: "run-1", traceId: "trace-1" }
const end = { ...run, endedAt: NOW, runtimeSessionId: "session-1" }
const runEvent = (type: string, data: object) => ({
  ts: NOW,
  type,
  subject: { kind: "run", id: "run-1" },
  source: { kind: "control-plane", name: "run-manager" },
  data
})

const policy = {
  policyId: "p.main",
  mode: "macp.mode.decision.v1",
  schemaVersion: 3,
  description: "two of three",
  rules: '{"voting":{"algorithm":"majority"},"_why":"habit"}'
}

describe("the policy of a session", () => {
  it("is recorded as the runtime has it when the run is bound", () => {
    assert.deepStrictEqual<object>(recordedDraft(policyResolved(NOW, snapshot({}), policy)), {
      ts: NOW,
      type: "policy.resolved",
      subject: { kind: "policy", id: "p.main" },
      source: { kind: "control-plane", name: "run-executor" },
      data: {
        modeName: snapshot({}).mode,
        messageType: "PolicyResolved",
        sessionId: snapshot({}).sessionId,
        policyVersion: "p.main",
        decodedPayload: { policyVersion: "p.main", policyId: "p.main", description: "two of three", resolvedAt: NOW },
        descriptor: { ...policy, rules: { voting: { algorithm: "majority" }, _why: "habit" } }
      }
    })
  })

  it("governs the decision by the rules on record", () => {
    const events = [
      sessionBound(NOW, snapshot({ mode: "macp.mode.decision.v1" })),
      policyResolved(NOW, snapshot({}), policy)
    ]
    const run = decisionRecord(number(events))
    const { policySource, sessionRules } = activePolicy(run)
    assert.strictEqual(policySource, "recorded")
    assert.strictEqual(sessionRules?.terms.policy.rules.voting.algorithm, "majority")
    assert.strictEqual(sessionRules?.terms.policy.schemaVersion, 3)
  })

  it("keeps rules that are no JSON object, or too deep, as their text", () => {
    const deep = `${'{"a":'.repeat(100)}1${"}".repeat(100)}`
    for (const rules of ["", "[]", "not JSON", deep]) {
      const { data } = policyResolved(NOW, snapshot({}), { ...policy, rules }).recorded
      assert.propertyVal(data["descriptor"], "rules", rules)
    }
  })

  it("is named without its rules when they are too large to be recorded", () => {
    const rules = `{"_":"${"x".repeat(MAX_RECORDED_RULES)}"}`
    const { data } = policyResolved(NOW, snapshot({}), { ...policy, rules }).recorded
    assert.strictEqual(data["policyVersion"], "p.main")
    assert.notProperty(data, "descriptor")
  })
})

describe("ControlPlaneEvents", () => {
  it("describes the steps of a run and leaves absent values out", () => {
    const modeName = "macp.mode.decision.v1"
    assert.deepStrictEqual<object>(
      recordedDraft(
        runCreated({ ...run, modeName, runtimeKind: "rust", runtimeVersion: undefined, sessionId: "session-1" })
      ),
      runEvent("run.created", {
        status: "queued",
        modeName,
        runtimeKind: "rust",
        sessionId: "session-1",
        traceId: "trace-1"
      })
    )
    assert.deepStrictEqual<object>(
      recordedDraft(runStarted({ ...run, startedAt: NOW, modeName, runtimeKind: "rust" })),
      runEvent("run.started", {
        status: "starting",
        startedAt: NOW,
        modeName,
        runtimeKind: "rust",
        traceId: "trace-1"
      })
    )
    const ended = { endedAt: NOW, runtimeSessionId: "session-1", traceId: "trace-1" }
    assert.deepStrictEqual(runCompleted(end).recorded.data, { status: "completed", ...ended })
    assert.deepStrictEqual(runFailed({ ...end, error: "boom", errorCode: "RUNTIME_TIMEOUT" }).recorded.data, {
      status: "failed",
      ...ended,
      error: "boom",
      errorCode: "RUNTIME_TIMEOUT"
    })
    assert.deepStrictEqual(runCancelled({ ...end, reason: "enough" }).recorded.data, {
      status: "cancelled",
      ...ended,
      reason: "enough"
    })
    assert.deepStrictEqual(runCancelled(end).recorded.data, { status: "cancelled", ...ended })
  })

  it("describes suspend and resume with the status they lead to", () => {
    const pause = { ...run, runtimeSessionId: "session-1" }
    const common = { runtimeSessionId: "session-1", traceId: "trace-1" }
    assert.deepStrictEqual<object>(
      recordedDraft(runSuspended({ ...pause, reason: "lunch" })),
      runEvent("run.suspended", { status: "suspended", ...common, reason: "lunch" })
    )
    assert.deepStrictEqual<object>(
      recordedDraft(runResumed(pause)),
      runEvent("run.resumed", { status: "running", ...common })
    )
  })

  it("describes a bound session, whose policy is policy.default when it names none", () => {
    const event = sessionBound(NOW, snapshot({ policyVersion: "", contextId: "ctx", extensionKeys: ["x"] }))
    assert.deepStrictEqual<object>(recordedDraft(event), {
      ts: NOW,
      type: "session.bound",
      subject: { kind: "session", id: "session-1" },
      source: { kind: "control-plane", name: "run-executor" },
      data: {
        sessionId: "session-1",
        initiator: "agent://a",
        state: "OPEN",
        modeName: "macp.mode.decision.v1",
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        policyVersion: "policy.default",
        participants: ["agent://a", "agent://b"],
        contextId: "ctx",
        extensionKeys: ["x"]
      }
    })
  })

  it("describes a session state alone, or with the snapshot it came from", () => {
    assert.deepStrictEqual(sessionStateChanged(NOW, { sessionId: "session-1", state: "OPEN" }).recorded.data, {
      sessionId: "session-1",
      state: "OPEN"
    })
    assert.deepStrictEqual(
      sessionStateChanged(NOW, snapshot({ state: "RESOLVED", startedAtUnixMs: 0 })).recorded.data,
      {
        sessionId: "session-1",
        state: "RESOLVED",
        expiresAtUnixMs: 1_790_000_060_000,
        modeName: "macp.mode.decision.v1",
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        policyVersion: "policy.default"
      }
    )
  })

  it("says which part of the control plane opened the stream", () => {
    const reconnecting = streamOpened(NOW, "session-1", { status: "reconnecting", detail: "try 2", requestedAfter: 4 })
    assert.deepStrictEqual(reconnecting.recorded.data, { status: "reconnecting", detail: "try 2", requestedAfter: 4 })
    assert.strictEqual(reconnecting.source.name, "stream-consumer")
    assert.strictEqual(streamOpened(NOW, "session-1", { status: "recovered" }).source.name, "run-recovery")
  })

  it("describes declared participants and artifacts", () => {
    assert.deepStrictEqual(participantSeen(NOW, "agent://a").recorded.data, {
      participantId: "agent://a",
      status: "idle"
    })
    const artifact = { artifactId: "a1", kind: "trace", label: "Root run trace", traceId: "trace-1" }
    assert.deepStrictEqual<object>(recordedDraft(artifactCreated(NOW, artifact, "run-executor")), {
      ts: NOW,
      type: "artifact.created",
      subject: { kind: "artifact", id: "a1" },
      source: { kind: "control-plane", name: "run-executor" },
      data: { kind: "trace", label: "Root run trace", artifactId: "a1", traceId: "trace-1" }
    })
  })
})
