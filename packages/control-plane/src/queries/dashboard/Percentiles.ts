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

/** Up to this count, merging and sorting is faster than searching. */
const SORTED_ANEW = 8_192

export const countOf = ({ added, removed }: Parts): number => lengthOf(added) - lengthOf(removed)

export const meanOf = (parts: Parts): number => (sumOf(parts.added) - sumOf(parts.removed)) / countOf(parts)

/**
 * The percentiles of all parts, interpolated between the two nearest numbers as PostgreSQL's
 * `percentile_cont` does. `fractions` are between 0 and 1; there is at least one number.
 */
export const percentilesOf = (parts: Parts, fractions: ReadonlyArray<number>): ReadonlyArray<number> => {
  const count = countOf(parts)
  const at = lookUp(parts)
  return fractions.map((fraction) => {
    const position = fraction * (count - 1)
    const rank = Math.floor(position)
    const low = at(rank)
    return position === rank ? low : low + (at(rank + 1) - low) * (position - rank)
  })
}

const lookUp = (parts: Parts): ((rank: number) => number) => {
  const [first] = parts.added
  const isOne = parts.added.length === 1 && parts.removed.length === 0
  if (!isOne && lengthOf(parts.added) > SORTED_ANEW) return (rank) => search(parts, rank)
  const all = isOne && first !== undefined ? first.values : together(parts)
  return (rank) => all[rank] ?? Number.NaN
}

const together = ({ added, removed }: Parts): Float64Array => {
  const all = joined(added).sort()
  if (removed.length === 0) return all
  const gone = joined(removed).sort()
  let next = 0
  return all.filter((value) => {
    if (value !== gone[next]) return true
    next += 1
    return false
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

/** The number of a rank, counted from 0. */
const search = ({ added, removed }: Parts, rank: number): number => {
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
