import { runSliced, type Sliced } from "../values/Sliced.ts"
import { type Interval, twoSidedZ, wilson } from "./Wilson.ts"

const Z = twoSidedZ(0.95)
/** Groups of targets of the jackknife. */
const MAX_GROUPS = 50

/** How far apart two values are: equal or not, by their ranks, or by the square of their difference. */
export type AlphaMetric = "nominal" | "ordinal" | "interval"

/** How many raters gave a target each value; a value is a number, the position of a category, or any text. */
export type RatedTarget = ReadonlyMap<string | number, number>

/** Agreement of any number of raters, each of whom may have rated any of the targets. */
export interface Reliability {
  /** Targets that at least two raters rated. */
  readonly targets: number
  /** Their values. */
  readonly values: number
  /**
   * Krippendorff's alpha (Krippendorff 2011) with its interval of 95 % from a jackknife over up to 50 groups of
   * targets. Where all raters always agree, the lower end follows from the Wilson interval of such targets. Undefined
   * with less than two targets, and where all values are the same.
   */
  readonly alpha: (Interval & { readonly value: number }) | undefined
}

export const reliabilityOf = (rated: ReadonlyArray<RatedTarget>, metric: AlphaMetric): Reliability =>
  runSliced(reliabilityInSlices(rated, metric))

/** The same in slices: each of the groups is one. */
export function* reliabilityInSlices(rated: ReadonlyArray<RatedTarget>, metric: AlphaMetric): Sliced<Reliability> {
  const targets = rated.filter((target) => sizeOf(target) > 1)
  const values = targets.reduce((sum, target) => sum + sizeOf(target), 0)
  const found = targets.length < 2 ? undefined : alphaOf(targets, metric)
  return {
    targets: targets.length,
    values,
    alpha: found && { value: found.value, ...(yield* intervalOf(targets, metric, found)) }
  }
}

function* intervalOf(
  targets: ReadonlyArray<RatedTarget>,
  metric: AlphaMetric,
  { expected, value }: Alpha
): Sliced<Interval> {
  if (value === 1) {
    const unequal = 1 - wilson(targets.length, targets.length).low
    // A target that differs is as far apart as names are, or on a scale as far as by chance.
    return { low: Math.max(-1, 1 - (metric === "nominal" ? unequal / expected : unequal)), high: 1 }
  }
  const groups = Math.min(MAX_GROUPS, targets.length)
  const without: Array<number> = []
  for (let group = 0; group < groups; group++) {
    const left = alphaOf(
      targets.filter((_target, at) => at % groups !== group),
      metric
    )
    if (left !== undefined) without.push(left.value)
    yield
  }
  const mean = without.reduce((sum, one) => sum + one / without.length, 0)
  const spread = without.reduce((sum, one) => sum + (one - mean) ** 2, 0)
  const half = Z * Math.sqrt(((groups - 1) / groups) * spread)
  // Results that are all the same, or missing for some groups, say nothing about the error.
  return without.length < groups || half < 1e-9
    ? { low: -1, high: 1 }
    : { low: Math.max(-1, value - half), high: Math.min(1, value + half) }
}

const sizeOf = (target: RatedTarget): number => {
  let size = 0
  for (const count of target.values()) size += count
  return size
}

interface Alpha {
  readonly value: number
  /** Mean difference of two values by chance. */
  readonly expected: number
}

/** Of targets with at least two values each; undefined where all values are the same. */
const alphaOf = (targets: ReadonlyArray<RatedTarget>, metric: AlphaMetric): Alpha | undefined => {
  const totals = new Map<string | number, number>()
  let n = 0
  for (const target of targets) {
    for (const [value, count] of target) {
      totals.set(value, (totals.get(value) ?? 0) + count)
      n += count
    }
  }
  const differences = metric === "ordinal" ? ordinal(totals) : metric === "interval" ? interval(totals, n) : nominal
  let observed = 0
  for (const target of targets) observed += differences(target) / (sizeOf(target) - 1)
  const expected = differences(totals) / (n - 1)
  if (!(expected > 0)) return undefined
  return { value: 1 - observed / expected, expected: expected / n }
}

/** The sum of the differences between all ordered pairs of the values of a target. */
type Differences = (target: RatedTarget) => number

const nominal: Differences = (target) => {
  let size = 0
  let equal = 0
  for (const count of target.values()) {
    size += count
    equal += count * count
  }
  return size * size - equal
}

const interval = (totals: RatedTarget, n: number): Differences => {
  let all = 0
  for (const [value, count] of totals) all += Number(value) * count
  const mean = all / n
  return (target) => {
    let [size, sum, squares] = [0, 0, 0]
    for (const [value, count] of target) {
      const apart = Number(value) - mean
      size += count
      sum += apart * count
      squares += apart * apart * count
    }
    return Math.max(0, 2 * (size * squares - sum * sum))
  }
}

/** Categories by their position; the difference of two counts the values between them, both ends by half. */
const ordinal = (totals: RatedTarget): Differences => {
  const ranks = new Map<string | number, number>()
  let before = 0
  for (const [value, count] of [...totals].toSorted(([one], [other]) => Number(one) - Number(other))) {
    ranks.set(value, before + count / 2)
    before += count
  }
  return (target) => {
    let sum = 0
    for (const [one, ones] of target) {
      for (const [other, others] of target) {
        sum += ones * others * ((ranks.get(one) ?? 0) - (ranks.get(other) ?? 0)) ** 2
      }
    }
    return sum
  }
}
