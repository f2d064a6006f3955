import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import {
  type CountedMark,
  type CounterChange,
  contributionsOf,
  type Fold,
  type KeyedRun,
  keysOf,
  measured,
  type Sum
} from "./Contribution.ts"
import { type AlertRule, firesBelow, measureKind } from "./Rule.ts"
import type { EventFacts, RunMemory } from "./RunMemory.ts"
import { isRollingWindow, minuteOf, minutesOf, type Period, periodOf } from "./Windows.ts"

/** A contribution to a counter, with the event or the mark that it is of. */
export interface Entry {
  readonly rule: AlertRule
  readonly key: string
  /** The run, the calendar period, or the minute of a rolling window. */
  readonly period: Period
  readonly contribution: CounterChange
  readonly runId: string
  /** Undefined for a mark. */
  readonly seq: number | undefined
  /** Unix milliseconds. */
  readonly at: number
}

/** A stored counter. */
export interface CounterRow extends Sum {
  readonly ruleId: string
  readonly key: string
  readonly period: string
  readonly part: string
  /** Unix milliseconds. */
  readonly endsAt: number
}

/** A stored firing, as far as the evaluation needs it. */
export interface KnownFiring {
  readonly id: string
  readonly ruleId: string
  readonly key: string
  readonly period: string
  readonly level: number
  readonly isOpen: boolean
}

/** A level that was reached for the first time. */
export interface NewFiring {
  readonly rule: AlertRule
  readonly key: string
  readonly period: Period
  readonly level: number
  readonly value: number
  readonly runId: string
  readonly seq: number | undefined
  readonly at: number
}

/** The end of a firing by its measure. A firing of the same step has no id yet. */
export interface Resolution {
  readonly firing: KnownFiring | NewFiring
  readonly value: number
  readonly at: number
}

/** Counters of the window `run` are kept so long after their last change: marks and late spans follow the end. */
const RUN_KEPT_MS = 31 * 86_400_000

/** The period of a rule for an event: `cache` keeps the last calendar period, because its computation is slow. */
export const makePeriods = () => {
  const cache = new Map<string, Period>()
  return ({ window, zone }: AlertRule, runId: string, at: number): Period => {
    if (window === "run") return { key: runId, start: 0, end: at + RUN_KEPT_MS }
    if (isRollingWindow(window)) return periodOf(window, zone, at)
    const name = `${window} ${zone}`
    const last = cache.get(name)
    if (last !== undefined && last.start <= at && at < last.end) return last
    const period = periodOf(window, zone, at)
    cache.set(name, period)
    return period
  }
}

export type Periods = ReturnType<typeof makePeriods>

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
  periods: Periods
): ReadonlyArray<Entry> => {
  const at = Date.parse(event.ts)
  const entries: Array<Entry> = []
  for (const [measure, same] of rules) {
    const changes = contributionsOf(measure, event, facts, isOutOfReach)
    if (changes.length === 0) continue
    for (const rule of same) {
      const period = periods(rule, run.id, at)
      for (const key of keysOf(rule.per, run, event)) {
        for (const contribution of changes) {
          entries.push({ rule, key, period, contribution, runId: run.id, seq: event.seq, at })
        }
      }
    }
  }
  return entries
}

/** The entries of a mark for the rules that its run matches. */
export const entriesOfMark = (
  rules: RulesByMeasure,
  run: KeyedRun,
  { at, n, name, value }: CountedMark,
  periods: Periods
): ReadonlyArray<Entry> =>
  (rules.get(`markBelow:${name}`) ?? []).flatMap((rule) => {
    const period = periods(rule, run.id, at)
    const contribution: CounterChange = { value, n, fold: "add", part: "" }
    return keysOf(rule.per, run).map(
      (key): Entry => ({ rule, key, period, contribution, runId: run.id, seq: undefined, at })
    )
  })

/** Which levels of a rule a value reaches. */
export const reaches = ({ levels, measure }: AlertRule, level: number, value: number): boolean => {
  const at = levels[level]?.at ?? Number.POSITIVE_INFINITY
  return firesBelow(measure) ? value < at : value >= at
}

