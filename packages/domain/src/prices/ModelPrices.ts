import { nameDoubt, type PriceDoubt, usageDoubt } from "./Doubts.ts"
import { keepPrices } from "./KeptPrices.ts"
import { MAX_MODEL_NAME, type ModelName } from "./ModelNames.ts"
import { BUILTIN_RATES, emptyPriceList, namesOf, type PriceList } from "./PriceFile.ts"
import { costOf, type PricedUsage, type Rates } from "./Rates.ts"

/**
 * Where the cost of a call comes from, the most certain first. A `fallback` is a guess: by the price of all models that
 * no list has, or by one of a list that is doubtful.
 */
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
  /** The entry that has the price, such as `openai/gpt-4o@0.1.8`; absent where no list has one. */
  readonly key?: string
  /** Why the price of the entry is a guess. */
  readonly doubt?: PriceDoubt
}

/** The cost of a call. */
export interface CallCost {
  readonly costUsd: number
  readonly basis: CostBasis
  readonly key?: string
  readonly doubt?: PriceDoubt
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

/**
 * The prices of a list and a catalogue. Without a catalogue a model needs its exact name, as the specification has it.
 */
export const makeModelPrices = (list: PriceList = emptyPriceList, catalogue?: ModelCatalogue): ModelPrices => {
  const guess: ModelPrice = { rates: list.fallback, basis: "fallback" }
  const search = keepPrices((model, provider, at): ModelPrice => {
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
        const doubt = nameDoubt(model, provider, found.id)
        const price = { rates: found.rates, key: `${found.id}@${catalogue?.version}` }
        return doubt === undefined ? { ...price, basis: "catalogue" } : { ...price, basis: "fallback", doubt }
      }
    }
    return guess
  })
  const find: ModelPrices["find"] = ({ at, model, provider }) =>
    model === undefined ? guess : search(model.slice(0, MAX_MODEL_NAME), provider?.slice(0, MAX_MODEL_NAME), at)
  return {
    find,
    price: (call) => {
      const { basis, key, rates, ...found } = find(call)
      const costUsd = costOf(rates, call.usage)
      if (key === undefined) return { costUsd, basis }
      const doubt = found.doubt ?? usageDoubt(rates, call.usage)
      return doubt === undefined ? { costUsd, basis, key } : { costUsd, basis: "fallback", key, doubt }
    }
  }
}

/** The prices of the specification alone: its six models, and the fallback for all others. */
export const specifiedPrices: ModelPrices = makeModelPrices()
