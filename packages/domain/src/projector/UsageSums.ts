import * as Schema from "effect/Schema"
import type { EventData } from "../events/CanonicalEvent.ts"
import { Field } from "../values/Field.ts"
import { addUsd } from "../values/Money.ts"

const optional = Schema.optionalKey

/** Part of a sum of money that is a guess (docs/reference/prices.md#basis). */
export const guessedPart = optional(
  Field.number("Part of the cost whose model has no known price; absent when there is none", 0.0021)
)

/** Fields of a sum over calls of language models. The optional ones are absent when they are 0. */
export const usageSums = {
  promptTokens: Field.number("Input tokens of all LLM calls"),
  completionTokens: Field.number("Output tokens of all LLM calls"),
  totalTokens: Field.number("Tokens of all LLM calls"),
  cachedTokens: optional(
    Field.number("Part of promptTokens that was read from a cache; absent when there is none", 1200)
  ),
  cacheWriteTokens: optional(
    Field.number("Part of promptTokens that was written to a cache; absent when there is none", 300)
  ),
  reasoningTokens: optional(
    Field.number("Part of completionTokens that was spent on reasoning; absent when there is none", 250)
  ),
  estimatedCostUsd: Field.number("US dollars: as the agents stated, else by the rate of the model"),
  guessedCostUsd: guessedPart,
  uncountedCostUsd: optional(
    Field.number(
      "US dollars that spans stated beyond the bound of a call; in no cost, and absent when there are none",
      999
    )
  ),
  callsWithoutUsage: optional(
    Field.integer("LLM calls of which the agents stated no count; absent when there are none. The sums lack them", 1)
  )
}
const UsageSums = Schema.Struct(usageSums)
export type UsageSums = typeof UsageSums.Type

/** Sums over no call. */
export const noUsage: UsageSums = { promptTokens: 0, completionTokens: 0, totalTokens: 0, estimatedCostUsd: 0 }

/** Whether tokens of the call are missing: it stated none, and had an answer. */
export const lacksUsage = ({ answered, usage }: EventData<"llm.call.completed">): boolean =>
  usage === "missing" && answered !== false

/** Adds one recorded call. Money is added in whole billionths of a dollar. */
export const addUsage = (sums: UsageSums, call: EventData<"llm.call.completed">): UsageSums => {
  const { costBasis, estimatedCostUsd = 0 } = call
  const cachedTokens = (sums.cachedTokens ?? 0) + (call.cachedTokens ?? 0)
  const cacheWriteTokens = (sums.cacheWriteTokens ?? 0) + (call.cacheWriteTokens ?? 0)
  const reasoningTokens = (sums.reasoningTokens ?? 0) + (call.reasoningTokens ?? 0)
  const guess = costBasis === "fallback" ? estimatedCostUsd : 0
  const guessedCostUsd = addUsd(sums.guessedCostUsd ?? 0, guess)
  const callsWithoutUsage = (sums.callsWithoutUsage ?? 0) + (lacksUsage(call) ? call.calls : 0)
  const uncountedCostUsd = addUsd(sums.uncountedCostUsd ?? 0, call.uncountedCostUsd ?? 0)
  return {
    promptTokens: sums.promptTokens + call.promptTokens,
    completionTokens: sums.completionTokens + call.completionTokens,
    totalTokens: sums.totalTokens + call.totalTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(reasoningTokens > 0 && { reasoningTokens }),
    estimatedCostUsd: addUsd(sums.estimatedCostUsd, estimatedCostUsd),
    ...(guessedCostUsd > 0 && { guessedCostUsd }),
    ...(uncountedCostUsd > 0 && { uncountedCostUsd }),
    ...(callsWithoutUsage > 0 && { callsWithoutUsage })
  }
}