/** When the clock alone lets a run reach a threshold of a silence or a duration; undefined while it does not run. */
export const dueAt = ({ measure }: AlertRule, memory: RunMemory, at: number): number | undefined => {
  if (memory.state !== "running") return undefined
  if (measure === "silenceMs") return memory.lastAt === undefined ? undefined : memory.lastAt + at
  return memory.startedAt === undefined ? undefined : memory.startedAt + memory.pausedMs + at
}

/** Whether the clock can make a rule fire. */
export const hasDeadline = ({ measure }: AlertRule): boolean => measure === "silenceMs" || measure === "durationMs"

/** Whether a value ends an open firing of a level (docs/reference/alerts.md#firings). */
export const ends = (rule: AlertRule, level: number, value: number): boolean => {
  const isOfMoment = isRollingWindow(rule.window) || measureKind(rule.measure) === "silenceMs"
  const bound = rule.resolveBelow ?? (isOfMoment ? rule.levels[level]?.at : undefined)
  if (bound === undefined) return false
  return firesBelow(rule.measure) ? value >= bound : value < bound
}

/** Sums of one key of a rule. */
interface Counter {
  readonly rule: AlertRule
  readonly key: string
  /** By period, or by minute of a rolling window; then by part. */
  readonly periods: Map<string, Map<string, Sum>>
  /** Of a rolling window: its last minute, and the sums over all its minutes. */
  last: number
  totals: Map<string, Sum>
}

/** Equal for equal pairs alone. */
const pairOf = (ruleId: string, key: string): string => `${ruleId.length} ${ruleId} ${key}`

const fold = (sums: Map<string, Sum>, part: string, how: Fold, { n, value }: Sum) => {
  const sum = sums.get(part)
  if (how === "set" || sum === undefined) return sums.set(part, { value, n })
  return how === "max"
    ? sums.set(part, { value: Math.max(sum.value, value), n: sum.n + n })
    : sums.set(part, { value: sum.value + value, n: sum.n + n })
}

/**
 * Counters and firings in memory. `take` adds entries one by one in the order of the log and compares each new value
 * with the levels, so the result does not depend on how the log is divided into steps.
 */
