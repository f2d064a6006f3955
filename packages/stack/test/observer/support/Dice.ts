/** Chances that come out the same for the same seed, so that what once failed can be made again. */
export class Dice {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds must not throw alike.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    this.#next()
  }

  /** A whole number of the range, both ends included. */
  from(least: number, greatest: number): number {
    return least + Math.floor(this.#next() * (greatest - least + 1))
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  oneOf<A>(items: readonly [A, ...ReadonlyArray<A>]): A {
    return items[this.from(0, items.length - 1)] ?? items[0]
  }

  /** Mulberry32: from 0, 1 excluded. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
