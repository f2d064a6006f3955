import { MAX_MODEL_NAME, type ModelName } from "./ModelNames.ts"
import { BUILTIN_RATES, emptyPriceList, namesOf, type PriceList } from "./PriceFile.ts"
import { costOf, type PricedUsage, type Rates } from "./Rates.ts"

/** Where the cost of a call comes from, the most certain first. A `fallback` is a guess. */
export const costBases = ["supplied", "override", "builtin", "catalogue", "fallback"] as const
export type CostBasis = (typeof costBases)[number]

/** A model call to price. */
export interface PricedCall {
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** When the call was made, milliseconds of the epoch: prices change. */
  readonly at: number
  readonly usage: PricedUsage
}

/** The price of a model at a time. */
export interface ModelPrice {
  readonly rates: Rates
  readonly basis: Exclude<CostBasis, "supplied">
  /** The entry that has the price, such as `openai/gpt-4o@0.1.8`; absent for a guess. */
  readonly key?: string
}

/** The cost of a call. */
export interface CallCost {
  readonly costUsd: number
  readonly basis: CostBasis
  readonly key?: string
}

/** A list of prices of models in the world (docs/reference/prices.md#catalogue). */
export interface ModelCatalogue {
  readonly version: string
  /** The price of a model at a time, by one of its names; undefined for a model that it does not have. */
  readonly find: (name: ModelName, at: number) => { readonly id: string; readonly rates: Rates } | undefined
}

/** Bytes of a file with a catalogue. */
export const MAX_CATALOGUE_FILE = 16 * 1_048_576

/** What models cost in a deployment (docs/reference/prices.md). */
export interface ModelPrices {
  /** The price of a model: of the deployment's file, of the specification, of the catalogue, or the fallback. */
  readonly find: (call: Omit<PricedCall, "usage">) => ModelPrice
  /** The cost of a call, US dollars. */
  readonly price: (call: PricedCall) => CallCost
}

/** Results that are kept, by provider, model and time. */
const MAX_KEPT = 4096
/** Prices of some providers change with the time of day, at the earliest each half hour. Milliseconds. */
const PRICE_PERIOD_MS = 1_800_000

/**
 * The prices of a list and a catalogue. Without a catalogue a model needs its exact name, as the specification has it.
 */
export const makeModelPrices = (list: PriceList = emptyPriceList, catalogue?: ModelCatalogue): ModelPrices => {
  const kept = new Map<string, ModelPrice>()
  const guess: ModelPrice = { rates: list.fallback, basis: "fallback" }
  const search = (model: string, provider: string | undefined, at: number): ModelPrice => {
    const names = namesOf(model, provider, catalogue !== undefined)
    const listed = list.find(names, at)
    if (listed !== undefined) return { rates: listed.rates, basis: "override", key: `file/${listed.entry}` }
    for (const { model: name } of names) {
      const rates = BUILTIN_RATES.get(name)
      if (rates !== undefined) return { rates, basis: "builtin", key: `builtin/${name}` }
    }
    for (const name of names) {
      const found = catalogue?.find(name, at)
      if (found !== undefined) {
        return { rates: found.rates, basis: "catalogue", key: `${found.id}@${catalogue?.version}` }
      }
    }
    return guess
  }
  const find: ModelPrices["find"] = (call) => {
    if (call.model === undefined) return guess
    const model = call.model.slice(0, MAX_MODEL_NAME)
    const provider = call.provider?.slice(0, MAX_MODEL_NAME)
    // The length keeps two pairs of texts apart that are one text together.
    const key = `${provider?.length} ${provider} ${model} ${Math.floor(call.at / PRICE_PERIOD_MS)}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const found = search(model, provider, call.at)
    const [oldest] = kept.keys()
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    kept.set(key, found)
    return found
  }
  return {
    find,
    price: ({ usage, ...call }) => {
      const { basis, key, rates } = find(call)
      return { costUsd: costOf(rates, usage), basis, ...(key !== undefined && { key }) }
    }
  }
}

/** The prices of the specification alone: its six models, and the fallback for all others. */
export const specifiedPrices: ModelPrices = makeModelPrices()
