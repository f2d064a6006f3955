import { assert, describe, it } from "@effect/vitest"
import {
  CANONICAL_EVENT_TYPES,
  type EventDraft,
  emptyRunMetrics,
  enrichMetadata,
  measure,
  RunMetrics
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { at, derived, draft, fold, number, RUN_ID } from "../support/events.ts"

const runId = Schema.decodeUnknownSync(RunMetrics.fields.runId)(RUN_ID)
const count = (...drafts: ReadonlyArray<EventDraft>) => number(drafts).reduce(measure, emptyRunMetrics(runId))

const call = { promptTokens: 10, completionTokens: 5, totalTokens: 15, estimatedCostUsd: 0.5 }

describe("Metrics", () => {
  it("starts with every number at 0", () => {
    const { runId: _, ...numbers } = emptyRunMetrics(runId)
    assert.strictEqual(Object.keys(numbers).length, 11)
    assert.isTrue(Object.values(numbers).every((value) => value === 0))
  })

  it("counts each type of event where it belongs", () => {
    assert.deepInclude(count(...CANONICAL_EVENT_TYPES.map((type) => draft(type, {}))), {
      eventCount: CANONICAL_EVENT_TYPES.length,
      messageCount: 3,
      signalCount: 1,
      proposalCount: 2,
      toolCallCount: 2,
      decisionCount: 2,
      streamReconnectCount: 0
    })
  })

  it("counts reconnects and remembers the session's last state", () => {
    const stream = (status: string) => draft("session.stream.opened", { status })
    const metrics = count(
      stream("opened"),
      stream("reconnecting"),
      draft("session.state.changed", { state: "OPEN" }),
      stream("reconnecting"),
      draft("session.state.changed", { state: "RESOLVED" })
    )
    assert.strictEqual(metrics.streamReconnectCount, 2)
    assert.strictEqual(metrics.sessionState, "RESOLVED")
  })

  it("adds up tokens and cost of the LLM calls", () => {
    const llm = derived("llm.call.completed", "Signal", "a", call)
    assert.deepInclude(count(llm, llm), {
      promptTokens: 20,
      completionTokens: 10,
      totalTokens: 30,
      estimatedCostUsd: 1
    })
  })

  it("adds up money in whole billionths", () => {
    const calls = [0.1, 0.2, 1e-9].map((estimatedCostUsd) =>
      derived("llm.call.completed", "Signal", "a", { ...call, estimatedCostUsd })
    )
    assert.strictEqual(count(...calls).estimatedCostUsd, 0.300_000_001)
    assert.strictEqual(fold(calls).llm.totals.estimatedCostUsd, 0.300_000_001)
  })

  it("adds up the parts of the counts and the guessed cost, and leaves out those that are 0", () => {
    const guess = { ...call, cachedTokens: 3, cacheWriteTokens: 1, reasoningTokens: 2, costBasis: "fallback" }
    const llm = derived("llm.call.completed", "Signal", "a", guess)
    const plain = derived("llm.call.completed", "Signal", "a", { ...call, costBasis: "catalogue" })
    assert.deepInclude(count(llm, llm, plain), {
      cachedTokens: 6,
      cacheWriteTokens: 2,
      reasoningTokens: 4,
      estimatedCostUsd: 1.5,
      guessedCostUsd: 1
    })
    assert.doesNotHaveAnyKeys(count(plain), ["cachedTokens", "cacheWriteTokens", "reasoningTokens", "guessedCostUsd"])
  })

  it("counts the LLM calls without usage, and says nothing where there are none", () => {
    const missing = derived("llm.call.completed", "Signal", "a", { usage: "missing" })
    const many = derived("llm.call.completed", "Signal", "a", { usage: "missing", calls: 4 })
    assert.strictEqual(count(missing, many).callsWithoutUsage, 5)
    assert.notProperty(count(derived("llm.call.completed", "Signal", "a", call)), "callsWithoutUsage")
    assert.deepInclude(enrichMetadata(fold([missing]), count(missing), {}), { callsWithoutUsage: 1 })
  })

  it("measures the time between first and last event, until the end of the run", () => {
    const event = draft("tool.called", {})
    assert.deepInclude(count(event, event, event), { firstEventAt: at(1), lastEventAt: at(3), durationMs: 2000 })
    const ended = count(event, draft("run.failed", {}), event, event)
    assert.deepInclude(ended, {
      eventCount: 4,
      firstEventAt: at(1),
      lastEventAt: at(2),
      durationMs: 1000,
      endedAt: at(2)
    })
  })

  it("measures a run from OpenTelemetry by its spans, from its start on", () => {
    const started = draft("run.started", { runtimeKind: "otlp", startedAt: "2026-01-01T10:00:00.000Z" })
    const span = (startedAt: string, endedAt: string) =>
      draft("tool.called", { messageType: "ToolCall", startedAt, endedAt })
    assert.deepInclude(count(draft("run.created", {}), started), { durationMs: 0 })
    const open = count(
      started,
      span("2026-01-01T10:00:01.000Z", "2026-01-01T10:00:05.000Z"),
      span("2026-01-01T09:59:58.000Z", "2026-01-01T10:00:04.000Z")
    )
    const times = { firstSpanAt: "2026-01-01T09:59:58.000Z", lastSpanAt: "2026-01-01T10:00:05.000Z" }
    assert.deepInclude(open, { ...times, durationMs: 7_000, firstEventAt: at(1), lastEventAt: at(3) })
    const end = draft("run.completed", { startedAt: "2026-01-01T09:59:57.000Z", endedAt: "2026-01-02T15:59:57.000Z" })
    assert.deepInclude(count(started, end, span(at(1), at(2))), { durationMs: 30 * 3_600_000 })
    // A clock of the application that is years ahead, or no clock at all.
    assert.deepInclude(count(started, span("2036-01-01T10:00:01.000Z", "2036-01-01T10:00:05.000Z")), {
      durationMs: 4_000
    })
    assert.deepInclude(count(started, span("x", "y")), { durationMs: 0 })
    assert.notProperty(count(span(at(0), at(9))), "firstSpanAt")
  })
})

describe("Enrichment", () => {
  const commitment = derived("decision.finalized", "Commitment", "a", { action: "approve", confidence: 0.8 })
  const signal = derived("signal.emitted", "Signal", "a", {})
  const llm = derived("llm.call.completed", "Signal", "a", call)

  it("summarises a run that has ended", () => {
    const drafts = [signal, llm, commitment]
    assert.deepStrictEqual(enrichMetadata(fold(drafts), count(...drafts), { startedAt: at(0), endedAt: at(5) }), {
      durationMs: 5000,
      eventCount: 3,
      signalCount: 1,
      decisionCount: 1,
      finalAction: "approve",
      finalConfidence: 0.8,
      totalTokens: 15,
      estimatedCostUsd: 0.5
    })
  })

  it("leaves out what is absent or zero, and the action of a decision that is still open", () => {
    assert.deepStrictEqual(enrichMetadata(fold([]), count(), {}), {})
    const open = [derived("proposal.created", "Proposal", "a", { proposalId: "p", confidence: 1 })]
    assert.deepStrictEqual(enrichMetadata(fold(open), count(...open), { startedAt: at(0), endedAt: at(0) }), {
      eventCount: 1
    })
  })
})
