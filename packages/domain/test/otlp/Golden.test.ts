import { assert, describe, it } from "@effect/vitest"
import { goldenFolders, readGolden } from "./support/Golden.ts"
import { boundTo, type Request, runStory, tracesOf } from "./support/Stories.ts"
import { isCounted, summaryOf } from "./support/Summary.ts"
import { DIFFERENCES, expectedSummary } from "./support/Truth.ts"

/** The requests of a run, 10 ms apart. */
const requestsOf = (name: string, traceIds: ReadonlyArray<string>): ReadonlyArray<Request> =>
  readGolden(name).requests.map((telemetry, at) => ({
    at: 1_000 + at * 10,
    telemetry: telemetry.filter(({ traceId }) => traceIds.includes(traceId))
  }))

/** One trace is one run there, and no trace has a root of the application. */
const NO_ROOT = "openai-v2/no-root"

/**
 * Emitters that are not read whole yet: haystack has its calls in JSON texts, langfuse states cached and reasoning
 * tokens beside the counts, litellm has a trace for each call.
 */
const NOT_WHOLE = /^(?:haystack|langfuse|litellm)\//
const wholeFolders = goldenFolders.filter((name) => !NOT_WHOLE.test(name))

describe.skipIf(goldenFolders.length === 0)("recorded exports of real emitters", () => {
  it("has all folders", () => {
    assert.isAtLeast(goldenFolders.length, 53)
    const unused = DIFFERENCES.filter(({ folders }) => !goldenFolders.some((name) => folders.test(name)))
    assert.deepStrictEqual(unused, [])
  })

  it.each(wholeFolders.filter((name) => name !== NO_ROOT))("%s says what is on its wire", (name) => {
    const { expected } = readGolden(name)
    for (const run of expected.runs) {
      const { idle, summary } = expectedSummary(name, run, expected)
      assert.deepStrictEqual(summaryOf(runStory(requestsOf(name, run.traceIds))), summary)
      if (run === expected.runs[0]) assert.deepStrictEqual(idle, [], "differences that the folder does not have")
    }
  })

  it("makes a run of each call without a root of the application", () => {
    const { expected } = readGolden(NO_ROOT)
    const [run] = expected.runs
    const traces = run?.traceIds ?? []
    const summaries = traces.map((traceId) => summaryOf(runStory(requestsOf(NO_ROOT, [traceId]))))
    assert.deepStrictEqual(
      summaries.map(({ calls, participants, status }) => [calls.length, participants, status]),
      traces.map(() => [1, ["release-committee"], "completed"])
    )
    const input = summaries.reduce((sum, { totals }) => sum + totals.input, 0)
    assert.strictEqual(input, run?.totals.input)
  })

  it("makes no run of a trace that only builds", () => {
    const traces = [...tracesOf(readGolden("agent-framework/workflow").requests.flat()).values()]
    assert.deepStrictEqual(traces.map((trace) => boundTo(trace).state).toSorted(), ["bound", "construction"])
  })

  it.each(wholeFolders)("%s counts a call without tokens as one whose tokens are unknown", (name) => {
    const { expected } = readGolden(name)
    for (const { traceIds } of expected.runs) {
      const { events, state } = runStory(requestsOf(name, traceIds))
      const calls = events.filter(isCounted)
      const missing = calls.filter(({ data }) => data.usage === "missing")
      assert.isTrue(missing.every(({ data }) => data.totalTokens === 0 && data.estimatedCostUsd === undefined))
      assert.strictEqual(state.llm.totals.callsWithoutUsage ?? 0, missing.length)
      assert.strictEqual(state.llm.totals.callCount, calls.length)
    }
  })
})
