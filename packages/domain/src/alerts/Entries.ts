import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { countedAt } from "../events/RunTimes.ts"
import type { CounterChange } from "./CounterChange.ts"
import { type CounterKey, type KeyedRun, keysOf } from "./Keys.ts"
import { measureOf, measuresOfMark } from "./Measures.ts"
import type { Periods } from "./Periods.ts"
import type { AlertRule } from "./Rule.ts"
import type { EventFacts } from "./RunMemory.ts"
import { apartKey, countsApart, telemetrySourceOf } from "./Telemetry.ts"
import { isRollingWindow, type Period } from "./Windows.ts"

/** A change of a counter, with the event or the mark that it is of. */
export interface Entry extends CounterKey {
  readonly rule: AlertRule
  /** The run, the calendar period, or the minute of a rolling window. */
  readonly period: Period
  /**
   * The period in which the levels that it reaches fire: where a call arrives late in a rolling window, the minute of
   * the arrival. Undefined when the calendar period was over at the arrival: it counts there, and nothing fires.
   */
  readonly firesIn: Period | undefined
  readonly change: CounterChange
  readonly runId: string
  /** Undefined for a mark. */
  readonly seq: number | undefined
  /** When it arrived, Unix milliseconds. */
  readonly at: number
  /** When it counts: of a call the time of the call, of all else its arrival. Unix milliseconds. */
  readonly countedAt: number
  /** Source of the telemetry that it comes from; undefined for what a runtime or a caller has reported. */
  readonly telemetrySource?: string | undefined
}

/** A mark that was added (`n` 1), replaced or deleted (`n` -1); its score is in billionths. */
export interface CountedMark {
  readonly runId: string
  readonly name: string
  /** Unix milliseconds. */
  readonly at: number
  readonly value: number
  readonly n: number
  /** Source of the telemetry that it comes from. */
  readonly telemetrySource?: string | undefined
}

/** Rules by their measure: what an event adds to a measure is computed once for all of them. */
export type RulesByMeasure = ReadonlyMap<string, ReadonlyArray<AlertRule>>

export const byMeasure = (rules: Iterable<AlertRule>): RulesByMeasure => Map.groupBy(rules, ({ measure }) => measure)

/** The entries of an event for the rules that its run matches. */
export const entriesOfEvent = (
  rules: RulesByMeasure,
  run: KeyedRun,
  event: CanonicalEvent,
  facts: EventFacts,
  isOutOfReach: boolean,
  { keptMs, periods }: Counting
): ReadonlyArray<Entry> => {
  const at = Date.parse(event.ts)
  const telemetrySource = telemetrySourceOf(run, event)
  const entries: Array<Entry> = []
  for (const [measure, same] of rules) {
    const { change: changesBy, from } = measureOf(measure)
    const changes = changesBy(event, facts, isOutOfReach)
    if (changes.length === 0) continue
    const calledAt = from === "calls" ? countedAt(event, keptMs) : at
    for (const rule of same) {
      const now = periods(rule, run.id, at)
      const isRolling = isRollingWindow(rule.window)
      // A rolling window forgets what is older.
      if (isRolling && calledAt < now.start) continue
      const isOfRun = rule.window === "run"
      const period = calledAt === at || isOfRun ? now : periods(rule, run.id, calledAt)
      const firesIn = isOfRun || isRolling || at < period.end ? (isRolling ? now : period) : undefined
      for (const key of countedKeys(rule, run, telemetrySource, event)) {
        for (const change of changes) {
          const of = { runId: run.id, seq: event.seq, at, countedAt: calledAt, telemetrySource }
          entries.push({ rule, ...key, period, firesIn, change, ...of })
        }
      }
    }
  }
  return entries
}

/** What the entries of a step share. */
export interface Counting {
  readonly periods: Periods
  /** A call that is older counts at its arrival. Milliseconds. */
  readonly keptMs: number
}

/** The entries of a mark for the rules that its run matches. */
export const entriesOfMark = (
  rules: RulesByMeasure,
  run: KeyedRun,
  { at, n, name, telemetrySource, value }: CountedMark,
  periods: Periods
): ReadonlyArray<Entry> =>
  measuresOfMark(name).flatMap((measure) =>
    (rules.get(measure) ?? []).flatMap((rule) => {
      const period = periods(rule, run.id, at)
      const of = { runId: run.id, seq: undefined, at, countedAt: at, telemetrySource }
      return countedKeys(rule, run, telemetrySource).map(
        (key): Entry => ({ rule, ...key, period, firesIn: period, change: { value, n, part: "" }, ...of })
      )
    })
  )

/** The keys under which a rule counts it: those of telemetry are apart, unless the rule acts on telemetry. */
const countedKeys = (
  rule: AlertRule,
  run: KeyedRun,
  telemetrySource: string | undefined,
  event?: CanonicalEvent
): ReadonlyArray<CounterKey> => {
  const keys = keysOf(rule.per, run, event)
  return telemetrySource !== undefined && countsApart(rule)
    ? keys.map(({ key, label }) => ({ key: apartKey(key), label }))
    : keys
}
