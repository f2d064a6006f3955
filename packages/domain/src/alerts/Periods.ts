import type { AlertRule } from "./Rule.ts"
import { isRollingWindow, type Period, periodOf } from "./Windows.ts"

/** Counters of the window `run` are kept so long after their last change: marks and late spans follow the end. */
const RUN_KEPT_MS = 31 * 86_400_000
const MINUTE_MS = 60_000
/** Calendar periods of one window and zone that are remembered. */
const MOST_PERIODS = 64

/** The period of a rule for an event: the last ones are kept, because their computation is slow. */
export const makePeriods = () => {
  const cache = new Map<string, Array<Period>>()
  return ({ window, zone }: AlertRule, runId: string, at: number): Period => {
    if (window === "run") return { key: runId, start: 0, end: at + RUN_KEPT_MS }
    const name = `${window} ${zone}`
    const last = cache.get(name) ?? []
    // A rolling window has another period each minute.
    const isRolling = isRollingWindow(window)
    const found = last.find(({ end, start }) => (isRolling ? end - MINUTE_MS : start) <= at && at < end)
    if (found !== undefined) return found
    const period = periodOf(window, zone, at)
    last.unshift(period)
    if (last.length > (isRolling ? 1 : MOST_PERIODS)) last.pop()
    cache.set(name, last)
    return period
  }
}

export type Periods = ReturnType<typeof makePeriods>
