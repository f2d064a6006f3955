import { type AlphaMetric, reliabilityInSlices } from "../statistics/Alpha.ts"
import { type Agreement, type KappaWeights, kappaOf } from "../statistics/Kappa.ts"
import type { Interval } from "../statistics/Wilson.ts"
import type { Sliced } from "../values/Sliced.ts"
import { correctFlag } from "./Correct.ts"
import { CORRECT, type MarkValue } from "./Mark.ts"
import type { MarkDefinition } from "./MarkDefinition.ts"

/** A judge whose kappa is under it is unreliable. */
export const UNRELIABLE_KAPPA = 0.4
/** Fewer common targets give no verdict about a judge. */
export const LEAST_PAIRS = 20
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

/** `unknown` with few targets, and while the interval of kappa contains the bound or there is none. */
export type AgreementVerdict = "reliable" | "unreliable" | "unknown"

/** The agreement of two raters about one name (docs/reference/marks.md#agreement). */
export interface RaterAgreement {
  readonly n: number
  readonly agreed: number
  readonly categories: ReadonlyArray<MarkValue>
  /** Targets by the value of the first (rows) and of the second (columns). */
  readonly confusion: ReadonlyArray<ReadonlyArray<number>>
  readonly weights: KappaWeights
  readonly kappa?: Interval & { readonly value: number }
  /** Mean distance of the two numbers of a target; absent for other values. */
  readonly meanDifference?: number
  readonly verdict: AgreementVerdict
  readonly unreliable: boolean
}

/**
 * The value as agreement compares it. A number of a definition with a range is one of `RATING_INTERVALS` equal
 * intervals of the range, which has the text `0.2 to 0.4`; a scale of whole numbers up to 5 keeps each number apart.
 * A text of `correct` that is a flag is that flag. All other values are compared as they are.
 */
export const ratingOf = (value: MarkValue, { max, min, name }: Partial<MarkDefinition> = {}): MarkValue => {
  if (name === CORRECT) return correctFlag(value) ?? value
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
  const scale = scaleOf(
    rated.flatMap(({ left, right }) => [left, right]),
    definition
  )
  const { agreed, kappa, n } = weighted(rated, pairs, scale)
  const shown = [...values]
    .toSorted(([, one], [, other]) => other.count - one.count)
    .slice(0, MAX_CONFUSED)
    .toSorted(([, one], [, other]) => inOrder(one.value, other.value, definition))
  const verdict = verdictOf({ n, kappa })
  return {
    n,
    agreed,
    categories: shown.map(([, { value }]) => value),
    confusion: shown.map(([left]) => shown.map(([right]) => joint.get(left)?.get(right) ?? 0)),
    weights: scale.weights,
    ...(kappa !== undefined && { kappa: { value: kappa.value, low: kappa.low, high: kappa.high } }),
    ...(scale.metric === "interval" && { meanDifference: meanDifference(rated, n) }),
    verdict,
    unreliable: verdict === "unreliable"
  }
}

/** A judge is not judged by a few targets, nor while its kappa may be on either side of the bound. */
export const verdictOf = ({
  kappa,
  n
}: {
  readonly n: number
  readonly kappa?: Interval | undefined
}): AgreementVerdict => {
  if (n < LEAST_PAIRS || kappa === undefined) return "unknown"
  if (kappa.high < UNRELIABLE_KAPPA) return "unreliable"
  return kappa.low > UNRELIABLE_KAPPA ? "reliable" : "unknown"
}

/** The scale on which values are compared, and their positions on it. */
interface RatingScale {
  readonly weights: KappaWeights
  readonly metric: AlphaMetric
  readonly positionOf: (value: MarkValue) => number
}

const NAMES: RatingScale = { weights: "none", metric: "nominal", positionOf: () => 0 }

/** Numbers are compared by their distance, categories in an order by their positions, all other values as names. */
const scaleOf = (values: ReadonlyArray<MarkValue>, definition: Partial<MarkDefinition> = {}): RatingScale => {
  if (values.length > 0 && values.every((value) => typeof value === "number")) {
    return { weights: "quadratic", metric: "interval", positionOf: Number }
  }
  const { better, categories = [], kind } = definition
  const positions = new Map<MarkValue, number>(categories.map((category, at) => [category, at]))
  return kind === "category" && better === "first" && values.every((value) => positions.has(value))
    ? { weights: "linear", metric: "ordinal", positionOf: (value) => positions.get(value) ?? 0 }
    : NAMES
}

