import { isJsonObject } from "../../JsonReader.ts"
import { MAX_TOKENS_PER_CALL, type TokenCounts } from "../../usage/TokenCounts.ts"
import type { StatedUsage, UsageBasis } from "../Meaning.ts"
import type { Attributes } from "../Span.ts"
import { jsonOf, numberOf, tokensAt } from "../Values.ts"

interface Counts {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  readonly total: number | undefined
}

/**
 * Tokens that a call states, input and output made inclusive (docs/reference/ingest.md#inclusive-or-not). Undefined
 * when it states no count at all.
 */
export const usageIn = (attributes: Attributes): StatedUsage | undefined => {
  const stated = {
    input: tokensAt(attributes, "input"),
    output: tokensAt(attributes, "output"),
    cacheRead: tokensAt(attributes, "cacheRead"),
    cacheWrite: tokensAt(attributes, "cacheWrite"),
    reasoning: tokensAt(attributes, "reasoning"),
    total: tokensAt(attributes, "total")
  }
  if (Object.values(stated).every((tokens) => tokens === undefined)) return langfuseUsage(attributes)
  return made({
    input: stated.input ?? 0,
    output: stated.output ?? 0,
    cacheRead: stated.cacheRead ?? 0,
    cacheWrite: stated.cacheWrite ?? 0,
    reasoning: stated.reasoning ?? 0,
    total: stated.total
  })
}

const made = (counts: Counts): StatedUsage => {
  const { cacheRead, cacheWrite, input, output, reasoning } = counts
  const basis = basisOf(counts)
  const isExclusive = basis === "exclusive:total" || basis === "exclusive:cached"
  const promptTokens = bounded(isExclusive ? input + cacheRead + cacheWrite : input)
  const completionTokens = bounded(basis === "exclusive:reasoning" ? output + reasoning : output)
  const cachedTokens = Math.min(cacheRead, promptTokens)
  const cacheWriteTokens = Math.min(cacheWrite, promptTokens - cachedTokens)
  const reasoningTokens = Math.min(reasoning, completionTokens)
  const tokens: TokenCounts = {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(reasoningTokens > 0 && { reasoningTokens })
  }
  return { counts: tokens, basis }
}

const bounded = (tokens: number): number => Math.min(tokens, MAX_TOKENS_PER_CALL)

/** The total decides where it fits one reading; otherwise the input is inclusive unless its parts exceed it. */
const basisOf = ({ cacheRead, cacheWrite, input, output, reasoning, total }: Counts): UsageBasis => {
  const cached = cacheRead + cacheWrite
  if (total !== undefined && total > 0) {
    if (input + output === total) return "inclusive:total"
    if (input + cached + output === total) return "exclusive:total"
    if (input + output + reasoning === total) return "exclusive:reasoning"
  }
  return cached > input ? "exclusive:cached" : "inclusive"
}

/** Langfuse states its counts as one object, and so does Haystack. */
const langfuseUsage = (attributes: Attributes): StatedUsage | undefined => {
  const details = jsonOf(attributes["langfuse.observation.usage_details"])
  const plain = isJsonObject(details) ? details : plainUsage(attributes)
  if (plain === undefined) return undefined
  const tokens = (...names: ReadonlyArray<string>) => {
    for (const name of names) {
      const found = numberOf(plain[name])
      if (found !== undefined) return bounded(Math.trunc(found))
    }
    return undefined
  }
  const input = tokens("input", "input_tokens", "prompt_tokens")
  const output = tokens("output", "output_tokens", "completion_tokens")
  const cacheRead = tokens("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cache_read_tokens")
  const cacheWrite = tokens("cache_creation_input_tokens", "input_cache_creation", "cache_creation_tokens")
  const total = tokens("total", "total_tokens")
  if (input === undefined && output === undefined && cacheRead === undefined && total === undefined) return undefined
  return made({
    input: input ?? 0,
    output: output ?? 0,
    cacheRead: cacheRead ?? 0,
    cacheWrite: cacheWrite ?? 0,
    reasoning: tokens("output_reasoning_tokens", "output_reasoning", "reasoning_tokens") ?? 0,
    total
  })
}

/** Names without a prefix count only beside a model, where they cannot be of something else. */
const plainUsage = (attributes: Attributes): Attributes | undefined =>
  attributes["model"] !== undefined && numberOf(attributes["input_tokens"]) !== undefined ? attributes : undefined
