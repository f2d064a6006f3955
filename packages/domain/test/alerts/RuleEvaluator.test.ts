import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  ALERT_MEASURES,
  type AlertRule,
  byMeasure,
  type CounterRow,
  type Entry,
  entriesOfEvent,
  entriesOfMark,
  isRollingWindow,
  type KeyedRun,
  type KnownFiring,
  makePeriods,
  makeRuleEvaluator,
  measureKind,
  minutesOf,
  noMemory,
  type RunMemory,
  remember
} from "../../src/index.ts"
import { type Drawn, drawn, eventOf, oneOf, RUNS, upTo } from "./RuleHistories.ts"

const START = Date.UTC(2026, 9, 24, 20)
const KEPT_MS = 31 * 86_400_000
const runs = new Map<string, KeyedRun>(
  RUNS.map((id, number) => [
    id,
    { id, scenarioRef: "pack/a@1.0.0", environment: "test", source: undefined, tags: number === 0 ? ["x", "y"] : ["x"] }
  ])
)

const rule = (over: Partial<AlertRule>): AlertRule => ({
  ...{ id: "r", name: "r", enabled: true, match: "", per: "all", window: "day", zone: "Europe/Berlin" },
  ...{ measure: "events", levels: [{ at: 1, severity: "info", actions: [] }] },
  ...over
})

const MEASURES = [...ALERT_MEASURES, "markBelow:quality"]

const rules = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.all({
      measure: oneOf(...MEASURES),
      per: oneOf("all", "scenario", "tag", "agent", "run"),
      window: oneOf("run", "1h", "24h", "day", "week", "month"),
      at: Arbitrary.array(upTo(12), { minLength: 1, maxLength: 3 }),
      isBounded: Arbitrary.schema(Schema.Boolean),
      minRuns: upTo(3, 1)
    }),
    { minLength: 1, maxLength: 6 }
  ),
  (drawnRules) =>
    drawnRules.map(({ at, isBounded, measure, minRuns, per, window }, number) => {
      const isClock = measure.endsWith("Ms")
      const scale = isClock ? 600_000 : /Rate|disagreement|Below/.test(measure) ? 0.1 : 1
      const levels = [...new Set(at)].sort((a, b) => a - b).map((step) => ({ at: (step + 1) * scale }))
      return rule({
        id: `r${number}`,
        ...{ measure, minRuns, per: isClock ? "run" : per, window: isClock || per === "run" ? "run" : window },
        levels: levels.map((level) => ({ ...level, severity: "info", actions: [] })),
        ...(isBounded && { resolveBelow: measure.includes("Below") ? (levels.at(-1)?.at ?? 0) : (levels[0]?.at ?? 0) })
      })
    })
)

interface Fired {
  readonly rule: string
  readonly key: string
  readonly period: string
  readonly level: number
  readonly at: number
}

/** The entries of the whole log, in order; every seventh event brings a mark. */
const entriesOf = (given: ReadonlyArray<AlertRule>, log: ReadonlyArray<Drawn>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const memories = new Map<string, RunMemory>(RUNS.map((id) => [id, noMemory()]))
  const periods = makePeriods()
  const rules = byMeasure(given)
  let at = START
  return log.map((one, number) => {
    at += one[2]
    const event = eventOf(one, at, number + 1)
    // As the service does it, the memory is JSON between two steps.
    const memory: RunMemory = JSON.parse(JSON.stringify(memories.get(event.runId)))
    const facts = remember(memory, event)
    memories.set(event.runId, memory)
    const run = runs.get(event.runId)
    if (run === undefined) return []
    const mark = { runId: run.id, name: "quality", at, value: one[3] * 100_000_000, n: 1 }
    const marks = number % 7 === 0 ? entriesOfMark(rules, run, mark, periods) : []
    return [
      ...entriesOfEvent(rules, run, event, facts, one[0] === "vote" && one[3] === 9, { periods, keptMs: KEPT_MS }),
      ...marks
    ]
  })
}

