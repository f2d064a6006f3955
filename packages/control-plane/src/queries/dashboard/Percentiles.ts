/** Integers in ascending order, and their sum. */
export interface Sorted {
  readonly values: Float64Array
  readonly sum: number
}

export const sorted = (values: Float64Array): Sorted => ({ values, sum: values.reduce((sum, value) => sum + value, 0) })

/** The numbers of all added parts, without those of the removed parts, which are a subset. */
export interface Parts {
  readonly added: ReadonlyArray<Sorted>
  readonly removed: ReadonlyArray<Sorted>
}

export const countOf = ({ added, removed }: Parts): number => lengthOf(added) - lengthOf(removed)

export const meanOf = (parts: Parts): number => (sumOf(parts.added) - sumOf(parts.removed)) / countOf(parts)

/**
 * The percentiles of all parts, interpolated between the two nearest numbers like `percentile_cont` of
 * PostgreSQL. `fractions` are between 0 and 1; there is at least one number.
 */
export const percentilesOf = (parts: Parts, fractions: ReadonlyArray<number>): ReadonlyArray<number> => {
  const count = countOf(parts)
  return fractions.map((fraction) => {
    const position = fraction * (count - 1)
    const rank = Math.floor(position)
    const low = numberAt(parts, rank)
    return position === rank ? low : low + (numberAt(parts, rank + 1) - low) * (position - rank)
  })
}

/** The parts in one array. */
export const joined = (parts: ReadonlyArray<Sorted>): Float64Array => {
  const all = new Float64Array(lengthOf(parts))
  let offset = 0
  for (const { values } of parts) {
    all.set(values, offset)
    offset += values.length
  }
  return all
}

/** The number of a rank, counted from 0; found by bisection, without merging the parts. */
const numberAt = ({ added, removed }: Parts, rank: number): number => {
  let low = Math.min(...added.map(({ values }) => values[0] ?? Number.POSITIVE_INFINITY))
  let high = Math.max(...added.map(({ values }) => values.at(-1) ?? Number.NEGATIVE_INFINITY))
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    if (upTo(added, middle) - upTo(removed, middle) > rank) high = middle
    else low = middle + 1
  }
  return low
}

const upTo = (parts: ReadonlyArray<Sorted>, most: number): number => {
  let count = 0
  for (const { values } of parts) {
    let from = 0
    let to = values.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((values[middle] ?? 0) <= most) from = middle + 1
      else to = middle
    }
    count += from
  }
  return count
}

const lengthOf = (parts: ReadonlyArray<Sorted>) => parts.reduce((sum, { values }) => sum + values.length, 0)

const sumOf = (parts: ReadonlyArray<Sorted>) => parts.reduce((total, { sum }) => total + sum, 0)
