import { random } from "../statistics/Bootstrap.ts"
import type { PatternColumns } from "../statistics/CasePatterns.ts"
import type { Sliced } from "../values/Sliced.ts"
import { type ErrorTable, type PairIndexes, phiAt, SUMS, sumsByUnit } from "./PairSums.ts"

/** Cases that are resampled one by one; more are dealt into as many blocks. */
const MAX_UNITS = 2_000
const LEAST_UNITS = 200
/** Sums of one resample up to which all units are used. */
const SUMS_OF_A_RESAMPLE = 100_000
/** Resamples of one slice. */
const A_SLICE = 25

/** What is drawn with replacement: cases, or blocks of cases. Equal ones are one kind. */
interface Units {
  readonly total: number
  readonly kinds: number
  /** The kind of each unit. */
  readonly kindOf: Int32Array
  /** The sums of each kind. */
  readonly sums: Float64Array
}

/** The correlations of each resample; NaN where a resample has none. */
export interface Resamples {
  /** One list for each pair. */
  readonly phis: ReadonlyArray<Float64Array>
  /** Means over the pairs that count. */
  readonly means: Float64Array
}

/** Draws as many cases as there are, with replacement, `resamples` times. */
export function* resampledInSlices(
  columns: PatternColumns,
  errors: ErrorTable,
  pairs: ReadonlyArray<PairIndexes>,
  counts: ReadonlyArray<boolean>,
  { resamples, seed }: { readonly resamples: number; readonly seed: number }
): Sliced<Resamples> {
  const units = yield* unitsInSlices(columns, errors, pairs)
  const next = random(seed)
  const phis = pairs.map(() => new Float64Array(resamples).fill(Number.NaN))
  const means = new Float64Array(resamples).fill(Number.NaN)
  const drawn = new Int32Array(units.kinds)
  const sums = new Float64Array(pairs.length * SUMS)
  for (let resample = 0; resample < resamples; resample++) {
    if (resample % A_SLICE === 0) yield
    draw(units, next, drawn, sums)
    let [sum, n] = [0, 0]
    for (const [pair, list] of phis.entries()) {
      const phi = phiAt(sums, pair)
      if (phi === undefined) continue
      list[resample] = phi
      if (counts[pair] === true) {
        sum += phi
        n += 1
      }
    }
    if (n > 0) means[resample] = sum / n
  }
  return { phis, means }
}

const draw = ({ kindOf, kinds, sums, total }: Units, next: () => number, drawn: Int32Array, into: Float64Array) => {
  drawn.fill(0)
  for (let unit = 0; unit < total; unit++) {
    const kind = kindOf[Math.floor(next() * total)] ?? 0
    drawn[kind] = (drawn[kind] ?? 0) + 1
  }
  into.fill(0)
  const width = into.length
  for (let kind = 0; kind < kinds; kind++) {
    const times = drawn[kind] ?? 0
    if (times === 0) continue
    const from = kind * width
    for (let at = 0; at < width; at++) into[at] = (into[at] ?? 0) + times * (sums[from + at] ?? 0)
  }
}

/**
 * Without this: a resample draws and sums each of 100,000 cases; costs a minute instead of less than a second. Cases
 * with equal sums are one kind, and many cases are dealt into blocks of equal size, which are as independent of each
 * other as the cases are. A case without any value is not drawn.
 */
function* unitsInSlices(columns: PatternColumns, errors: ErrorTable, pairs: ReadonlyArray<PairIndexes>): Sliced<Units> {
  const width = pairs.length * SUMS
  const most = Math.min(MAX_UNITS, Math.max(LEAST_UNITS, Math.floor(SUMS_OF_A_RESAMPLE / Math.max(1, width))))
  const dealt = dealtCases(columns, errors, most)
  yield
  const sums = yield* sumsByUnit(columns, errors, pairs, dealt.units, (at) => dealt.unitOf[at] ?? -1)
  return ofKinds(sums, dealt.units, width)
}

/** The unit of each case: by the order of a hash of its name, so that the order of the runs does not matter. */
const dealtCases = (
  { caseIds, caseOf, patternOf, rows }: PatternColumns,
  { hasValue }: ErrorTable,
  most: number
): { readonly units: number; readonly unitOf: Int32Array } => {
  const unitOf = new Int32Array(caseIds.length).fill(-1)
  const used: Array<number> = []
  for (let row = 0; row < rows; row++) {
    const at = caseOf[row] ?? 0
    if (hasValue[patternOf[row] ?? 0] !== true || unitOf[at] === 0) continue
    unitOf[at] = 0
    used.push(at)
  }
  const hashes = caseIds.map(fnv)
  used.sort(
    (one, other) =>
      (hashes[one] ?? 0) - (hashes[other] ?? 0) || ((caseIds[one] ?? "") < (caseIds[other] ?? "") ? -1 : 1)
  )
  const units = Math.min(used.length, most)
  for (const [rank, at] of used.entries()) unitOf[at] = rank % units
  return { units, unitOf }
}

/** Spreads texts over 32 bits (FNV-1a). */
const fnv = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

const ofKinds = (sums: Float64Array, total: number, width: number): Units => {
  const kindOf = new Int32Array(total)
  const known = new Map<string, number>()
  const kept: Array<Float64Array> = []
  for (let unit = 0; unit < total; unit++) {
    const own = sums.subarray(unit * width, (unit + 1) * width)
    const key = own.join()
    const kind = known.get(key) ?? kept.length
    if (kind === kept.length) {
      known.set(key, kind)
      kept.push(own)
    }
    kindOf[unit] = kind
  }
  const all = new Float64Array(kept.length * width)
  for (const [kind, own] of kept.entries()) all.set(own, kind * width)
  return { total, kinds: kept.length, kindOf, sums: all }
}
