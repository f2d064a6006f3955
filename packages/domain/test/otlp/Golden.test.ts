import { assert, describe, it } from "@effect/vitest"
import { goldenFolders, readGolden } from "./support/Golden.ts"
import { isCounted, summaryOf } from "./support/Summary.ts"
import { boundTo, type Request, runFold, tracesOf } from "./support/TraceFolds.ts"
import { DIFFERENCES, expectedSummary } from "./support/Truth.ts"

/** The requests of a run, 10 ms apart. */
const requestsOf = (name: string, traceIds: ReadonlyArray<string>): ReadonlyArray<Request> =>
  readGolden(name).requests.map((telemetry, at) => ({
    at: 1_000 + at * 10,
    telemetry: telemetry.filter(({ traceId }) => traceIds.includes(traceId))
  }))

/** One trace is one run there: each has one call, and no root of the application. */
const NO_ROOT = ["openai-v2/no-root", "litellm/committee"]

describe.skipIf(goldenFolders.length === 0)("recorded exports of real emitters", () => {
  it("has all folders", () => {
    assert.isAtLeast(goldenFolders.length, 53)
    const unused = DIFFERENCES.filter(({ folders }) => !goldenFolders.some((name) => folders.test(name)))
    assert.deepStrictEqual(unused, [])
  })

  it.each(goldenFolders.filter((name) => !NO_ROOT.includes(name)))("%s says what is on its wire", (name) => {
    const { expected } = readGolden(name)
    for (const run of expected.runs) {
      const { idle, summary } = expectedSummary(name, run, expected)
      assert.deepStrictEqual(summaryOf(runFold(requestsOf(name, run.traceIds))), summary)
      if (run === expected.runs[0]) assert.deepStrictEqual(idle, [], "differences that the folder does not have")
    }
  })

  it.each(NO_ROOT)("%s makes a run of each call without a root of the application", (name) => {
    const { expected } = readGolden(name)
    const [run] = expected.runs
    const traces = run?.traceIds ?? []
    const folds = traces.map((traceId) => runFold(requestsOf(name, [traceId])))
    const summaries = folds.map(summaryOf)
    assert.deepStrictEqual(
      summaries.map(({ calls, participants, status }) => [calls.length, participants, status]),
      traces.map(() => [1, ["release-committee"], "completed"])
    )
    for (const side of ["input", "output"] as const) {
      const sum = summaries.reduce((total, { totals }) => total + totals[side], 0)
      assert.strictEqual(sum, run?.totals[side])
    }
    if (run?.costUsd === undefined) return
    const calls = folds.flatMap(({ events }) => events.filter(isCounted))
    assert.isTrue(calls.every(({ data }) => data.costBasis === "supplied"))
    assert.closeTo(
      calls.reduce((sum, { data }) => sum + Number(data.estimatedCostUsd), 0),
      run.costUsd,
      1e-9
    )
  })

  it("makes no run of a trace that only builds", () => {
    const traces = [...tracesOf(readGolden("agent-framework/workflow").requests.flat()).values()]
    assert.deepStrictEqual(traces.map((trace) => boundTo(trace).state).toSorted(), ["bound", "construction"])
  })

  it.each(goldenFolders)("%s counts a call without tokens as one whose tokens are unknown", (name) => {
    const { expected } = readGolden(name)
    for (const { traceIds } of expected.runs) {
      const { events, state } = runFold(requestsOf(name, traceIds))
      const calls = events.filter(isCounted)
      const missing = calls.filter(({ data }) => data.usage === "missing")
      assert.isTrue(missing.every(({ data }) => data.totalTokens === 0 && data.estimatedCostUsd === undefined))
      // A refused call lacks no tokens.
      const answered = missing.filter(({ data }) => data.answered !== false)
      assert.strictEqual(state.llm.totals.callsWithoutUsage ?? 0, answered.length)
      assert.strictEqual(state.llm.totals.callCount, calls.length)
    }
  })
})
