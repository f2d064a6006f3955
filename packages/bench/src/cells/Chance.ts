/** A source of numbers in [0, 1) that repeats for a seed. */
export type Chance = () => number

/** A generator of 32 bits (xorshift of Marsaglia), good enough for loads. */
export const chanceOf = (seed: number): Chance => {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 0x1_0000_0000
  }
}

/** A standard normal number. */
export const normal = (chance: Chance): number =>
  Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance())

/** Below this mean arrivals are drawn one by one; above it their number is close to normal. */
const FEW = 30

/** The number of arrivals in a time, given their mean. */
export const poisson = (mean: number, chance: Chance): number => {
  if (mean > FEW) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(chance)))
  const limit = Math.exp(-mean)
  let count = -1
  for (let product = 1; product > limit; product *= chance()) count += 1
  return Math.max(0, count)
}

/** A hash of two numbers in [0, 1): the weight of a cell for a runtime. */
export const weightOf = (runtime: number, cell: number): number =>
  mixed(Math.imul(mixed(runtime + 1), 0x9e3779b1) ^ (cell + 1)) / 0x1_0000_0000

/** Mixes the bits of a number (the finaliser of MurmurHash3). */
const mixed = (value: number): number => {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