/** Numbers keep their exact distances: only the confusion, and what counts as the same value, go by intervals. */
const weighted = (
  rated: ReadonlyArray<RatedValues>,
  pairs: Parameters<typeof kappaOf>[0],
  { positionOf, weights }: RatingScale
): Agreement => {
  const plain = kappaOf(pairs)
  if (weights === "none") return plain
  const positions = new Map<string, number>()
  const keyOf = (value: MarkValue): string => {
    const key = JSON.stringify(value)
    positions.set(key, positionOf(value))
    return key
  }
  const exact = rated.map(({ count, left, right }) => ({ left: keyOf(left), right: keyOf(right), count }))
  return { ...plain, kappa: kappaOf(exact, weights, (key) => positions.get(key) ?? 0).kappa }
}

const meanDifference = (rated: ReadonlyArray<RatedValues>, n: number): number =>
  rated.reduce((sum, { count, left, right }) => sum + (count / n) * Math.abs(Number(left) - Number(right)), 0)

/** Raters from which on alpha says more than kappa. */
export const LEAST_ALPHA_RATERS = 3

/** The agreement of all raters of one name together (docs/reference/marks.md#alpha). */
export interface GroupAgreement extends Interval {
  readonly value: number
  readonly raters: number
  /** Targets that at least two of them rated. */
  readonly targets: number
  readonly metric: AlphaMetric
}

/**
 * Krippendorff's alpha of all raters in slices, by target the values with their numbers of raters. Undefined where it
 * has no value.
 */
export function* groupAgreement(
  raters: number,
  targets: ReadonlyArray<ReadonlyArray<{ readonly value: MarkValue; readonly count: number }>>,
  definition?: Partial<MarkDefinition>
): Sliced<GroupAgreement | undefined> {
  const { metric, positionOf } = scaleOf(
    targets.flatMap((target) => target.map(({ value }) => value)),
    definition
  )
  const keyOf = (value: MarkValue) =>
    metric === "nominal" ? JSON.stringify(ratingOf(value, definition)) : positionOf(value)
  const rated = targets.map((target) => {
    const counts = new Map<string | number, number>()
    for (const { count, value } of target) counts.set(keyOf(value), (counts.get(keyOf(value)) ?? 0) + count)
    return counts
  })
  yield
  const { alpha, targets: compared } = yield* reliabilityInSlices(rated, metric)
  return alpha && { ...alpha, raters, targets: compared, metric }
}

const twoDigits = (number: number) => number.toFixed(2)

/** Two digits after the point, or the first two that are not 0. */
const shortNumber = (number: number) =>
  number >= 0.1 || number === 0 ? twoDigits(number) : String(Number(number.toPrecision(2)))

type AgreementFigures = Pick<RaterAgreement, "agreed" | "kappa" | "meanDifference" | "n"> &
  Partial<Pick<RaterAgreement, "weights">>

/** The verdict about two raters with its reason: `no verdict with 19 of at least 20 common targets`. */
export const verdictText = ({ kappa, n }: Pick<AgreementFigures, "kappa" | "n">): string => {
  if (n < LEAST_PAIRS) return `no verdict with ${n} of at least ${LEAST_PAIRS} common targets`
  if (kappa === undefined) return "no verdict, because both always give the same value"
  const verdict = verdictOf({ n, kappa })
  return verdict === "unknown" ? `no verdict, because the interval contains ${UNRELIABLE_KAPPA}` : verdict
}

/** The figures of two raters: `kappa 0.61 from 0.20 to 1.00, same value in 17 of 19`. */
export const agreementFigures = ({
  agreed,
  kappa,
  meanDifference: apart,
  n,
  weights = "none"
}: AgreementFigures): string =>
  [
    kappa &&
      `${weights === "none" ? "" : `${weights} `}kappa ${twoDigits(kappa.value)} from ${twoDigits(kappa.low)} to ${twoDigits(kappa.high)}`,
    apart === undefined ? undefined : `${shortNumber(apart)} apart on average`,
    `same value in ${agreed} of ${n}`
  ]
    .filter((part) => part !== undefined)
    .join(", ")

/** How far two raters agree, in words: the verdict, and its figures. */
export const agreementText = (pair: AgreementFigures): string => `${verdictText(pair)}: ${agreementFigures(pair)}`

/** The agreement of all raters of a name, in words. */
export const groupText = ({ high, low, raters, targets, value }: Omit<GroupAgreement, "metric">): string =>
  `Krippendorff's alpha ${twoDigits(value)} from ${twoDigits(low)} to ${twoDigits(high)}, ${raters} raters on ${targets} targets`

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