/** Evaluates in steps; between two of them only the rows of a database remain. */
const evaluated = (given: ReadonlyArray<AlertRule>, log: ReadonlyArray<Drawn>, cuts: ReadonlyArray<number>) => {
  const byId = new Map(given.map((one) => [one.id, one]))
  const rows = new Map<string, CounterRow>()
  const known = new Map<string, KnownFiring>()
  const reported: Array<Fired> = []
  const ended: Array<Fired> = []
  const entries = entriesOf(given, log)
  const bounds = [...new Set([0, ...cuts.map((cut) => cut % (entries.length + 1)), entries.length])].sort(
    (a, b) => a - b
  )
  for (const [number, from] of bounds.entries()) {
    const step = makeRuleEvaluator(byId, [...rows.values()], [...known.values()], KEPT_MS)
    for (const entry of entries.slice(from, bounds[number + 1] ?? from).flat()) step.take(entry)
    const { counters, firings, resolutions } = step.result()
    for (const row of counters) rows.set(JSON.stringify([row.ruleId, row.key, row.period, row.part]), row)
    for (const { at, key, level, period, rule: of } of firings) {
      const one = { rule: of.id, key, period: period.key, level, at }
      reported.push(one)
      const id = JSON.stringify([of.id, key, period.key, level])
      expect(known.has(id)).toBe(false)
      known.set(id, { id, ruleId: of.id, key, period: period.key, level, isOpen: true })
    }
    for (const { at, firing } of resolutions) {
      const period = typeof firing.period === "string" ? firing.period : firing.period.key
      const ruleId = "ruleId" in firing ? firing.ruleId : firing.rule.id
      const id = JSON.stringify([ruleId, firing.key, period, firing.level])
      known.set(id, { id, ruleId, key: firing.key, period, level: firing.level, isOpen: false })
      ended.push({ rule: ruleId, key: firing.key, period, level: firing.level, at })
    }
  }
  return { reported, ended }
}

/** The same by hand: each value is summed up from all entries so far, without counters. */
const byHand = (given: ReadonlyArray<AlertRule>, log: ReadonlyArray<Drawn>) => {
  const reported: Array<Fired> = []
  const ended: Array<Fired> = []
  const all: Array<Entry> = []
  for (const entry of entriesOf(given, log).flat()) {
    all.push(entry)
    const { at, firesIn: period, key, rule: of } = entry
    if (period === undefined) continue
    const isRolling = isRollingWindow(of.window)
    const first = isRolling ? period.end - minutesOf(isRollingWindow(of.window) ? of.window : "1h") * 60_000 : 0
    const own = all.filter((one) => one.rule.id === of.id && one.key === key)
    const inWindow = own.filter((one) => (isRolling ? one.period.end > first : one.period.key === period.key))
    const value = valueByHand(of, inWindow)
    if (value === undefined) continue
    const below = of.measure.includes("Below")
    for (const [level, { at: threshold }] of of.levels.entries()) {
      const same = (one: Fired) =>
        one.rule === of.id && one.key === key && one.level === level && (isRolling || one.period === period.key)
      const isOpen = reported.filter(same).length > ended.filter(same).length
      const bound = of.resolveBelow ?? (isRolling || of.measure === "silenceMs" ? threshold : undefined)
      if (isOpen && bound !== undefined && (below ? value >= bound : value < bound)) {
        const last = reported.findLast(same)
        if (last !== undefined) ended.push({ ...last, at })
      } else if (!isOpen && (below ? value < threshold : value >= threshold)) {
        if (!reported.some((one) => same(one) && one.period === period.key)) {
          reported.push({ rule: of.id, key, period: period.key, level, at })
        }
      }
    }
  }
  return { reported, ended }
}

