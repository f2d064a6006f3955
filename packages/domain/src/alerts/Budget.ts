import { measureOf } from "./Measures.ts"
import type { AlertRule } from "./Rule.ts"
import { isCalendarWindow } from "./Windows.ts"

/** Whether a rule is a budget: what is spent in a calendar period, against the threshold of its last level. */
export const isBudget = ({ measure, window }: Pick<AlertRule, "measure" | "window">): boolean =>
  isCalendarWindow(window) && measureOf(measure).budget !== undefined

/** The length of the parts of time by which the evaluator keeps what budgets spend. Milliseconds. */
export const PACE_PART_MS = 300_000
/** How long it keeps them. */
export const PACE_KEPT_MS = 25 * 3_600_000
/** A pace that was measured for a shorter time says nothing. Milliseconds. */
export const SHORTEST_PACE_MS = 60_000
const HOUR_MS = 3_600_000

/** Start of the part of time that a time is in. Unix milliseconds. */
export const pacePartOf = (at: number): number => Math.floor(at / PACE_PART_MS) * PACE_PART_MS

/** How fast a budget is spent, in its unit. */
export interface Pace {
  readonly perHour: number
  /** The time that it is measured over. */
  readonly of: "hour" | "day"
}

/** What a budget has spent in parts of time: those that began at `startsAt`, Unix milliseconds. */
export interface SpentPart {
  readonly startsAt: number
  readonly value: number
}

/**
 * The pace of the last hour or of the last day, whichever is faster; undefined before one can be measured. `since` is
 * the time from which the parts are known, Unix milliseconds.
 */
export const paceOf = (parts: ReadonlyArray<SpentPart>, since: number, now: number): Pace | undefined => {
  const over = (of: Pace["of"], length: number): ReadonlyArray<Pace> => {
    const first = pacePartOf(now - length)
    const elapsed = now - Math.max(first, since)
    if (elapsed < SHORTEST_PACE_MS) return []
    const spent = parts.reduce((sum, { startsAt, value }) => (startsAt >= first ? sum + value : sum), 0)
    return [{ of, perHour: (spent * HOUR_MS) / elapsed }]
  }
  const paces = [...over("hour", HOUR_MS), ...over("day", 24 * HOUR_MS)]
  return paces.reduce<Pace | undefined>(
    (worst, pace) => (worst === undefined || pace.perHour > worst.perHour ? pace : worst),
    undefined
  )
}

/** What is spent of a budget. Times are Unix milliseconds. */
export interface BudgetSpending {
  readonly spent: number
  readonly limit: number
  readonly startsAt: number
  readonly endsAt: number
  /** When its counts began, where that is known: a budget that is new in its period has not spent since the start. */
  readonly countedSince?: number | undefined
  /** Without it the mean pace of the counted part of the period is used. */
  readonly pace?: Pace | undefined
}

const meanPerHour = ({ countedSince = 0, spent, startsAt }: BudgetSpending, now: number): number => {
  const elapsed = now - Math.max(startsAt, countedSince)
  return elapsed < SHORTEST_PACE_MS ? 0 : (spent * HOUR_MS) / elapsed
}

/**
 * When the limit is reached at the pace of the budget, Unix milliseconds; undefined when it lasts until the end of the
 * period. A limit that is reached already is exhausted now.
 */
export const exhaustedAt = (spending: BudgetSpending, now: number): number | undefined => {
  const { endsAt, limit, pace, spent } = spending
  if (spent >= limit) return now
  const perHour = pace?.perHour ?? meanPerHour(spending, now)
  if (perHour <= 0) return undefined
  const at = now + ((limit - spent) / perHour) * HOUR_MS
  return at < endsAt ? at : undefined
}

/** The order of budgets: those first that are exhausted first, then those that have spent the greater share. */
export const compareBudgets = (one: BudgetSpending, other: BudgetSpending, now: number): number => {
  const end = (budget: BudgetSpending) => exhaustedAt(budget, now) ?? Number.MAX_SAFE_INTEGER
  const share = ({ limit, spent }: BudgetSpending) => (limit === 0 ? Number.MAX_SAFE_INTEGER : spent / limit)
  return end(one) - end(other) || share(other) - share(one)
}
