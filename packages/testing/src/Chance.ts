/** Pseudo-random choices that a seed repeats. */
export interface Chance {
  /** From 0 to below 1. */
  readonly real: () => number
  /** From 0 to below `end`. */
  readonly below: (end: number) => number
  readonly happens: (probability: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

const MIX = 0x9e3779b9

/** Choices of one request: the same for the same seed and number, independent of the choices of other requests. */
export const chanceOf = (seed: number, number: number): Chance => {
  let state = Math.imul(seed ^ Math.imul(number + 1, MIX), 0x85ebca6b) >>> 0
  const real = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(real() * end)
  return {
    real,
    below,
    happens: (probability) => real() < probability,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error("nothing to pick from")
      return item
    }
  }
}
