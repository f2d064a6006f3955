/** A part of a list by positions, both ends included. */
export interface Range {
  readonly first: number
  readonly last: number
}

/** Least items of a part. */
const LEAST = 2

const bounded = (first: number, last: number, count: number): Range => {
  const length = Math.min(count, Math.max(LEAST, last - first + 1))
  const start = Math.max(0, Math.min(first, count - length))
  return { first: start, last: start + length - 1 }
}

/** Reads `12-60`, events by their indices in their order, as positions in this list; the whole when it does not fit. */
export const rangeOf = (text: string, indices: ReadonlyArray<number>): Range => {
  const whole = { first: 0, last: indices.length - 1 }
  const [, from, to] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? []
  if (from === undefined || to === undefined) return whole
  const first = indices.findIndex((index) => index >= Number(from))
  const last = indices.findLastIndex((index) => index <= Number(to))
  return first < 0 || last - first + 1 < LEAST ? whole : { first, last }
}

/** The part as an address has it; empty for the whole. */
export const rangeText = ({ first, last }: Range, indices: ReadonlyArray<number>): string =>
  first <= 0 && last >= indices.length - 1 ? "" : `${indices[first]}-${indices[last]}`

/** The middle half. */
export const zoomedIn = ({ first, last }: Range, count: number): Range => {
  const quarter = Math.ceil((last - first + 1) / 4)
  return bounded(first + quarter, last - quarter, count)
}

/** Twice as much. */
export const zoomedOut = ({ first, last }: Range, count: number): Range => {
  const half = Math.ceil((last - first + 1) / 2)
  return bounded(Math.max(0, first - half), Math.min(count - 1, last + half), count)
}

/** Half of its length earlier or later. */
export const moved = ({ first, last }: Range, count: number, direction: -1 | 1): Range => {
  const by = direction * Math.max(1, Math.floor((last - first + 1) / 2))
  return bounded(first + by, last + by, count)
}

/** The items between two positions of a drawing, 0 to 1 each; undefined when too few. */
export const brushed = (positions: ReadonlyArray<number>, one: number, other: number): Range | undefined => {
  const [from, to] = [Math.min(one, other), Math.max(one, other)]
  const first = positions.findIndex((position) => position >= from)
  const last = positions.findLastIndex((position) => position <= to)
  return first < 0 || last - first + 1 < LEAST ? undefined : { first, last }
}
