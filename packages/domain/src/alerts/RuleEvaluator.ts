import { folded, type Sum } from "./CounterChange.ts"
import type { Entry } from "./Entries.ts"
import type { CounterKey } from "./Keys.ts"
import { ends, measured, reaches } from "./Levels.ts"
import { measureOf } from "./Measures.ts"
import type { AlertRule } from "./Rule.ts"
import { isCalendarWindow, isRollingWindow, minuteOf, minutesOf, type Period } from "./Windows.ts"

/** A stored counter. */
export interface CounterRow extends Sum, CounterKey {
  readonly ruleId: string
  readonly period: string
  readonly part: string
  /** Unix milliseconds. */
  readonly endsAt: number
}

/** A stored firing, as far as the evaluator needs it. */
export interface KnownFiring {
  readonly id: string
  readonly ruleId: string
  readonly key: string
  readonly period: string
  readonly level: number
  readonly isOpen: boolean
}

/** A level that was reached for the first time. */
export interface NewFiring extends CounterKey {
  readonly rule: AlertRule
  readonly period: Period
  readonly level: number
  readonly value: number
  /** Undefined for a level that a change of its rule reaches in a period of several runs. */
  readonly runId: string | undefined
  readonly seq: number | undefined
  readonly at: number
  /** Source of the telemetry whose event or mark reached it. */
  readonly telemetrySource?: string | undefined
}

/** The end of a firing by its measure. A firing of the same step has no id yet. */
export interface Resolution {
  readonly firing: KnownFiring | NewFiring
  readonly value: number
  readonly at: number
}

const MINUTE_MS = 60_000

/** Sums of one period, or of one minute of a rolling window, by part. */
interface Sums {
  readonly parts: Map<string, Sum>
  /** Unix milliseconds. */
  endsAt: number
  isChanged: boolean
}

/** Sums of one key of a rule, and its open firings. */
interface Counter {
  readonly rule: AlertRule
  readonly key: string
  label: string
  readonly periods: Map<string, Sums>
  /** Of a rolling window: its last minute, and the sums over all its minutes. */
  last: number
  totals: Map<string, Sum>
  /** By period, or under one name for a rolling window, whose firings stay open over its minutes; then by level. */
  readonly open: Map<string, Map<number, KnownFiring | NewFiring>>
  /** Periods and levels that have fired. */
  readonly fired: Set<string>
}

/** Folds a change into its part. */
const fold = (sums: Map<string, Sum>, part: string, { measure }: AlertRule, change: Sum) =>
  sums.set(part, folded(measureOf(measure).fold, sums.get(part), change))

const firedName = (period: string, level: number): string => `${level} ${period}`

const spanOf = ({ window }: AlertRule, period: string): string => (isRollingWindow(window) ? "" : period)

/** Moves the end of a rolling window, and sums up its minutes. */
const rollTo = (counter: Counter, minute: number) => {
  const { periods, rule } = counter
  if (!isRollingWindow(rule.window)) return
  counter.last = minute
  counter.totals = new Map()
  const first = minute - minutesOf(rule.window) + 1
  for (const [period, { isChanged, parts }] of periods) {
    const at = minuteOf(Date.parse(period))
    if (at >= first && at <= minute) for (const [part, sum] of parts) fold(counter.totals, part, rule, sum)
    else if (at < first && !isChanged) periods.delete(period)
  }
}

/**
 * Counters and firings in memory. `take` adds entries one by one in the order of the log and compares each new value
 * with the levels, so the result does not depend on how the log is divided into steps.
 */
