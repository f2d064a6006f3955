import type { ChargedPrice, Spending } from "./Cost.ts"

/** A model without a known price, and what its calls used. */
export interface GuessedModel {
  /** Undefined when the agents did not state it. */
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly guessedCostUsd?: number
  /** Whether some of its tokens were of this kind, which usually has a price of its own. */
  readonly isCached?: boolean
  readonly isCacheWritten?: boolean
}

/** A warning is shown when more than this share of the money is a guess. */
const MOST_GUESSED = 0.05

/** Whether so much of a cost is a guess that the page warns. */
export const isMuchGuessed = (costUsd: number, guessedCostUsd = 0): boolean => guessedCostUsd > MOST_GUESSED * costUsd

/** The guessed share of a cost: `28 %`, `5.2 %`, `less than 0.1 %`; `100 %` only when all of it is a guess. */
export const guessedShare = (costUsd: number, guessedCostUsd: number): string => {
  const percentage = costUsd === 0 ? 0 : (100 * guessedCostUsd) / costUsd
  if (percentage > 0 && percentage < 0.1) return "less than 0.1 %"
  if (percentage > 99 && percentage < 100) return "more than 99 %"
  return `${percentage < 10 ? Math.floor(10 * percentage) / 10 : Math.round(percentage)} %`
}

/** The models of a run whose cost is a guess. */
export const guessedModels = (spending: ReadonlyArray<Spending>): ReadonlyArray<GuessedModel> =>
  spending
    .filter(({ guessedCostUsd = 0 }) => guessedCostUsd > 0)
    .map(({ cacheWriteTokens = 0, cachedTokens = 0, first: { model, provider }, guessedCostUsd = 0 }) => ({
      model,
      provider,
      guessedCostUsd,
      isCached: cachedTokens > 0,
      isCacheWritten: cacheWriteTokens > 0
    }))

/** Entries of a suggested price file. */
const MOST_ENTRIES = 100

/**
 * A price file with an entry for exactly these models, the first ones of many, ready for the prices of the provider
 * (docs/reference/prices.md#price-file). Undefined when no model has a name.
 */
export const priceFileFor = (models: ReadonlyArray<GuessedModel>): string | undefined => {
  const entries = models.slice(0, MOST_ENTRIES).flatMap(entryOf)
  return entries.length === 0 ? undefined : `{\n  "prices": [\n    ${entries.join(",\n    ")}\n  ]\n}\n`
}

/** Longest name of the price file; the service cuts longer names of models before it searches them. */
const MAX_NAME = 256

const entryOf = ({ isCacheWritten = false, isCached = false, model = "", provider = "" }: GuessedModel) => {
  if (model === "") return []
  const named = provider.trim() === "" ? "" : `"provider": ${JSON.stringify(provider.slice(0, MAX_NAME))}, `
  const cached = `${isCached ? ', "cacheRead": 1' : ""}${isCacheWritten ? ', "cacheWrite": 1' : ""}`
  const equals = JSON.stringify(model.slice(0, MAX_NAME))
  return [`{ "match": { "equals": ${equals} }, ${named}"input": 1, "output": 3${cached} }`]
}

const BASES = new Map([
  ["supplied", "stated by the agent"],
  ["override", "price file"],
  ["builtin", "built-in table"],
  ["catalogue", "catalogue"],
  ["fallback", "guess"]
])

/** Where a cost comes from (docs/reference/prices.md#basis). */
export const basisWords = ({ costBasis = "" }: ChargedPrice): string => BASES.get(costBasis) ?? "not recorded"
