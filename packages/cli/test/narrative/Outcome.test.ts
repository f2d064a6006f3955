import { assert, describe, it } from "@effect/vitest"
import { emptyRunState, RunId, type RunMetrics, type RunState } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { styleFor } from "../../src/narrative/Narrative.ts"
import { describeOutcome, isDecided } from "../../src/narrative/Outcome.ts"

const runId = Schema.decodeUnknownSync(RunId)("3fa85f64-5717-4562-b3fc-2c963f66afa6")
const open = emptyRunState(runId)

const ballot = (participantId: string, messageType: string, vote: "allow" | "deny") =>
  ({ participantId, action: vote, reasons: [], ts: "2026-07-01T10:00:00.000Z", vote, messageType }) as const

const decided: RunState = {
  ...open,
  run: { ...open.run, status: "completed" },
  decision: {
    current: {
      action: "decision.rejected",
      finalized: true,
      outcomePositive: false,
      resolvedBy: "lead",
      reasons: ["vetoed"],
      proposals: [
        ballot("one", "Evaluation", "allow"),
        ballot("one", "Vote", "allow"),
        ballot("two", "Vote", "deny"),
        ballot("three", "Approve", "allow")
      ]
    }
  },
  policy: { ...open.policy, quorumStatus: "failed" },
  llm: { ...open.llm, totals: { ...open.llm.totals, callCount: 2 } }
}

const metrics: RunMetrics = {
  runId,
  eventCount: 1_234,
  messageCount: 0,
  signalCount: 0,
  proposalCount: 0,
  toolCallCount: 0,
  decisionCount: 1,
  streamReconnectCount: 0,
  promptTokens: 1_000,
  completionTokens: 500,
  totalTokens: 1_500,
  estimatedCostUsd: 0.00734,
  durationMs: 2_960
}

const narrative = { begin: 0, durationMs: 2_960, events: 1_234, error: undefined, why: undefined }

describe("the outcome", () => {
  it("says why, and since when the outcome was settled", () => {
    const summary = "carried by 3 of 4; without c it would still stand"
    const decidedAt = { seq: 9, index: 9, ts: "2026-07-01T10:00:02.640Z", msBeforeCommitment: 940 }
    const begin = Date.parse("2026-07-01T10:00:00.000Z")
    const rows = describeOutcome(decided, metrics, { ...narrative, begin, events: 1_230, why: { summary, decidedAt } })
    assert.deepInclude(rows, ["Why", summary])
    assert.deepInclude(rows, ["Settled", "decided at 2.6 s, 0.9 s before the commitment"])
    assert.deepInclude(rows, ["Events", "1,230 in 3.0 s"])
  })

  it("says that the decision is the last of several commitments", () => {
    const current = { finalized: true, reasons: [], proposals: [], action: "go", resolvedBy: "lead", commitments: 2 }
    assert.deepInclude(describeOutcome({ ...decided, decision: { current } }, metrics, narrative), [
      "Decision",
      "go, by lead; the last of 2 commitments"
    ])
  })

  it("says how many calls came without usage", () => {
    const rows = describeOutcome(decided, { ...metrics, callsWithoutUsage: 1 }, narrative)
    assert.deepInclude(rows, ["Tokens", "1,500 in 2 calls, about $0.00734 and 1 call without usage"])
  })

  it("marks the part of the cost that is a guess", () => {
    const rows = describeOutcome(decided, { ...metrics, guessedCostUsd: 0.001 }, narrative)
    assert.deepInclude(rows, ["Tokens", "1,500 in 2 calls, about $0.00734, ≈ $0.00100 of it guessed"])
  })

  it("says what was decided, by whom, with how many ballots and at what cost", () => {
    assert.deepStrictEqual(describeOutcome(decided, metrics, narrative), [
      ["Decision", "decision.rejected, negative, by lead"],
      ["Because", "vetoed"],
      ["Votes", "2 for, 1 against; quorum failed"],
      ["Tokens", "1,500 in 2 calls, about $0.00734"],
      ["Events", "1,234 in 3.0 s"]
    ])
  })

  it("says plainly when there is no decision", () => {
    const failed: RunState = { ...open, run: { ...open.run, status: "failed" } }
    const error = "session s was not opened within 100 ms by any of its participants (lead)"
    assert.deepStrictEqual(describeOutcome(failed, metrics, { ...narrative, error }).slice(0, 2), [
      ["Decision", "none, the run is failed"],
      ["Because", error]
    ])
  })

  it("gives no event type, and no reason of a contribution, as the reason", () => {
    const reasonsOf = (state: RunState) =>
      describeOutcome(state, metrics, narrative).filter(([label]) => label === "Because")
    const current = { finalized: true, reasons: ["decision finalized"], proposals: [], action: "go" }
    assert.deepStrictEqual(reasonsOf({ ...decided, decision: { current } }), [])
    for (const reason of ["proposal.updated", "one approves"]) {
      const undecided = { finalized: false, reasons: [reason], proposals: [] }
      assert.deepStrictEqual(reasonsOf({ ...open, decision: { current: undecided } }), [])
    }
  })

  it("leaves out the error of a failed run that the lines before have", () => {
    const failed: RunState = { ...open, run: { ...open.run, status: "failed" } }
    const labels = describeOutcome(failed, metrics, narrative).map(([label]) => label)
    assert.notInclude(labels, "Because")
  })

  it("counts as decided only when the run is complete and its decision final", () => {
    assert.isTrue(isDecided(decided))
    assert.isFalse(isDecided(open))
    assert.isFalse(isDecided({ ...decided, run: { ...decided.run, status: "failed" } }))
  })
})

describe("the screen", () => {
  it("has colours on a terminal only, and none when the user wants none", () => {
    assert.strictEqual(styleFor({ isTTY: true }, {}).bold("x"), "\u001b[1mx\u001b[22m")
    assert.strictEqual(styleFor({}, {}).bold("x"), "x")
    assert.strictEqual(styleFor({ isTTY: true }, { NO_COLOR: "1" }).dim("x"), "x")
  })
})