export const makeEvaluation = (
  rules: ReadonlyMap<string, AlertRule>,
  rows: ReadonlyArray<CounterRow>,
  known: ReadonlyArray<KnownFiring>
) => {
  const counters = new Map<string, Counter>()
  const changed = new Map<string, CounterRow>()
  const firings: Array<NewFiring> = []
  const resolutions: Array<Resolution> = []
  const open = new Map<string, Map<number, KnownFiring | NewFiring>>()
  const fired = new Set<string>()

  const counterOf = (rule: AlertRule, key: string): Counter => {
    const pair = pairOf(rule.id, key)
    const found = counters.get(pair)
    if (found !== undefined) return found
    const made: Counter = { rule, key, periods: new Map(), last: 0, totals: new Map() }
    counters.set(pair, made)
    return made
  }

  const sumsOf = (counter: Counter, period: string): Map<string, Sum> => {
    const found = counter.periods.get(period)
    if (found !== undefined) return found
    const made = new Map<string, Sum>()
    counter.periods.set(period, made)
    return made
  }

  const howOf = ({ measure }: AlertRule): Fold => (measureKind(measure) === "repeats" ? "max" : "add")

  /** Moves the end of a rolling window, and sums up its minutes. */
  const rollTo = (counter: Counter, minute: number) => {
    const { rule, periods } = counter
    if (!isRollingWindow(rule.window)) return
    counter.last = minute
    counter.totals = new Map()
    const first = minute - minutesOf(rule.window) + 1
    for (const [period, sums] of periods) {
      const at = minuteOf(Date.parse(period))
      if (at < first) periods.delete(period)
      else if (at <= minute) for (const [part, sum] of sums) fold(counter.totals, part, howOf(rule), sum)
    }
  }

  for (const row of rows) {
    const rule = rules.get(row.ruleId)
    if (rule === undefined) continue
    const counter = counterOf(rule, row.key)
    sumsOf(counter, row.period).set(row.part, { value: row.value, n: row.n })
    if (isRollingWindow(rule.window)) counter.last = Math.max(counter.last, minuteOf(Date.parse(row.period)))
  }
  for (const counter of counters.values()) rollTo(counter, counter.last)

  const openOf = (ruleId: string, key: string, period: string | undefined) => {
    const name = `${pairOf(ruleId, key)} ${period ?? ""}`
    const found = open.get(name)
    if (found !== undefined) return found
    const made = new Map<number, KnownFiring | NewFiring>()
    open.set(name, made)
    return made
  }
  /** Firings of a rolling window stay open over its minutes. */
  const spanOf = (rule: AlertRule, period: string) => (isRollingWindow(rule.window) ? undefined : period)
  const firedName = (ruleId: string, key: string, period: string, level: number) =>
    `${pairOf(ruleId, key)} ${period} ${level}`

  for (const firing of known) {
    fired.add(firedName(firing.ruleId, firing.key, firing.period, firing.level))
    const rule = rules.get(firing.ruleId)
    if (firing.isOpen && rule !== undefined) {
      openOf(firing.ruleId, firing.key, spanOf(rule, firing.period)).set(firing.level, firing)
    }
  }

  /** Compares the measure of a key with the levels. */
  const compare = (found: Omit<NewFiring, "level">) => {
    const { key, period, rule, value } = found
    const opened = openOf(rule.id, key, spanOf(rule, period.key))
    for (const level of rule.levels.keys()) {
      const firing = opened.get(level)
      if (firing !== undefined && ends(rule, level, value)) {
        opened.delete(level)
        resolutions.push({ firing, value, at: found.at })
      } else if (firing === undefined && reaches(rule, level, value)) {
        const name = firedName(rule.id, key, period.key, level)
        if (fired.has(name)) continue
        fired.add(name)
        const made = { ...found, level }
        opened.set(level, made)
        firings.push(made)
      }
    }
  }

  const take = ({ at, contribution, key, period, rule, runId, seq }: Entry) => {
    const { fold: how, part } = contribution
    const counter = counterOf(rule, key)
    const sums = sumsOf(counter, period.key)
    fold(sums, part, how, contribution)
    const sum = sums.get(part) ?? contribution
    const endsAt = isRollingWindow(rule.window) ? period.end + minutesOf(rule.window) * 60_000 : period.end
    const row = { ruleId: rule.id, key, period: period.key, part, value: sum.value, n: sum.n, endsAt }
    changed.set(`${pairOf(rule.id, key)} ${period.key} ${part}`, row)
    let parts = sums
    if (isRollingWindow(rule.window)) {
      const minute = minuteOf(at)
      if (minute > counter.last) rollTo(counter, minute)
      else if (minute > counter.last - minutesOf(rule.window)) fold(counter.totals, part, how, contribution)
      parts = counter.totals
    }
    const value = measured(rule, parts.values())
    if (value !== undefined) compare({ rule, key, period, value, runId, seq, at })
  }

  /** Compares the open firings of a rolling window with its value at a later time. */
  const roll = (rule: AlertRule, key: string, at: number) => {
    const counter = counterOf(rule, key)
    const minute = minuteOf(at)
    if (minute > counter.last) rollTo(counter, minute)
    const value = measured(rule, counter.totals.values()) ?? (firesBelow(rule.measure) ? Number.POSITIVE_INFINITY : 0)
    const opened = openOf(rule.id, key, undefined)
    for (const [level, firing] of opened) {
      if (!ends(rule, level, value)) continue
      opened.delete(level)
      resolutions.push({ firing, value: Number.isFinite(value) ? value : 0, at })
    }
  }

  return {
    take,
    roll,
    /** Compares a value of a clock with the levels: a duration or a silence. */
    compare,
    hasFired: (ruleId: string, key: string, period: string, level: number) =>
      fired.has(firedName(ruleId, key, period, level)),
    result: () => ({ counters: [...changed.values()], firings, resolutions })
  }
}

export type Evaluation = ReturnType<typeof makeEvaluation>
