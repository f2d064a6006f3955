import { kappaOf } from "../statistics/Kappa.ts"
import type { Interval } from "../statistics/Wilson.ts"
import type { MarkValue } from "./Mark.ts"
import type { MarkDefinition } from "./MarkDefinition.ts"

/** A judge whose kappa is under it is unreliable. */
export const UNRELIABLE_KAPPA = 0.4
/** Intervals of the range of a number definition. */
export const RATING_INTERVALS = 5
/** Values of a confusion, the most frequent ones. */
export const MAX_CONFUSED = 20

/** How many targets got these two values. */
export interface RatedValues {
  readonly left: MarkValue
  readonly right: MarkValue
  readonly count: number
}

/** The agreement of two raters about one name (docs/reference/marks.md#agreement). */
export interface RaterAgreement {
  readonly n: number
  readonly agreed: number
  readonly categories: ReadonlyArray<MarkValue>
  /** Targets by the value of the first (rows) and of the second (columns). */
  readonly confusion: ReadonlyArray<ReadonlyArray<number>>
  readonly kappa?: Interval & { readonly value: number }
  readonly unreliable: boolean
}

/**
 * The value as agreement compares it. A number of a definition with a range is one of `RATING_INTERVALS` equal
 * intervals of the range, which has the text `0.2 to 0.4`; a scale of whole numbers up to 5 keeps each number apart.
 * All other values are compared as they are.
 */
export const ratingOf = (value: MarkValue, { max, min }: Partial<MarkDefinition> = {}): MarkValue => {
  if (typeof value !== "number" || min === undefined || max === undefined || max <= min) return value
  const width = (max - min) / RATING_INTERVALS
  const at = Math.min(RATING_INTERVALS - 1, Math.max(0, Math.floor((value - min) / width)))
  return `${end(min + at * width)} to ${end(min + (at + 1) * width)}`
}

/** Without the digits of binary fractions. */
const end = (bound: number) => String(Number(bound.toPrecision(12)))

export const raterAgreement = (
  rated: ReadonlyArray<RatedValues>,
  definition?: Partial<MarkDefinition>
): RaterAgreement => {
  const values = new Map<string, { readonly value: MarkValue; count: number }>()
  const joint = new Map<string, Map<string, number>>()
  const seen = (given: MarkValue, count: number): string => {
    const value = ratingOf(given, definition)
    const key = JSON.stringify(value)
    const known = values.get(key) ?? { value, count: 0 }
    known.count += count
    values.set(key, known)
    return key
  }
  for (const pair of rated) {
    const left = seen(pair.left, pair.count)
    const right = seen(pair.right, pair.count)
    const row = joint.get(left) ?? new Map<string, number>()
    joint.set(left, row)
    row.set(right, (row.get(right) ?? 0) + pair.count)
  }
  const pairs = [...joint].flatMap(([left, row]) => Array.from(row, ([right, count]) => ({ left, right, count })))
  const { agreed, kappa, n } = kappaOf(pairs)
  const shown = [...values]
    .toSorted(([, one], [, other]) => other.count - one.count)
    .slice(0, MAX_CONFUSED)
    .toSorted(([, one], [, other]) => inOrder(one.value, other.value, definition))
  return {
    n,
    agreed,
    categories: shown.map(([, { value }]) => value),
    confusion: shown.map(([left]) => shown.map(([right]) => joint.get(left)?.get(right) ?? 0)),
    ...(kappa !== undefined && { kappa: { value: kappa.value, low: kappa.low, high: kappa.high } }),
    unreliable: kappa !== undefined && kappa.value < UNRELIABLE_KAPPA
  }
}

/** Numbers and intervals ascend; categories have the order of their definition; true is before false. */
const inOrder = (one: MarkValue, other: MarkValue, { categories = [] }: Partial<MarkDefinition> = {}): number => {
  const rank = (value: MarkValue) => {
    if (typeof value === "boolean") return value ? 0 : 1
    if (typeof value === "number") return value
    const at = categories.indexOf(value)
    return at >= 0 ? at : Number.parseFloat(value)
  }
  const [left, right] = [rank(one), rank(other)]
  if (Number.isFinite(left) && Number.isFinite(right) && left !== right) return left - right
  return String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0
}