const valueByHand = (of: AlertRule, entries: ReadonlyArray<Entry>): number | undefined => {
  const values = entries.map(({ change }) => change.value)
  const n = entries.reduce((sum, { change }) => sum + change.n, 0)
  const sum = values.reduce((total, value) => total + value, 0)
  switch (measureKind(of.measure)) {
    case "repeats":
    case "durationMs":
      return Math.max(...values)
    case "silenceMs":
      return values.at(-1)
    case "costUsd":
    case "guessedCostUsd":
      return sum / 1e9
    case "failureRate":
    case "negativeRate":
    case "disagreement":
      return n < (of.minRuns ?? 1) ? undefined : sum / n
    case "markBelow":
      return n < (of.minRuns ?? 1) ? undefined : sum / n / 1e9
    case "agreementBelow": {
      const parts = Map.groupBy(entries, ({ change }) => change.part)
      return n < (of.minRuns ?? 1) ? undefined : Math.max(...[...parts.values()].map((part) => part.length)) / n
    }
    default:
      return sum
  }
}

describe("the evaluation of rules", () => {
  it.prop(
    "reports what a fold of all events by hand reports, however the log is divided",
    [rules, drawn, Arbitrary.array(upTo(60), { maxLength: 6 })],
    ([given, log, cuts]) => {
      expect(evaluated(given, log, cuts)).toEqual(byHand(given, log))
    },
    { arbitrary: { runs: 400, size: 60 } }
  )

  const reported = (given: AlertRule, log: ReadonlyArray<Drawn>) => evaluated([given], log, []).reported

  it("ends a firing of a rolling window when its minutes are over", () => {
    const calls = rule({ measure: "llmCalls", window: "1h", levels: [{ at: 2, severity: "info", actions: [] }] })
    const evaluator = makeRuleEvaluator(new Map([[calls.id, calls]]), [], [], KEPT_MS)
    for (const entry of entriesOf(
      [calls],
      [
        ["call", 0, 0, 1],
        ["call", 0, 600_000, 1]
      ]
    ).flat())
      evaluator.take(entry)
    expect(evaluator.firingCount()).toBe(1)
    evaluator.roll(calls, "all", START + 59 * 60_000)
    expect(evaluator.result().resolutions).toHaveLength(0)
    evaluator.roll(calls, "all", START + 60 * 60_000)
    expect(evaluator.result().resolutions).toMatchObject([{ value: 1 }])
  })

  it("counts a budget by the months of its zone", () => {
    const call = (afterMs: number): Drawn => ["call", 0, afterMs, 5]
    const budget = rule({ measure: "costUsd", window: "month", levels: [{ at: 1, severity: "critical", actions: [] }] })
    // The month of Berlin ends at 23:00 UTC, an hour after its day on the 24th began to be an hour longer.
    const log = [call(0), call(1), call(7.125 * 86_400_000 - 2), call(1), call(1)]
    expect(reported(budget, log).map(({ period }) => period)).toEqual(["2026-10", "2026-11"])
  })

  it("sees a participant that repeats itself, whatever ids its messages have", () => {
    const say = (size: number): Drawn => ["message", 0, 1, size]
    const stuck = rule({
      measure: "repeats",
      per: "run",
      window: "run",
      levels: [{ at: 3, severity: "info", actions: [] }]
    })
    expect(reported(stuck, [say(0), say(2), say(0), say(8), say(0)])).toHaveLength(0)
    expect(reported(stuck, [say(0), say(1), say(0), say(3), say(6)])).toHaveLength(1)
  })

  it("leaves the suspended time out of a duration", () => {
    const slow = rule({
      measure: "durationMs",
      per: "run",
      window: "run",
      levels: [{ at: 100, severity: "info", actions: [] }]
    })
    const log = (pause: number): ReadonlyArray<Drawn> => [
      ["started", 0, 0, 0],
      ["suspended", 0, 60, 0],
      ["resumed", 0, pause, 0],
      ["end", 0, 39, 0]
    ]
    expect(reported(slow, log(5_000))).toHaveLength(0)
    expect(reported(slow, [...log(5_000).slice(0, 3), ["end", 0, 40, 0]])).toHaveLength(1)
  })
})
