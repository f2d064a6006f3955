import type * as Schema from "effect/Schema"
import { MAX_TOKENS_PER_CALL } from "../../usage/TokenCounts.ts"
import { isJsonObject } from "../../values/JsonReader.ts"
import { jsonOf, numberOf } from "../AttributeValues.ts"
import { NEVER_COUNTED } from "../Names.ts"
import type { Attributes } from "../Span.ts"

/** Counts as a call states them, each on its own. */
export interface Counts {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  readonly reasoning: number | undefined
  readonly total: number | undefined
}

/** The end of a name whose value is an object of usage: `langfuse.observation.usage_details`, `llm.openai.usage`. */
const USAGE_NAME = /(?:^|[._])(?:usage|usage_?details|usage_?metadata|usage_?object|token_?usage|token_?count)$/i

/** Characters of a text that is read as an object of usage. */
const MAX_TEXT = 16_384

/** Members of an object of usage; a dot is a member of a member. OpenAI, Anthropic, Google, LangChain, Langfuse. */
const MEMBERS: Readonly<Record<keyof Counts, ReadonlyArray<string>>> = {
  input: [
    ...["input", "input_tokens", "prompt_tokens", "inputTokens", "promptTokens"],
    ...["prompt_token_count", "promptTokenCount"]
  ],
  output: [
    ...["output", "output_tokens", "completion_tokens", "outputTokens", "completionTokens"],
    ...["candidates_token_count", "candidatesTokenCount"]
  ],
  cacheRead: [
    ...["prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"],
    ...["input_token_details.cache_read", "inputTokenDetails.cacheReadTokens"],
    ...["cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cache_read_tokens", "cached_tokens"],
    ...["cachedInputTokens", "cacheReadInputTokens", "cached_content_token_count", "cachedContentTokenCount"]
  ],
  cacheWrite: [
    ...["cache_creation_input_tokens", "input_token_details.cache_creation", "input_cache_creation"],
    ...["cache_creation_tokens", "cacheCreationInputTokens", "cacheWriteInputTokens"],
    ...["inputTokenDetails.cacheWriteTokens", "prompt_tokens_details.cache_creation_tokens"]
  ],
  reasoning: [
    ...["completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens"],
    ...["output_token_details.reasoning", "outputTokenDetails.reasoningTokens"],
    ...["output_reasoning_tokens", "output_reasoning", "reasoning_tokens", "reasoningTokens"],
    ...["thoughts_token_count", "thoughtsTokenCount"]
  ],
  total: ["total", "total_tokens", "totalTokens", "total_token_count", "totalTokenCount"]
}

/** The counts of the first attribute that is an object of usage: of OpenAI's form, or of a form that emitters made. */
export const usageObject = (attributes: Attributes): Counts | undefined => {
  for (const [name, value] of Object.entries(attributes)) {
    const counts = countsIn(objectIn(name, value))
    if (counts !== undefined) return counts
  }
  return undefined
}

/** The object that an attribute states as usage; undefined for other attributes. */
export const objectIn = (name: string, value: Schema.Json | undefined) => {
  if (!USAGE_NAME.test(name) || name.startsWith(NEVER_COUNTED)) return undefined
  const object = objectOf(value)
  return isJsonObject(object) ? object : undefined
}

/** The counts that an object of usage states; undefined when it has no input, output, cached or total count. */
export const countsIn = (value: Schema.Json | undefined): Counts | undefined => {
  if (!isJsonObject(value)) return undefined
  const counts: Counts = {
    input: count(value, "input"),
    output: count(value, "output"),
    cacheRead: count(value, "cacheRead"),
    cacheWrite: count(value, "cacheWrite"),
    reasoning: count(value, "reasoning"),
    total: count(value, "total")
  }
  const { cacheRead, input, output, total } = counts
  return [input, output, cacheRead, total].every((tokens) => tokens === undefined) ? undefined : counts
}

/** The first count above 0, else 0 where one is stated. */
const count = (value: { readonly [name: string]: Schema.Json }, name: keyof Counts): number | undefined => {
  let found: number | undefined
  for (const path of MEMBERS[name]) {
    const tokens = numberOf(memberAt(value, path.split(".")))
    if (tokens === undefined) continue
    found = Math.min(Math.trunc(tokens), MAX_TOKENS_PER_CALL)
    if (found > 0) return found
  }
  return found
}

const memberAt = (value: Schema.Json | undefined, path: ReadonlyArray<string>): Schema.Json | undefined => {
  let at = value
  for (const name of path) {
    if (!isJsonObject(at)) return undefined
    at = at[name]
  }
  return at
}

const objectOf = (value: Schema.Json | undefined): Schema.Json | undefined => {
  if (typeof value !== "string") return value
  if (value.length > MAX_TEXT) return undefined
  const json = jsonOf(value)
  return typeof json === "string" ? jsonOf(asJson(json)) : json
}

/** The text of a Python literal as JSON text: single quotes, `None`, `True` and `False`. */
const asJson = (text: string): string =>
  text.replace(/'((?:[^'\\]|\\.)*)'|\b(None|True|False)\b/g, (_, quoted: string | undefined, word: string) =>
    quoted === undefined ? (LITERALS[word] ?? word) : JSON.stringify(quoted)
  )

const LITERALS: Readonly<Record<string, string>> = { None: "null", True: "true", False: "false" }