export const makeRuleEvaluator = (
  rules: ReadonlyMap<string, AlertRule>,
  rows: ReadonlyArray<CounterRow>,
  known: ReadonlyArray<KnownFiring>,
  keptMs: number
) => {
  const counters = new Map<string, Map<string, Counter>>()
  const firings: Array<NewFiring> = []
  const resolutions: Array<Resolution> = []

  const counterOf = (rule: AlertRule, key: string, label: string): Counter => {
    const own = counters.get(rule.id) ?? new Map<string, Counter>()
    counters.set(rule.id, own)
    const found = own.get(key)
    if (found !== undefined) return found
    const made: Counter = {
      ...{ rule, key, label, last: 0 },
      ...{ periods: new Map(), totals: new Map(), open: new Map(), fired: new Set() }
    }
    own.set(key, made)
    return made
  }

  const sumsOf = ({ periods }: Counter, period: string, endsAt: number): Sums => {
    const found = periods.get(period)
    if (found !== undefined) return found
    const made: Sums = { parts: new Map(), endsAt, isChanged: false }
    periods.set(period, made)
    return made
  }

  const openOf = ({ open, rule }: Counter, period: string) => {
    const span = spanOf(rule, period)
    const found = open.get(span) ?? new Map<number, KnownFiring | NewFiring>()
    open.set(span, found)
    return found
  }

  for (const { endsAt, key, label, n, part, period, ruleId, value } of rows) {
    const rule = rules.get(ruleId)
    if (rule === undefined) continue
    const counter = counterOf(rule, key, label)
    sumsOf(counter, period, endsAt).parts.set(part, { value, n })
    if (isRollingWindow(rule.window)) counter.last = Math.max(counter.last, minuteOf(Date.parse(period)))
  }
  for (const own of counters.values()) for (const counter of own.values()) rollTo(counter, counter.last)
  for (const firing of known) {
    const rule = rules.get(firing.ruleId)
    if (rule === undefined) continue
    const counter = counterOf(rule, firing.key, firing.key)
    counter.fired.add(firedName(firing.period, firing.level))
    if (firing.isOpen) openOf(counter, firing.period).set(firing.level, firing)
  }

  /** Compares the measure of a key with the levels. */
  const compare = (found: Omit<NewFiring, "level">) => {
    const { key, label, period, rule, value } = found
    const counter = counterOf(rule, key, label)
    // Most values reach no level of a rule without firings.
    const easiest = measureOf(rule.measure).firesBelow ? rule.levels.length - 1 : 0
    if (counter.open.size === 0 && !reaches(rule, easiest, value)) return
    const opened = openOf(counter, period.key)
    for (const level of rule.levels.keys()) {
      const firing = opened.get(level)
      if (firing !== undefined && ends(rule, level, value)) {
        opened.delete(level)
        resolutions.push({ firing, value, at: found.at })
      } else if (firing === undefined && reaches(rule, level, value)) {
        const name = firedName(period.key, level)
        if (counter.fired.has(name)) continue
        counter.fired.add(name)
        const made = { ...found, label: counter.label, level }
        opened.set(level, made)
        firings.push(made)
      }
    }
  }

  /** Stores a minute of a rolling window in which nothing was counted. */
  const touch = (counter: Counter, { end, key }: Period, part: string) => {
    const sums = sumsOf(counter, key, end)
    fold(sums.parts, part, counter.rule, { value: 0, n: 0 })
    sums.isChanged = true
    sums.endsAt = end + (isRollingWindow(counter.rule.window) ? minutesOf(counter.rule.window) * MINUTE_MS : 0)
  }

  const take = ({ at, change, firesIn, key, label, period, rule, runId, seq, telemetrySource }: Entry) => {
    const { part } = change
    const counter = counterOf(rule, key, label)
    if (counter.label === key) counter.label = label
    const sums = sumsOf(counter, period.key, period.end)
    fold(sums.parts, part, rule, change)
    sums.isChanged = true
    // A call of a period that is over can still come as long as it is not older than what is kept.
    sums.endsAt = isCalendarWindow(rule.window) ? period.end + keptMs : period.end
    let parts = sums.parts
    if (isRollingWindow(rule.window)) {
      sums.endsAt += minutesOf(rule.window) * MINUTE_MS
      const now = minuteOf(at)
      const minute = minuteOf(period.end - 1)
      // The end of the window is the last arrival, also for the step that reads these counters again.
      if (minute < now && firesIn !== undefined) touch(counter, firesIn, part)
      if (now > counter.last) rollTo(counter, now)
      else if (minute > counter.last - minutesOf(rule.window)) fold(counter.totals, part, rule, change)
      parts = counter.totals
    }
    if (firesIn === undefined) return
    const value = measured(rule, parts.values())
    if (value !== undefined) compare({ rule, key, label, period: firesIn, value, runId, seq, at, telemetrySource })
  }

  /** Compares the open firings of a rolling window with its value at a later time. */
  const roll = (rule: AlertRule, key: string, at: number) => {
    const counter = counterOf(rule, key, key)
    const minute = minuteOf(at)
    if (minute > counter.last) rollTo(counter, minute)
    const value =
      measured(rule, counter.totals.values()) ?? (measureOf(rule.measure).firesBelow ? Number.POSITIVE_INFINITY : 0)
    const opened = openOf(counter, "")
    for (const [level, firing] of opened) {
      if (!ends(rule, level, value)) continue
      opened.delete(level)
      resolutions.push({ firing, value: Number.isFinite(value) ? value : 0, at })
    }
  }

  /** Compares a stored value with the levels of a changed rule: no event has to follow the change. */
  const recheck = (rule: AlertRule, key: string, period: Period, at: number) => {
    const counter = counterOf(rule, key, key)
    const isRolling = isRollingWindow(rule.window)
    if (isRolling && minuteOf(at) > counter.last) rollTo(counter, minuteOf(at))
    const parts = isRolling ? counter.totals : counter.periods.get(period.key)?.parts
    const value = parts && measured(rule, parts.values())
    if (value === undefined) return
    const { label } = counter
    compare({
      rule,
      key,
      label,
      period,
      value,
      runId: rule.window === "run" ? period.key : undefined,
      seq: undefined,
      at
    })
  }

  const changedRows = (): ReadonlyArray<CounterRow> =>
    [...counters.values()].flatMap((own) =>
      [...own.values()].flatMap(({ key, label, periods, rule }) =>
        [...periods].flatMap(([period, { endsAt, isChanged, parts }]) =>
          isChanged
            ? Array.from(parts, ([part, { n, value }]) => ({
                ruleId: rule.id,
                key,
                label,
                period,
                part,
                value,
                n,
                endsAt
              }))
            : []
        )
      )
    )

  return {
    take,
    roll,
    recheck,
    /** Compares a value of a clock with the levels: a duration or a silence. */
    compare,
    hasFired: (ruleId: string, key: string, period: string, level: number) =>
      counters.get(ruleId)?.get(key)?.fired.has(firedName(period, level)) === true,
    firingCount: () => firings.length,
    result: () => ({ counters: changedRows(), firings, resolutions })
  }
}

export type RuleEvaluator = ReturnType<typeof makeRuleEvaluator>
