import { makeStore } from "./Store.ts"

/** A clock of this computer that differs by less is trusted. Milliseconds. */
const TRUSTED_MS = 5_000
/** An answer that took longer says too little about the time of the service. Milliseconds. */
const LONGEST_TRIP_MS = 4_000
/** The time of the service has whole seconds, and the trip to it takes part of one: a smaller change is not one. */
const STEADY_MS = 2_000

/** The time of the service in an answer, and when the call began and ended by the clock of this computer. */
export interface TimeSample {
  /** The header `Date`. */
  readonly date: string
  readonly begunAt: number
  readonly endedAt: number
}

/**
 * How far the service's clock is ahead of this computer's, milliseconds: 0 while they agree to some seconds. `known` is
 * what earlier answers have shown.
 */
export const offsetOf = ({ begunAt, date, endedAt }: TimeSample, known: number): number => {
  const at = Date.parse(date)
  const trip = endedAt - begunAt
  if (Number.isNaN(at) || trip < 0 || trip > LONGEST_TRIP_MS) return known
  // The header has left out the fraction of its second.
  const offset = at + 500 - (begunAt + endedAt) / 2
  if (Math.abs(offset) <= TRUSTED_MS) return 0
  return Math.abs(offset - known) <= STEADY_MS ? known : Math.round(offset)
}

/** How far the service's clock is ahead of this computer's. Milliseconds. */
export const serverOffset = makeStore(0)

export const sawTime = (sample: TimeSample): void => serverOffset.set(offsetOf(sample, serverOffset.get()))

/** The time by the service's clock, which its data have. Unix milliseconds. */
export const serviceNow = (): number => Date.now() + serverOffset.get()
