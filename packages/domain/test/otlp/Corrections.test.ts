import { assert, describe, it } from "@effect/vitest"
import { emptyRunMetrics, measure, RunId, type Span } from "@runplane/domain"
import { at, foldOf, ofType } from "./support/Read.ts"
import { agent, chat, span } from "./support/Spans.ts"
import { IDLE_MS, OPTIONS, PARENT_WAIT_MS, type Request, RUN_ID, runFold, SETTLE_MS } from "./support/TraceFolds.ts"

const HOUR = 3_600_000
const OTHER_TRACE = "b".repeat(32)
const child = (id: string, from: number, more: Parameters<typeof span>[3] = {}) =>
  span(id, [from, from + 5], agent(id), { parent: "root", ...more })
const root = (status: Span["status"], more: Parameters<typeof span>[3] = {}) =>
  span("root", [0, 2 * HOUR], { "runplane.scenario": "refund", "runplane.tags": "vip" }, { status, ...more })
const failing = root("error", { statusMessage: "boom" })

const typesOf = (requests: ReadonlyArray<Request>, isKilled?: (step: number) => boolean) => {
  const fold = runFold(requests, OPTIONS, isKilled)
  return { ...fold, types: fold.events.map(({ type }) => type) }
}

describe("a root that comes after the run ended by silence", () => {
  const requests = [at(1_000, child("a", 1)), at(2 * HOUR, failing)]

  it.each([
    ["", () => false],
    [", killed before each step", () => true]
  ])("corrects the end%s", (_, isKilled) => {
    const { end, events, facts, state, types } = typesOf(requests, isKilled)
    assert.strictEqual(types.filter((type) => type === "run.completed").length, 1)
    assert.strictEqual(types.filter((type) => type === "run.corrected").length, 1)
    assert.strictEqual(types.at(-1), "run.corrected")
    assert.deepInclude(end, { status: "failed", endedBecause: "root", errorMessage: "boom" })
    assert.deepInclude(ofType(events, "run.corrected")[0]?.data, {
      status: "failed",
      errorCode: "APPLICATION_ERROR",
      error: "boom",
      name: "refund",
      endedAt: end?.endedAt,
      startedAt: end?.startedAt
    })
    assert.deepInclude(facts, { name: "refund", tags: ["vip"] })
    const { endedAt = "", startedAt = "" } = end ?? {}
    assert.deepInclude(state.run, { status: "failed", endedAt, startedAt })
    const metrics = events.reduce(measure, emptyRunMetrics(RunId.make(RUN_ID)))
    assert.strictEqual(metrics.durationMs, 2 * HOUR)
  })

  it("corrects a failure to a success, once, however its spans arrive", () => {
    const late = [root("ok"), child("b", 20), span("c", [30, 31], chat(10, 1), { parent: "b" })]
    // Spans of one settle time in any order, and with longer pauses the root last.
    for (const gap of [0, 1_000, SETTLE_MS + 1_000]) {
      for (const order of gap > SETTLE_MS ? [late.toReversed()] : [late, late.toReversed()]) {
        const arrivals = order.map((each, nth) => at(2 * HOUR + nth * gap, each))
        const { end, state, types } = typesOf([at(1_000, child("a", 1, { status: "error" })), ...arrivals])
        assert.strictEqual(types.filter((type) => type === "run.failed").length, 1)
        assert.strictEqual(types.filter((type) => type === "run.corrected").length, 1)
        assert.deepInclude(end, { status: "completed", endedBecause: "root" })
        assert.deepInclude(state.run, { status: "completed" })
        assert.strictEqual(state.llm.totals.callCount, 1)
      }
    }
  })

  it("corrects when each trace has its root", () => {
    const other = child("x", 1, { traceId: OTHER_TRACE })
    const first = typesOf([at(1_000, child("a", 1), other), at(2 * HOUR, failing)])
    assert.notInclude(first.types, "run.corrected")
    const both = typesOf([
      at(1_000, child("a", 1), other),
      at(2 * HOUR, failing),
      at(3 * HOUR, root("ok", { traceId: OTHER_TRACE }))
    ])
    assert.strictEqual(both.types.filter((type) => type === "run.corrected").length, 1)
  })

  it("does not correct an end by a root, nor by silence without one", () => {
    assert.notInclude(
      typesOf([at(1_000, root("ok"), child("a", 1)), at(2 * HOUR, child("b", 9, { status: "error" }))]).types,
      "run.corrected"
    )
    assert.notInclude(
      typesOf([at(1_000, child("a", 1)), at(2 * HOUR, child("b", 9, { status: "error" }))]).types,
      "run.corrected"
    )
  })
})

describe("a run without a root", () => {
  const endOf = (...spans: ReadonlyArray<Span>) => Date.parse(foldOf(...spans).events.at(-1)?.ts ?? "") - 1_000

  it("stays open longer while a parent has not come", () => {
    assert.strictEqual(endOf(child("a", 1)), PARENT_WAIT_MS)
    assert.strictEqual(endOf(child("a", 1, { parent: "b" }), child("b", 2, { parent: "a" })), IDLE_MS)
  })

  it("ends by its root when that comes in time", () => {
    const { end, types } = typesOf([at(1_000, child("a", 1)), at(IDLE_MS + 60_000, failing)])
    assert.deepInclude(end, { status: "failed", endedBecause: "root" })
    assert.notInclude(types, "run.corrected")
  })
})
