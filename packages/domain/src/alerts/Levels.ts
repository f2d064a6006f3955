import { type Sum, totalOf } from "./CounterChange.ts"
import { measureOf } from "./Measures.ts"
import { type AlertRule, minRunsOf } from "./Rule.ts"
import { isRollingWindow } from "./Windows.ts"

/** The value of the measure by its sums; undefined while a rate or a mean has too few values. */
export const measured = (rule: AlertRule, parts: Iterable<Sum>): number | undefined =>
  measureOf(rule.measure).value(totalOf(parts), minRunsOf(rule))

/** Which levels of a rule a value reaches. */
export const reaches = ({ levels, measure }: AlertRule, level: number, value: number): boolean => {
  const at = levels[level]?.at ?? Number.POSITIVE_INFINITY
  return measureOf(measure).firesBelow ? value < at : value >= at
}

/** Whether a value ends an open firing of a level (docs/reference/alerts.md#firings). */
export const ends = (rule: AlertRule, level: number, value: number): boolean => {
  const { firesBelow, fold } = measureOf(rule.measure)
  // Only a value of a moment can be back on the other side of its threshold.
  const isOfMoment = isRollingWindow(rule.window) || fold === "set"
  const bound = rule.resolveBelow ?? (isOfMoment ? rule.levels[level]?.at : undefined)
  if (bound === undefined) return false
  return firesBelow ? value >= bound : value < bound
}
