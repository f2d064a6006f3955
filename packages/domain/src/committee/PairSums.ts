import type { PatternColumns } from "../statistics/CasePatterns.ts"
import { phiOfSums } from "../statistics/Phi.ts"
import type { Sliced } from "../values/Sliced.ts"

/** Two seats by their indexes. */
export interface PairIndexes {
  readonly left: number
  readonly right: number
}

export const pairsOf = (seats: number): ReadonlyArray<PairIndexes> =>
  Array.from({ length: seats }, (_, left) =>
    Array.from({ length: seats - left - 1 }, (_, further) => ({ left, right: left + further + 1 }))
  ).flat()

/** Numbers of a pair: shared runs, errors of the left one, of the right one, of both. */
export const SUMS = 4

/** Rows of one slice. */
const A_SLICE = 10_000

const NO_VALUE = 2

/** The errors of the seats of each pattern, in a table: 1 for an error, 0 for none, 2 for no value. */
export interface ErrorTable {
  readonly seats: number
  readonly cells: Uint8Array
  /** By the pattern: whether a seat has a value. */
  readonly hasValue: ReadonlyArray<boolean>
}

export const errorTable = (
  patterns: ReadonlyArray<string>,
  seats: number,
  errorOf: (pattern: string, seat: number) => boolean | undefined
): ErrorTable => {
  const cells = new Uint8Array(patterns.length * seats)
  const hasValue = patterns.map((pattern, index) => {
    let has = false
    for (let seat = 0; seat < seats; seat++) {
      const error = errorOf(pattern, seat)
      cells[index * seats + seat] = error === undefined ? NO_VALUE : Number(error)
      has ||= error !== undefined
    }
    return has
  })
  return { seats, cells, hasValue }
}

/**
 * The numbers of all pairs by unit, one unit after the other. `unitOf` has the unit of each case, and less than 0 for a
 * case that does not count.
 */
export function* sumsByUnit(
  { caseOf, count, patternOf, rows }: PatternColumns,
  { cells, hasValue, seats }: ErrorTable,
  pairs: ReadonlyArray<PairIndexes>,
  units: number,
  unitOf: (caseIndex: number) => number
): Sliced<Float64Array> {
  const width = pairs.length * SUMS
  const sums = new Float64Array(units * width)
  const add = (at: number, number: number) => {
    sums[at] = (sums[at] ?? 0) + number
  }
  for (let row = 0; row < rows; row++) {
    if (row % A_SLICE === A_SLICE - 1) yield
    const pattern = patternOf[row] ?? 0
    const unit = unitOf(caseOf[row] ?? 0)
    if (unit < 0 || hasValue[pattern] !== true) continue
    const times = count[row] ?? 0
    let at = unit * width
    for (const { left, right } of pairs) {
      const one = cells[pattern * seats + left] ?? NO_VALUE
      const other = cells[pattern * seats + right] ?? NO_VALUE
      if (one !== NO_VALUE && other !== NO_VALUE) {
        add(at, times)
        if (one === 1) add(at + 1, times)
        if (other === 1) add(at + 2, times)
        if (one === 1 && other === 1) add(at + 3, times)
      }
      at += SUMS
    }
  }
  return sums
}

export const sumsAt = (sums: Float64Array, pair: number) => ({
  shared: sums[pair * SUMS] ?? 0,
  left: sums[pair * SUMS + 1] ?? 0,
  right: sums[pair * SUMS + 2] ?? 0,
  both: sums[pair * SUMS + 3] ?? 0
})

export const phiAt = (sums: Float64Array, pair: number): number | undefined => {
  const at = pair * SUMS
  return phiOfSums(sums[at] ?? 0, sums[at + 1] ?? 0, sums[at + 2] ?? 0, sums[at + 3] ?? 0)
}
