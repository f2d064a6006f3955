import { usdOfNano } from "../values/Money.ts"

/** What one call used. Whole numbers. */
export interface PricedUsage {
  /** All input tokens, those of a cache included. */
  readonly input: number
  /** All output tokens, those of reasoning included. */
  readonly output: number
  /** Part of `input` that was read from a cache. */
  readonly cacheRead?: number | undefined
  /** Part of `input` that was written to a cache, and none of `cacheRead`. */
  readonly cacheWrite?: number | undefined
  /** Part of `output`. */
  readonly reasoning?: number | undefined
  /** Part of `cacheWrite` that the provider keeps for an hour. */
  readonly cacheWriteHour?: number | undefined
  /** Parts of `input` and of `output` that are not text; none of `cacheRead`, `cacheWrite` or `reasoning`. */
  readonly audioInput?: number | undefined
  readonly audioOutput?: number | undefined
  readonly imageInput?: number | undefined
  readonly imageOutput?: number | undefined
  /** Whether the provider ran the call as part of a batch. */
  readonly batch?: boolean | undefined
  /** The service tier as the provider names it: `flex`, `priority`. */
  readonly serviceTier?: string | undefined
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
  readonly cacheWriteHour?: number
  readonly audioInput?: number
  readonly audioOutput?: number
  readonly imageInput?: number
  readonly imageOutput?: number
  readonly tiers?: ReadonlyArray<RateTier>
  /** The cost of a call that ran in a batch is multiplied by it. */
  readonly batchFactor?: number
  /** The same for other service tiers, by their names. */
  readonly tierFactors?: Readonly<Record<string, number>>
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
  const cacheWriteHour = Math.min(usage.cacheWriteHour ?? 0, cacheWrite)
  const audioInput = Math.min(usage.audioInput ?? 0, input - cacheRead - cacheWrite)
  const imageInput = Math.min(usage.imageInput ?? 0, input - cacheRead - cacheWrite - audioInput)
  const audioOutput = Math.min(usage.audioOutput ?? 0, output - reasoning)
  const imageOutput = Math.min(usage.imageOutput ?? 0, output - reasoning - audioOutput)
  const at = ratesAt(rates, input)
  // Exact while the sum is below 2^53 picodollars, which are 9,007 dollars; beyond, to the nearest double.
  const pico =
    (input - cacheRead - cacheWrite - audioInput - imageInput) * picoOf(at.input) +
    audioInput * picoOf(at.audioInput ?? at.input) +
    imageInput * picoOf(at.imageInput ?? at.input) +
    cacheRead * picoOf(Math.min(at.cacheRead ?? at.input, at.input)) +
    (cacheWrite - cacheWriteHour) * picoOf(at.cacheWrite ?? at.input) +
    cacheWriteHour * picoOf(at.cacheWriteHour ?? at.cacheWrite ?? at.input) +
    (output - reasoning - audioOutput - imageOutput) * picoOf(at.output) +
    audioOutput * picoOf(at.audioOutput ?? at.output) +
    imageOutput * picoOf(at.imageOutput ?? at.output) +
    reasoning * picoOf(at.reasoning ?? at.output)
  const tier = tierOf(usage)
  const factor = tier === undefined ? 1 : (factorOf(rates, tier) ?? 1)
  return usdOfNano(Math.round((pico * factor) / PICO_PER_NANO))
}

/** Picodollars for one token. */
const picoOf = (rate: number): number => Math.round(rate * PICO_PER_RATE)

/** The rates of a call with so many input tokens. */
const ratesAt = (rates: Rates, input: number): Rates => {
  if (rates.tiers === undefined) return rates
  const { tiers, ...base } = rates
  let above = -1
  let reached: Rates = base
  for (const { above: from, ...tier } of tiers) {
    if (input > from && from > above) {
      above = from
      reached = { ...base, ...tier }
    }
  }
  return reached
}

/** Service tiers that every list states. */
const PLAIN_TIERS: ReadonlySet<string> = new Set(["", "default", "standard", "auto", "on_demand", "standard_only"])

/** The service tier of a call as the lists name it; undefined for the usual one. */
export const tierOf = ({ batch, serviceTier }: PricedUsage): string | undefined => {
  const tier = batch === true ? "batch" : (serviceTier?.trim().toLowerCase() ?? "")
  return PLAIN_TIERS.has(tier) ? undefined : tier
}

/** What the cost of a call in a service tier is multiplied by; undefined where the list does not say. */
export const factorOf = ({ batchFactor, tierFactors }: Rates, tier: string): number | undefined =>
  (tier === "batch" ? batchFactor : undefined) ??
  // A caller chooses the name of the tier.
  (tierFactors !== undefined && Object.hasOwn(tierFactors, tier) ? tierFactors[tier] : undefined)
