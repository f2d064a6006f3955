import { type Spread, spreadOf } from "../Statistics.ts"

const MICROS_PER_MILLI = 1_000
const MICROS_PER_SECOND = 1e6

/** Milliseconds from the making of events to their arrival at clients, one for each delivery. */
export interface DeliveryTimes {
  /** Of the seconds at the start that are reported apart; absent when there are none. */
  readonly first?: Spread
  /** Of what was made after them. */
  readonly settled: Spread
}

/** When events were made, and when they came; of all clients of a process. */
export class Deliveries {
  readonly #made: Array<number> = []
  readonly #came: Array<number> = []

  /** Microseconds of the same clock. */
  note(made: number, came: number): void {
    this.#made.push(made)
    this.#came.push(came)
  }

  times(leadSeconds: number): DeliveryTimes {
    const begun = this.#made.reduce((least, made) => Math.min(least, made), Number.POSITIVE_INFINITY)
    const first: Array<number> = []
    const settled: Array<number> = []
    this.#made.forEach((made, index) => {
      const into = made - begun < leadSeconds * MICROS_PER_SECOND ? first : settled
      into.push(((this.#came[index] ?? made) - made) / MICROS_PER_MILLI)
    })
    return { ...(first.length > 0 && { first: spreadOf(first) }), settled: spreadOf(settled) }
  }
}
