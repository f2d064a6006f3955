import type { CallCost, ModelPrices } from "../prices/ModelPrices.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import type { LlmUsage } from "./LlmUsage.ts"

/**
 * What an event says of the cost of a call: the cost, its basis and the key of the price
 * (docs/reference/prices.md#basis), so a later fold needs no price list. A call without counts and without a stated
 * cost has none.
 */
export const costData = (prices: ModelPrices, usage: LlmUsage, at: string): JsonObject => {
  const cost = costOfCall(prices, usage, at)
  return {
    ...(cost !== undefined && {
      estimatedCostUsd: cost.costUsd,
      costBasis: cost.basis,
      ...(cost.key !== undefined && { priceKey: cost.key }),
      ...(cost.doubt !== undefined && { costDoubt: cost.doubt })
    })
  }
}

/** Tokens of the total that are neither input nor output by the agent's account cost as much as output. */
const costOfCall = (prices: ModelPrices, usage: LlmUsage, at: string): CallCost | undefined => {
  const { cachedTokens, cacheWriteTokens, estimatedCostUsd, model, promptTokens, provider, reasoningTokens } = usage
  if (estimatedCostUsd !== undefined) return { costUsd: estimatedCostUsd, basis: "supplied" }
  if (usage.usage === "missing") return undefined
  return prices.price({
    model,
    provider,
    at: Date.parse(at),
    usage: {
      input: promptTokens,
      output: usage.totalTokens - promptTokens,
      cacheRead: cachedTokens,
      cacheWrite: cacheWriteTokens,
      reasoning: reasoningTokens,
      batch: usage.batch,
      serviceTier: usage.serviceTier
    }
  })
}
