import { measureOf } from "./Measures.ts"
import type { AlertRule } from "./Rule.ts"
import { isCalendarWindow } from "./Windows.ts"

/** Whether a rule is a budget: what is spent in a calendar period, against the threshold of its last level. */
export const isBudget = ({ measure, window }: Pick<AlertRule, "measure" | "window">): boolean =>
  isCalendarWindow(window) && measureOf(measure).budget !== undefined

/** What is spent of a budget. Times are Unix milliseconds. */
export interface BudgetSpending {
  readonly spent: number
  readonly limit: number
  readonly startsAt: number
  readonly endsAt: number
}

/** A pace that was measured for a shorter time says nothing. Milliseconds. */
const SHORTEST_PACE_MS = 60_000

/**
 * When the limit is reached at the mean pace of the period so far, Unix milliseconds; undefined when it lasts until the
 * end of the period. A limit that is reached already is exhausted now.
 */
export const exhaustedAt = ({ endsAt, limit, spent, startsAt }: BudgetSpending, now: number): number | undefined => {
  if (spent >= limit) return now
  const elapsed = now - startsAt
  if (spent <= 0 || elapsed < SHORTEST_PACE_MS) return undefined
  const at = now + (limit - spent) * (elapsed / spent)
  return at < endsAt ? at : undefined
}
