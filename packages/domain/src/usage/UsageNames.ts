/**
 * The names under which the usual SDKs state the counts of one model call (docs/reference/events.md#usage-names): a row
 * for each of our counts, with its names in the order in which they are read. A new name is one more entry.
 *
 * Names are in snake_case; `camelCase` is read beside it. A dot leads into a member: `a.b` is `b` of the object `a`.
 */
export const USAGE_NAMES = {
  /** All input tokens. */
  input: [
    "prompt_tokens",
    "input_tokens",
    "prompt_token_count",
    "input_token_count",
    "input_text_token_count",
    "prompt_eval_count",
    "request_tokens",
    "total_input_tokens",
    "input_tokens.total",
    "billed_units.input_tokens",
    "tokens.input_tokens"
  ],
  /** Input that the counts of `input` leave out: the results of tools. */
  toolInput: ["tool_use_prompt_token_count"],
  /** All output tokens. */
  output: [
    "completion_tokens",
    "output_tokens",
    "candidates_token_count",
    "response_token_count",
    "output_token_count",
    "eval_count",
    "response_tokens",
    "generated_token_count",
    "generated_tokens",
    "total_output_tokens",
    "output_tokens.total",
    "billed_units.output_tokens",
    "tokens.output_tokens"
  ],
  total: ["total_tokens", "total_token_count"],
  /** Input tokens that were read from a cache. */
  cacheRead: [
    "cached_tokens",
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "input_token_details.cache_read",
    "input_token_details.cache_read_tokens",
    "input_tokens.cache_read",
    "cache_read_input_tokens",
    "cache_read_input_token_count",
    "cached_content_token_count",
    "cached_input_tokens",
    "cached_input_token_count",
    "cached_prompt_tokens",
    "cache_read_tokens",
    "prompt_cache_hit_tokens",
    "total_cached_tokens"
  ],
  /** Input tokens that were written to a cache. */
  cacheWrite: [
    "cache_write_tokens",
    "cache_creation_input_tokens",
    "cache_write_input_tokens",
    "cache_write_input_token_count",
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "input_token_details.cache_creation",
    "input_token_details.cache_write_tokens",
    "input_tokens.cache_write"
  ],
  /** Output tokens that the model spent on reasoning. */
  reasoning: [
    "reasoning_tokens",
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "output_token_details.reasoning",
    "output_token_details.reasoning_tokens",
    "output_tokens.reasoning",
    "thoughts_token_count",
    "reasoning_token_count",
    "total_reasoning_tokens"
  ]
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

/** Our counts of one model call. */
export type UsageCount = keyof typeof USAGE_NAMES

/**
 * Counts that leave out tokens which the same SDK states apart: name of the count -> names of those tokens. Decides
 * where no total does.
 */
export const LEFT_OUT: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["input_tokens", new Set(["cache_read_input_tokens", "cache_creation_input_tokens", "cache_write_input_tokens"])],
  ["input_token_count", new Set(["cache_read_input_token_count", "cache_write_input_token_count"])],
  ["candidates_token_count", new Set(["thoughts_token_count"])],
  ["response_token_count", new Set(["thoughts_token_count"])]
])
