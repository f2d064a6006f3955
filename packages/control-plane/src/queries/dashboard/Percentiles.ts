/** Integers in ascending order, and their sum. */
export interface Sorted {
  readonly values: Float64Array
  readonly sum: number
}

export const sorted = (values: Float64Array): Sorted => ({ values, sum: values.reduce((sum, value) => sum + value, 0) })

/** Numbers in parts: all that are added, but for those that are removed; only what was added can be removed. */
export interface Parts {
  readonly added: ReadonlyArray<Sorted>
  readonly removed: ReadonlyArray<Sorted>
}

/** So many numbers are put together and sorted in less time than they are searched in. */
const SORTED_ANEW = 8_192

export const countOf = ({ added, removed }: Parts): number => lengthOf(added) - lengthOf(removed)

export const meanOf = (parts: Parts): number => (sumOf(parts.added) - sumOf(parts.removed)) / countOf(parts)

/**
 * The percentiles of the parts taken together, interpolated between the two nearest numbers as PostgreSQL's
 * `percentile_cont` does. `fractions` are between 0 and 1; there is at least one number.
 */
export const percentilesOf = (parts: Parts, fractions: ReadonlyArray<number>): ReadonlyArray<number> => {
  const count = countOf(parts)
  const at = lookUp(parts)
  return fractions.map((fraction) => {
    const place = fraction * (count - 1)
    const rank = Math.floor(place)
    const low = at(rank)
    return place === rank ? low : low + (at(rank + 1) - low) * (place - rank)
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

/** All of them in one array, one part behind the other. */
export const joined = (parts: ReadonlyArray<Sorted>): Float64Array => {
  const all = new Float64Array(lengthOf(parts))
  let place = 0
  for (const { values } of parts) {
    all.set(values, place)
    place += values.length
  }
  return all
}

/** The number of that rank, from 0 on: the least one that more numbers than that do not exceed. */
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
