import { modelNames } from "./ModelNames.ts"
import { factorOf, type PricedUsage, type Rates, tierOf } from "./Rates.ts"

/**
 * Why a price is a guess though a list has one (docs/reference/prices.md#doubts): it is that of the newest model that
 * the list knows, of another provider, of another region; or the list lacks the price of the service tier, of audio or
 * images, or of a cache that is kept for an hour.
 */
export const priceDoubts = ["latest", "provider", "region", "tier", "audio", "image", "cache"] as const
export type PriceDoubt = (typeof priceDoubts)[number]

/** Providers that serve models of others: the name of a model alone does not say that it ran there. */
const HOST =
  /^(?:avian|azure|cerebras|deepinfra|fireworks|groq|huggingface.*|hyperbolic|nebius|novita|openrouter|ovhcloud|sambanova|together)$/

/** `3b`, `8x7b`: how large a model is, not its version. */
const SIZES = /\d+(?:x\d+)?b\b/g
const LATEST = /[-:@]latest$/
/** `eu.anthropic.claude-...`; the profiles of the United States and of all regions cost what the lists state. */
const REGIONAL = /(?:^|[/:])(?:us-gov|eu|apac|jp|au|ca|sa|me|af)\.(?=[a-z0-9-]+\.)/

/** The doubt about the price of a catalogue's entry (`provider/model`) for a model; undefined without one. */
export const nameDoubt = (model: string, provider: string | undefined, id: string): PriceDoubt | undefined => {
  const [of = ""] = id.split("/")
  const stated = modelNames(model, provider).find((name) => name.provider !== undefined)?.provider
  if (stated === undefined ? HOST.test(of) : stated !== of) return "provider"
  const plain = model.trim().toLowerCase()
  // A list names the model that was the newest when it was made, unless the name has a version.
  if (LATEST.test(plain) && !/\d/.test(plain.replace(SIZES, ""))) return "latest"
  return REGIONAL.test(plain) && !id.includes("regional.") && !REGIONAL.test(id) ? "region" : undefined
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
