import { MAX_TOKENS_PER_CALL, type TokenCounts } from "../../usage/TokenCounts.ts"
import { numberOf, tokensAt } from "../AttributeValues.ts"
import type { StatedUsage, UsageBasis } from "../Meaning.ts"
import type { Attributes } from "../Span.ts"
import { type Counts, usageObject } from "./UsageObject.ts"

/**
 * Tokens that a call states, input and output made inclusive (docs/reference/ingest.md#inclusive-or-not). Undefined
 * when it states no count at all. What plain attributes do not state comes from an object of usage.
 */
export const usageIn = (attributes: Attributes): StatedUsage | undefined => {
  const plain: Counts = {
    input: tokensAt(attributes, "input"),
    output: tokensAt(attributes, "output"),
    cacheRead: tokensAt(attributes, "cacheRead"),
    cacheWrite: tokensAt(attributes, "cacheWrite"),
    reasoning: tokensAt(attributes, "reasoning"),
    total: tokensAt(attributes, "total")
  }
  const object = usageObject(attributes)
  const bare = isEmpty(plain) && object === undefined ? bareCounts(attributes) : undefined
  const stated = merged(plain, object ?? bare)
  return isEmpty(stated) ? undefined : made(stated)
}

const isEmpty = (counts: Counts): boolean => Object.values(counts).every((tokens) => tokens === undefined)

/** The counts of both: an object beside other counts is of another call, unless its sides are the same. */
const merged = (plain: Counts, object: Counts | undefined): Counts => {
  if (object === undefined) return plain
  const isOther = (["input", "output"] as const).some(
    (side) => plain[side] !== undefined && object[side] !== undefined && plain[side] !== object[side]
  )
  if (isOther) return plain
  const member = (name: keyof Counts) => plain[name] ?? object[name]
  return {
    input: member("input"),
    output: member("output"),
    cacheRead: member("cacheRead"),
    cacheWrite: member("cacheWrite"),
    reasoning: member("reasoning"),
    total: member("total")
  }
}

const made = (stated: Counts): StatedUsage => {
  const { cacheRead = 0, cacheWrite = 0, reasoning = 0 } = stated
  const { basis, input, output } = reading(stated)
  const promptTokens = bounded(input)
  const completionTokens = bounded(output)
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

interface Reading {
  readonly basis: UsageBasis
  /** Both inclusive. */
  readonly input: number
  readonly output: number
}

/**
 * The total decides where it fits one reading. Otherwise a side is inclusive, unless the parts of it exceed it: they
 * stand beside it then.
 */
const reading = ({
  cacheRead = 0,
  cacheWrite = 0,
  input = 0,
  output = 0,
  reasoning = 0,
  total = 0
}: Counts): Reading => {
  const cached = cacheRead + cacheWrite
  const fitting: ReadonlyArray<Reading> = [
    { basis: "inclusive:total", input, output },
    { basis: "exclusive:total", input: input + cached, output },
    { basis: "exclusive:total", input: input + cacheWrite, output },
    { basis: "exclusive:reasoning", input, output: output + reasoning },
    { basis: "exclusive:both", input: input + cached, output: output + reasoning },
    { basis: "exclusive:both", input: input + cacheWrite, output: output + reasoning }
  ]
  const found = total > 0 ? fitting.find((each) => each.input + each.output === total) : undefined
  if (found !== undefined) return found
  const isCachedBeside = cached > input
  const isReasoningBeside = reasoning > output
  return {
    basis: isCachedBeside
      ? isReasoningBeside
        ? "exclusive:both"
        : "exclusive:cached"
      : isReasoningBeside
        ? "exclusive:reasoning"
        : "inclusive",
    input: isCachedBeside ? input + cached : input,
    output: isReasoningBeside ? output + reasoning : output
  }
}

/** Names without a prefix count only beside a model, where they cannot be of something else. */
const bareCounts = (attributes: Attributes): Counts | undefined => {
  if (attributes["model"] === undefined || numberOf(attributes["input_tokens"]) === undefined) return undefined
  return usageObject({ usage: attributes })
}
