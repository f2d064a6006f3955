import { usdOfNano } from "../Money.ts"

/** What one call used. Whole numbers. */
export interface PricedUsage {
  /** All input tokens, those of a cache included. */
  readonly input: number
  /** All output tokens, those of reasoning included. */
  readonly output: number
  /** Part of `input` that was read from a cache. */
  readonly cacheRead?: number
  /** Part of `input` that was written to a cache, and none of `cacheRead`. */
  readonly cacheWrite?: number
  /** Part of `output`. */
  readonly reasoning?: number
  /** Whether the provider ran the call as part of a batch. */
  readonly batch?: boolean
}

/**
 * Rates of a call whose input is above a number of tokens. All its tokens cost them. A missing rate is the base rate.
 */
export interface RateTier {
  readonly above: number
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** Price of a model, in US dollars per 1,000,000 tokens. */
export interface Rates {
  readonly input: number
  readonly output: number
  /** A missing rate of a part is the rate of the whole: `input` for a cache, `output` for reasoning. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
  readonly tiers?: ReadonlyArray<RateTier>
  /** The cost of a call that ran in a batch is multiplied by it. */
  readonly batchFactor?: number
}

/** Rates are counted in whole millionths of a dollar per 1,000,000 tokens, so a token costs whole picodollars. */
const PICO_PER_RATE = 1_000_000
const PICO_PER_NANO = 1000

/**
 * The cost of a call in US dollars, in whole billionths (docs/reference/prices.md#cost). The parts of a count never
 * exceed it: a larger part is cut to the count. A cached token never costs more than an uncached one.
 */
export const costOf = (rates: Rates, usage: PricedUsage): number => {
  const { input, output } = usage
  const cacheRead = Math.min(usage.cacheRead ?? 0, input)
  const cacheWrite = Math.min(usage.cacheWrite ?? 0, input - cacheRead)
  const reasoning = Math.min(usage.reasoning ?? 0, output)
  const at = ratesAt(rates, input)
  const parts: ReadonlyArray<readonly [tokens: number, rate: number]> = [
    [input - cacheRead - cacheWrite, at.input],
    [cacheRead, Math.min(at.cacheRead ?? at.input, at.input)],
    [cacheWrite, at.cacheWrite ?? at.input],
    [output - reasoning, at.output],
    [reasoning, at.reasoning ?? at.output]
  ]
  const pico = picoOf(parts)
  const factor = usage.batch === true ? (rates.batchFactor ?? 1) : 1
  return usdOfNano(Math.round((pico * factor) / PICO_PER_NANO))
}

/** Exact while the sum is below 2^53 picodollars, which are 9,007 dollars; beyond, to the nearest double. */
const picoOf = (parts: ReadonlyArray<readonly [tokens: number, rate: number]>): number => {
  let sum = 0
  for (const [tokens, rate] of parts) sum += tokens * Math.round(rate * PICO_PER_RATE)
  return sum
}

/** The rates of a call with so many input tokens. */
const ratesAt = ({ tiers = [], ...base }: Rates, input: number): Rates => {
  let above = -1
  let rates: Rates = base
  for (const { above: from, ...tier } of tiers) {
    if (input > from && from > above) {
      above = from
      rates = { ...base, ...tier }
    }
  }
  return rates
}
