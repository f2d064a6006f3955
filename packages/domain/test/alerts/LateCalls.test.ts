import { assert, describe, it } from "@effect/vitest"
import {
  type AlertRule,
  byMeasure,
  draftEvent,
  entriesOfEvent,
  foldText,
  type KeyedRun,
  keysOf,
  makePeriods,
  makeRuleEvaluator,
  noMemory,
  RunId,
  recordEvent,
  remember
} from "../../src/index.ts"

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const KEPT_MS = 31 * DAY_MS
/** Half past midnight. */
const NOW = Date.UTC(2026, 10, 26, 0, 30)
const RUN = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

const rule = (over: Partial<AlertRule> = {}): AlertRule => ({
  ...{ id: "r", name: "r", enabled: true, match: "", per: "all", window: "day", zone: "UTC", measure: "costUsd" },
  ...{ levels: [{ at: 1, severity: "info", actions: [] }] },
  ...over
})

/** The evaluation after calls of a dollar, each called at one time and received at another. */
const afterCalls = (of: AlertRule, calls: ReadonlyArray<readonly [calledAt: number, at: number]>) => {
  const evaluation = makeRuleEvaluator(new Map([[of.id, of]]), [], [], KEPT_MS)
  const counting = { periods: makePeriods(), keptMs: KEPT_MS }
  const run: KeyedRun = { id: RUN, scenarioRef: "s", environment: undefined, source: undefined, tags: [] }
  const times = (at: number) => new Date(at).toISOString()
  for (const [index, [calledAt, at]] of calls.entries()) {
    const head = {
      ts: times(at),
      subject: { kind: "message", id: "m" },
      source: { kind: "runtime", name: "otlp" }
    } as const
    const data = {
      startedAt: times(calledAt - 1),
      endedAt: times(calledAt),
      decodedPayload: { totalTokens: 1, estimatedCostUsd: 1 }
    }
    const event = recordEvent(draftEvent("llm.call.completed", head, data), {
      id: `e${index}`,
      runId: RUN,
      seq: index + 1,
      index: index + 1
    })
    for (const entry of entriesOfEvent(byMeasure([of]), run, event, remember(noMemory(), event), false, counting)) {
      evaluation.take(entry)
    }
  }
  const { counters, firings } = evaluation.result()
  return {
    sums: Object.fromEntries(counters.map(({ period, value }) => [period, value / 1e9])),
    kept: Object.fromEntries(counters.map(({ endsAt, period }) => [period, endsAt])),
    fired: firings.map(({ period }) => period.key)
  }
}

describe("a call that arrives late", () => {
  it("counts in the period of its time, and fires nothing when that is over", () => {
    const yesterday = NOW - HOUR_MS
    const { fired, kept, sums } = afterCalls(rule({ levels: [{ at: 2, severity: "info", actions: [] }] }), [
      [yesterday, NOW],
      [yesterday, NOW + 1],
      [yesterday, NOW + 2],
      [NOW, NOW + 3]
    ])
    assert.deepStrictEqual(sums, { "2026-11-25": 3, "2026-11-26": 1 })
    assert.deepStrictEqual(fired, [])
    // The books of a period are open as long as a call of it can come.
    assert.strictEqual(kept["2026-11-25"], Date.UTC(2026, 10, 26) + KEPT_MS)
  })

  it("fires when the period of its time is not over", () => {
    const { fired, sums } = afterCalls(rule({ window: "month" }), [[NOW - 3 * DAY_MS, NOW]])
    assert.deepStrictEqual([sums, fired], [{ "2026-11": 1 }, ["2026-11"]])
  })

  it("counts in the minute of its time of a rolling window, and fires in the one of its arrival", () => {
    const two = { levels: [{ at: 2, severity: "info", actions: [] }] } as const
    const { fired, sums } = afterCalls(rule({ window: "1h", ...two }), [
      [NOW - 50 * 60_000, NOW],
      [NOW - 2 * HOUR_MS, NOW + 1],
      [NOW, NOW + 2]
    ])
    assert.deepStrictEqual(sums, { "2026-11-25T23:40Z": 1, "2026-11-26T00:30Z": 1 })
    assert.deepStrictEqual(fired, ["2026-11-26T00:30Z"])
    // A quarter of an hour later the first one is out of the window.
    assert.deepStrictEqual(
      afterCalls(rule({ window: "1h", ...two }), [
        [NOW - 50 * 60_000, NOW],
        [NOW + 15 * 60_000, NOW + 15 * 60_000]
      ]).fired,
      []
    )
  })

  it("counts at its arrival when its time is later, or older than what is kept", () => {
    for (const calledAt of [NOW + 1, NOW + DAY_MS, NOW - KEPT_MS, 0]) {
      const { fired, sums } = afterCalls(rule(), [[calledAt, NOW]])
      assert.deepStrictEqual([sums, fired], [{ "2026-11-26": 1 }, ["2026-11-26"]], String(calledAt))
    }
  })

  it("counts for its run like every other", () => {
    const { fired } = afterCalls(rule({ per: "run", window: "run" }), [[NOW - 9 * DAY_MS, NOW]])
    assert.deepStrictEqual(fired, [RUN])
  })
})

describe("the key of a rule", () => {
  const run: KeyedRun = {
    id: "A-run",
    scenarioRef: "Caf\u00e9@1",
    environment: "CAFE\u0301",
    source: "STRASSE",
    tags: ["cafe\u0301", "caf\u00e9", "Straße", "x"]
  }

  it("is one for a text however it is written, with the text as it was written first", () => {
    assert.deepStrictEqual(keysOf("tag", run), [
      { key: "caf\u00e9", label: "cafe\u0301" },
      { key: "strasse", label: "Straße" },
      { key: "x", label: "x" }
    ])
    assert.deepStrictEqual(keysOf("scenario", run), [{ key: "caf\u00e9@1", label: "Caf\u00e9@1" }])
    assert.deepStrictEqual(keysOf("environment", run), [{ key: "caf\u00e9", label: "CAFE\u0301" }])
    assert.deepStrictEqual(keysOf("source", run), [{ key: "strasse", label: "STRASSE" }])
  })

  it("is an id as it is", () => {
    assert.deepStrictEqual(keysOf("run", run), [{ key: "A-run", label: "A-run" }])
  })

  it("is folded as the database folds", () => {
    for (const [text, folded] of [
      ["ÜBERPRÜFUNG", "überprüfung"],
      ["КРЕДИТ", "кредит"],
      ["ΣΟΦΟΣ", "σοφοσ"],
      ["σοφος", "σοφοσ"]
    ] as const) {
      assert.strictEqual(foldText(text), folded)
    }
  })
})
