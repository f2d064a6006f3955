import type { AgentVoteRecord } from "@runplane/api"
import { counted } from "../format/Format.ts"

type Bins = AgentVoteRecord["reliability"]

/** A drawn bin: the mean confidence along, the share of right votes up, both 0 to 1, and a radius by its votes. */
export interface CurvePoint {
  readonly x: number
  readonly y: number
  readonly n: number
  readonly radius: number
  readonly says: string
}

const SMALLEST = 3
const LARGEST = 9

const points = (share: number) => Math.round(100 * share)

/** The points of a reliability curve by confidence; the area of a point is proportional to its votes. */
export const curveOf = (bins: Bins): ReadonlyArray<CurvePoint> => {
  const most = bins.reduce((most, { n }) => Math.max(most, n), 1)
  return bins
    .filter(({ n }) => n > 0)
    .toSorted((one, other) => one.low - other.low)
    .map(({ confidence, n, right }) => ({
      x: confidence,
      y: right,
      n,
      radius: Math.max(SMALLEST, LARGEST * Math.sqrt(n / most)),
      says: `${counted(n, "vote")} with a confidence of ${points(confidence)} % on average: ${points(right)} % right`
    }))
}

/** A difference of fewer points is called well calibrated. */
const CLOSE = 3

/** The curve in a sentence; undefined without votes. */
export const calibrationText = (bins: Bins): string | undefined => {
  const n = bins.reduce((sum, bin) => sum + bin.n, 0)
  if (n === 0) return undefined
  const mean = (of: (bin: Bins[number]) => number) => bins.reduce((sum, bin) => sum + bin.n * of(bin), 0) / n
  const [stated, right] = [points(mean(({ confidence }) => confidence)), points(mean((bin) => bin.right))]
  const off = stated - right
  const verdict =
    Math.abs(off) < CLOSE
      ? "well calibrated"
      : `${off > 0 ? "overconfident" : "underconfident"} by ${Math.abs(off)} points`
  return `States ${stated} % on average and is right in ${right} %: ${verdict}.`
}
