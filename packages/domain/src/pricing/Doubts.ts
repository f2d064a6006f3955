import { modelNames } from "./ModelNames.ts"
import type { PricedUsage, Rates } from "./Rates.ts"

/**
 * Why a price is a guess though a list has one (docs/reference/prices.md#doubts): it is that of the newest model that
 * the list knows, of another provider, of another region; or the list lacks the price of the service tier, of audio or
 * images, or of a cache that is kept for an hour.
 */
export const priceDoubts = ["latest", "provider", "region", "tier", "audio", "image", "cache"] as const
export type PriceDoubt = (typeof priceDoubts)[number]

/** Providers whose models have their names for themselves: a name alone says whose price it is. */
const VENDORS: ReadonlySet<string> = new Set([
  ...["openai", "anthropic", "google", "mistral", "x-ai", "deepseek", "cohere", "perplexity", "aws", "moonshotai"]
])

/** `3b`, `8x7b`: how large a model is, not its version. */
const SIZES = /\d+(?:x\d+)?b\b/g
const LATEST = /[-:@]latest$/
/** `eu.anthropic.claude-...`; the profiles of the United States and of all regions cost what the lists state. */
const REGIONAL = /(?:^|[/:])(?:us-gov|eu|apac|jp|au|ca|sa|me|af)\.(?=[a-z0-9-]+\.)/

/** The doubt about the price of a catalogue's entry (`provider/model`) for a model; undefined without one. */
export const nameDoubt = (model: string, provider: string | undefined, id: string): PriceDoubt | undefined => {
  const [of = ""] = id.split("/")
  const stated = modelNames(model, provider).find((name) => name.provider !== undefined)?.provider
  if (stated === undefined ? !VENDORS.has(of) : stated !== of) return "provider"
  const plain = model.trim().toLowerCase()
  // A list names the model that was the newest when it was made, unless the name has a version.
  if (LATEST.test(plain) && !/\d/.test(plain.replace(SIZES, ""))) return "latest"
  return REGIONAL.test(plain) && !id.includes("regional.") && !REGIONAL.test(id) ? "region" : undefined
}

/** Service tiers that every list states. */
const PLAIN_TIERS: ReadonlySet<string> = new Set(["", "default", "standard", "auto", "on_demand", "standard_only"])

/** The service tier of a call as the lists name it; undefined for the usual one. */
export const tierOf = ({ batch, serviceTier }: PricedUsage): string | undefined => {
  const tier = batch === true ? "batch" : (serviceTier?.trim().toLowerCase() ?? "")
  return PLAIN_TIERS.has(tier) ? undefined : tier
}

/** The doubt about the cost of a call by rates that lack the price of a part of it; undefined without one. */
export const usageDoubt = (rates: Rates, usage: PricedUsage): PriceDoubt | undefined => {
  const tier = tierOf(usage)
  if (tier !== undefined && factorOf(rates, tier) === undefined) return "tier"
  if (lacks(usage.audioInput, rates.audioInput) || lacks(usage.audioOutput, rates.audioOutput)) return "audio"
  if (lacks(usage.imageInput, rates.imageInput) || lacks(usage.imageOutput, rates.imageOutput)) return "image"
  return lacks(usage.cacheWriteHour, rates.cacheWriteHour) ? "cache" : undefined
}

const lacks = (tokens: number | undefined, rate: number | undefined): boolean =>
  tokens !== undefined && tokens > 0 && rate === undefined

/** What the cost of a call in a service tier is multiplied by; undefined where the list does not say. */
export const factorOf = ({ batchFactor, tierFactors }: Rates, tier: string): number | undefined =>
  (tier === "batch" ? batchFactor : undefined) ?? tierFactors?.[tier]
