import { assert, describe, it } from "@effect/vitest"
import { emptyRunState, RunId, type RunState } from "@runplane/domain"
import { type ComparedRun, compareRuns } from "../../../src/queries/compare/RunComparison.ts"

const LEFT = RunId.make("00000000-0000-4000-8000-000000000001")
const RIGHT = RunId.make("00000000-0000-4000-8000-000000000002")
const START = "2026-07-01T10:00:00.000Z"

interface Side {
  readonly id?: RunId
  readonly status?: "running" | "completed" | "failed"
  readonly endedAt?: string
  readonly confidence?: number
  readonly participants?: ReadonlyArray<string>
  readonly signals?: ReadonlyArray<string>
  readonly totals?: Partial<RunState["llm"]["totals"]>
}

const side = ({
  confidence,
  endedAt,
  id = LEFT,
  participants = [],
  signals = [],
  status = "running",
  totals = {}
}: Side): ComparedRun => {
  const empty = emptyRunState(id)
  const state: RunState = {
    ...empty,
    participants: participants.map((participantId) => ({ participantId, status: "idle" })),
    llm: { calls: [], totals: { ...empty.llm.totals, ...totals } },
    signals: { signals: signals.map((name, index) => ({ id: String(index), name, ts: START })) },
    decision: confidence === undefined ? {} : { current: { confidence, finalized: false, reasons: [], proposals: [] } }
  }
  return {
    state,
    run: {
      modeName: "macp.mode.decision.v1",
      statusRevision: 3,
      record: {
        id,
        runId: id,
        status,
        mode: "live",
        runtimeKind: "rust",
        runtimeSessionId: id,
        traceId: "9f2d0c7be1a94d0f8f6d1d2a3b4c5d6e",
        lastEventSeq: 1,
        lastEventIndex: 1,
        tags: [],
        metadata: {},
        createdAt: START,
        updatedAt: START,
        startedAt: START,
        ...(endedAt !== undefined && { endedAt }),
        archivedAt: null
      }
    }
  }
}

describe("the comparison of two runs", () => {
  it("says right minus left, and what only one of the two has", () => {
    const left = side({
      status: "completed",
      endedAt: "2026-07-01T10:00:05.000Z",
      confidence: 0.5,
      participants: ["a", "b"],
      signals: ["slow", "slow", "anomaly"]
    })
    const right = side({
      id: RIGHT,
      status: "failed",
      endedAt: "2026-07-01T10:00:02.000Z",
      confidence: 0.75,
      participants: ["b", "c"],
      signals: ["anomaly", "drift"]
    })
    assert.deepStrictEqual(compareRuns(left, right), {
      left: { runId: LEFT, status: "completed", modeName: "macp.mode.decision.v1", durationMs: 5000 },
      right: { runId: RIGHT, status: "failed", modeName: "macp.mode.decision.v1", durationMs: 2000 },
      statusMatch: false,
      durationDeltaMs: -3000,
      confidenceDelta: 0.25,
      participantsDiff: { added: ["c"], removed: ["a"], common: ["b"] },
      signalsDiff: { added: ["drift"], removed: ["slow"] }
    })
  })

  it("leaves out the deltas of which one side has no value", () => {
    const ended = side({ endedAt: "2026-07-01T10:00:05.000Z", confidence: 1 })
    const comparison = compareRuns(ended, side({}))
    assert.doesNotHaveAnyKeys(comparison, ["durationDeltaMs", "confidenceDelta"])
    assert.deepStrictEqual(Object.keys(comparison.right), ["runId", "status", "modeName"])
  })

  it("finds no difference between a run and itself", () => {
    const one = side({ confidence: 0.3, endedAt: "2026-07-01T10:00:05.000Z", participants: ["a"], signals: ["x"] })
    const { confidenceDelta, durationDeltaMs, participantsDiff, signalsDiff, statusMatch } = compareRuns(one, one)
    assert.deepStrictEqual(
      { confidenceDelta, durationDeltaMs, participantsDiff, signalsDiff, statusMatch },
      {
        confidenceDelta: 0,
        durationDeltaMs: 0,
        participantsDiff: { added: [], removed: [], common: ["a"] },
        signalsDiff: { added: [], removed: [] },
        statusMatch: true
      }
    )
  })

  it("has tokens, cost and the guessed part of a run that called models", () => {
    const usage = { totalTokens: 30, estimatedCostUsd: 1.5, guessedCostUsd: 0.5, callsWithoutUsage: 1 }
    const { left, right } = compareRuns(
      side({ totals: { callCount: 2, promptTokens: 30, cachedTokens: 3, ...usage } }),
      side({ id: RIGHT })
    )
    assert.deepStrictEqual(left.usage, usage)
    assert.notProperty(right, "usage")
  })
})
