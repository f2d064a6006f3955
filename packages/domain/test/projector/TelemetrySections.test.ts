import { assert, describe, it } from "@effect/vitest"
import { at, created, derived, draft, given, received } from "../support/events.ts"

describe("telemetry sections", () => {
  const signal = (id: string) =>
    derived("signal.emitted", "Signal", "a", { signalType: "alert", data: "", severity: "high", confidence: 0.5 }, id)

  it("lists signals with their payload and fills in the acknowledgement", () => {
    const ack = derived("signal.acknowledged", "SignalAck", "b", { signalId: "s1" }, "s1")
    const { signals } = given(signal("s1"), signal("s2")).when(
      ack,
      derived("signal.acknowledged", "SignalAck", "c", {}, "s1")
    ).signals
    const entry = {
      name: "alert",
      severity: "high",
      sourceParticipantId: "a",
      confidence: 0.5,
      payload: { signalType: "alert", data: "", severity: "high", confidence: 0.5 }
    }
    assert.deepStrictEqual(signals, [
      { id: "s1", ...entry, ts: at(1), acknowledgedAt: at(3), acknowledgedBy: "b" },
      { id: "s2", ...entry, ts: at(2) }
    ])
  })

  it("ignores an acknowledgement of nothing, and names a signal without type by its message", () => {
    const state = given(derived("signal.emitted", "Signal", "a", {}, "s1")).when(
      derived("signal.acknowledged", "SignalAck", "b", {}, "nowhere")
    )
    assert.strictEqual(state.signals.signals[0]?.name, "Signal")
    assert.notProperty(state.signals.signals[0], "acknowledgedAt")
  })

  it("lists progress", () => {
    const state = given().when(
      derived("progress.reported", "Progress", "a", { percentage: 30, message: "on it" }),
      derived("progress.reported", "TaskFail", "a", { message: "failed" })
    )
    assert.deepStrictEqual(state.progress.entries, [
      { participantId: "a", percentage: 30, message: "on it", ts: at(1) },
      { participantId: "a", message: "failed", ts: at(2) }
    ])
  })

  it("keeps the timeline of every event", () => {
    const state = given(created).when(draft("tool.called", {}, "t1"))
    assert.deepStrictEqual(state.timeline, {
      latestSeq: 20,
      latestIndex: 2,
      totalEvents: 2,
      recent: [
        { id: "event-1", seq: 10, ts: at(1), type: "run.created", subject: { kind: "message", id: "s1" } },
        { id: "event-2", seq: 20, ts: at(2), type: "tool.called", subject: { kind: "message", id: "t1" } }
      ]
    })
  })

  it("counts spans and links each artifact once", () => {
    const artifact = draft("artifact.created", { artifactId: "a1" })
    const traced = { ...artifact, trace: { traceId: "t2", spanId: "s2" } }
    const state = given({ ...created, trace: { traceId: "t1", spanId: "s1" } }).when(traced, artifact, {
      ...artifact,
      trace: { traceId: "t3" }
    })
    assert.deepStrictEqual(state.trace, { traceId: "t3", spanCount: 2, lastSpanId: "s2", linkedArtifacts: ["a1"] })
  })

  it("counts each message id once, an acceptance over a refusal, and no refusal without an id", () => {
    const state = given().when(
      received("Vote", "a"),
      draft("message.received", { messageType: "Signal", messageId: "", sender: "a" }),
      draft("message.sent", { messageId: "m1", ok: true }),
      draft("message.sent", { messageId: "m2", ok: false }),
      draft("message.sent", { messageId: "m2", ok: false, repeated: true }),
      draft("message.send_failed", {}),
      draft("message.send_failed", { messageId: "" }),
      draft("message.send_failed", { messageId: "m3" }),
      draft("message.send_failed", { messageId: "m4" }),
      draft("message.received", { messageType: "Vote", messageId: "m4", sender: "a", repeated: true }),
      draft("message.send_failed", { messageId: "m4", repeated: true })
    )
    assert.deepStrictEqual(state.outboundMessages, { total: 4, queued: 0, accepted: 2, rejected: 2 })
  })

  it("counts LLM calls without usage", () => {
    const counts = { promptTokens: 0, completionTokens: 0, totalTokens: 0, usage: "missing" }
    const state = given().when(
      derived("llm.call.completed", "Signal", "a", { promptTokens: 10, totalTokens: 10 }, "m1"),
      derived("llm.call.completed", "Signal", "a", counts, "m2"),
      derived("llm.call.completed", "Signal", "b", { ...counts, calls: 7 }, "m3")
    )
    assert.deepInclude(state.llm.totals, { callCount: 9, totalTokens: 10, callsWithoutUsage: 8 })
    assert.deepStrictEqual(
      state.llm.calls.map(({ usage }) => usage),
      [undefined, "missing", "missing"]
    )
  })

  it("adds up the cached, written and reasoning tokens of LLM calls, and the guessed part of their cost", () => {
    const counts = { promptTokens: 10, completionTokens: 5, totalTokens: 15 }
    const state = given().when(
      derived("llm.call.completed", "Signal", "a", {
        ...{ ...counts, cachedTokens: 4, cacheWriteTokens: 2, reasoningTokens: 3 },
        ...{ estimatedCostUsd: 0.2, costBasis: "catalogue" }
      }),
      derived("llm.call.completed", "Signal", "a", { ...counts, cachedTokens: 1, estimatedCostUsd: 1 }),
      derived("llm.call.completed", "Signal", "b", { ...counts, estimatedCostUsd: 0.1, costBasis: "fallback" })
    )
    assert.deepStrictEqual(state.llm.totals, {
      callCount: 3,
      promptTokens: 30,
      completionTokens: 15,
      totalTokens: 45,
      cachedTokens: 5,
      cacheWriteTokens: 2,
      reasoningTokens: 3,
      estimatedCostUsd: 1.3,
      guessedCostUsd: 0.1
    })
  })

  it("lists LLM calls and adds them up", () => {
    const call = { promptTokens: 10, completionTokens: 5, totalTokens: 15, estimatedCostUsd: 0.25 }
    const state = given().when(
      derived("llm.call.completed", "Signal", "a", { model: "m", ...call, latencyMs: 9, artifactId: "x" }, "m1"),
      derived("llm.call.completed", "Signal", "b", call, "m2")
    )
    assert.deepStrictEqual(state.llm, {
      calls: [
        {
          participantId: "a",
          model: "m",
          promptTokens: 10,
          completionTokens: 5,
          totalTokens: 15,
          latencyMs: 9,
          ts: at(1),
          messageId: "m1",
          artifactId: "x",
          estimatedCostUsd: 0.25
        },
        {
          participantId: "b",
          promptTokens: 10,
          completionTokens: 5,
          totalTokens: 15,
          ts: at(2),
          messageId: "m2",
          estimatedCostUsd: 0.25
        }
      ],
      totals: { callCount: 2, promptTokens: 20, completionTokens: 10, totalTokens: 30, estimatedCostUsd: 0.5 }
    })
  })
})
