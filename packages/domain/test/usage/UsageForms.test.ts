import { assert, describe, it } from "@effect/vitest"
import { extractLlmUsage, type JsonObject, MAX_TOKENS_PER_CALL } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import { USAGE_NAMES } from "../../src/usage/UsageNames.ts"
import { pick } from "../support/arbitraries.ts"

/** Usage as SDKs state it, and our counts of it: input, output, total, cache read, cache write, reasoning. */
const FORMS: ReadonlyArray<readonly [sdk: string, usage: JsonObject, counts: ReadonlyArray<number>]> = [
  ["our own", { promptTokens: 10, completionTokens: 5, cachedTokens: 4, reasoningTokens: 2 }, [10, 5, 15, 4, 0, 2]],
  [
    "OpenAI chat completions",
    {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 32, accepted_prediction_tokens: 0 }
    },
    [100, 50, 150, 64, 0, 32]
  ],
  [
    "OpenAI responses",
    {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 64 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 32 },
      total_tokens: 150
    },
    [100, 50, 150, 64, 0, 32]
  ],
  [
    "Anthropic messages",
    { input_tokens: 10, cache_creation_input_tokens: 20, cache_read_input_tokens: 70, output_tokens: 5 },
    [100, 5, 105, 70, 20, 0]
  ],
  [
    "Anthropic messages with small parts",
    { input_tokens: 100, cache_creation_input_tokens: null, cache_read_input_tokens: 7, output_tokens: 5 },
    [107, 5, 112, 7, 0, 0]
  ],
  [
    "Gemini",
    {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      toolUsePromptTokenCount: 5,
      totalTokenCount: 155
    },
    [105, 50, 155, 40, 0, 30]
  ],
  [
    "Gemini without a total",
    { promptTokenCount: 9, candidatesTokenCount: 20, thoughtsTokenCount: 3 },
    [9, 23, 32, 0, 0, 3]
  ],
  ["Gemini live", { promptTokenCount: 9, responseTokenCount: 3, totalTokenCount: 12 }, [9, 3, 12, 0, 0, 0]],
  [
    "Bedrock Converse",
    { inputTokens: 10, outputTokens: 5, totalTokens: 105, cacheReadInputTokens: 70, cacheWriteInputTokens: 20 },
    [100, 5, 105, 70, 20, 0]
  ],
  [
    "Bedrock InvokeModel",
    { inputTokenCount: 10, outputTokenCount: 5, cacheReadInputTokenCount: 3, cacheWriteInputTokenCount: 2 },
    [15, 5, 20, 3, 2, 0]
  ],
  [
    "LangChain usage_metadata",
    {
      input_tokens: 100,
      output_tokens: 50,
      total_tokens: 150,
      input_token_details: { cache_read: 60, cache_creation: 10, audio: 0 },
      output_token_details: { reasoning: 40 }
    },
    [100, 50, 150, 60, 10, 40]
  ],
  [
    "AI SDK",
    { inputTokens: 100, outputTokens: 50, totalTokens: 150, reasoningTokens: 40, cachedInputTokens: 60 },
    [100, 50, 150, 60, 0, 40]
  ],
  [
    "AI SDK with details",
    {
      inputTokens: 100,
      inputTokenDetails: { noCacheTokens: 30, cacheReadTokens: 60, cacheWriteTokens: 10 },
      outputTokens: 50,
      outputTokenDetails: { textTokens: 10, reasoningTokens: 40 },
      totalTokens: 150
    },
    [100, 50, 150, 60, 10, 40]
  ],
  [
    "AI SDK providers",
    {
      inputTokens: { total: 100, noCache: 30, cacheRead: 60, cacheWrite: 10 },
      outputTokens: { total: 50, text: 10, reasoning: 40 }
    },
    [100, 50, 150, 60, 10, 40]
  ],
  [
    "LiteLLM over Anthropic",
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_tokens_details: { cached_tokens: 70 },
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 70
    },
    [100, 5, 105, 70, 20, 0]
  ],
  [
    "Pydantic AI",
    { input_tokens: 100, cache_write_tokens: 10, cache_read_tokens: 60, output_tokens: 50, requests: 2 },
    [100, 50, 150, 60, 10, 0]
  ],
  ["Pydantic AI before 1.0", { request_tokens: 10, response_tokens: 5, total_tokens: 15 }, [10, 5, 15, 0, 0, 0]],
  [
    "Microsoft Agent Framework",
    { input_token_count: 100, output_token_count: 50, total_token_count: 150, cached_input_token_count: 60 },
    [100, 50, 150, 60, 0, 0]
  ],
  [
    "CrewAI",
    { total_tokens: 15, prompt_tokens: 10, cached_prompt_tokens: 4, completion_tokens: 5, successful_requests: 1 },
    [10, 5, 15, 4, 0, 0]
  ],
  [
    "DeepSeek",
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_cache_hit_tokens: 4,
      prompt_cache_miss_tokens: 6
    },
    [10, 5, 15, 4, 0, 0]
  ],
  ["Ollama", { prompt_eval_count: 10, eval_count: 5, total_duration: 5_043_500_667 }, [10, 5, 15, 0, 0, 0]],
  [
    "Cohere",
    { billed_units: { input_tokens: 10, output_tokens: 5 }, tokens: { input_tokens: 70, output_tokens: 6 } },
    [10, 5, 15, 0, 0, 0]
  ],
  ["watsonx", { input_token_count: 10, generated_token_count: 5 }, [10, 5, 15, 0, 0, 0]],
  ["Titan", { inputTextTokenCount: 10 }, [10, 0, 10, 0, 0, 0]],
  ["an emitter of digits", { promptTokenCount: "10", candidatesTokenCount: "5" }, [10, 5, 15, 0, 0, 0]],
  ["an emitter of zeros beside counts", { prompt_tokens: 0, input_tokens: 10, output_tokens: 5 }, [10, 5, 15, 0, 0, 0]],
  [
    "an emitter whose parts exceed its counts",
    { input_tokens: 5, cached_tokens: 50, output_tokens: 2, reasoning_tokens: 9 },
    [...[55, 11, 66], ...[50, 0, 9]]
  ],
  [
    "an emitter that states a total of its own",
    { inputTokens: 10, outputTokens: 5, totalTokens: 115 },
    [10, 5, 115, 0, 0, 0]
  ]
]

const countsOf = (usage: JsonObject | undefined): ReadonlyArray<unknown> =>
  extractLlmUsage("Vote", { usage: usage ?? {} }).map(
    ({ cachedTokens = 0, cacheWriteTokens = 0, completionTokens, promptTokens, reasoningTokens = 0, totalTokens }) => [
      ...[promptTokens, completionTokens, totalTokens],
      ...[cachedTokens, cacheWriteTokens, reasoningTokens]
    ]
  )

const spelled = (usage: JsonObject, spell: (name: string) => string): JsonObject =>
  JSON.parse(JSON.stringify(usage), (_, value: unknown) =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, member]) => [spell(name), member]))
      : value
  )
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe("the usage of an SDK", () => {
  it.each(FORMS)("of %s is understood in both spellings", (_, usage, counts) => {
    for (const form of [usage, spelled(usage, snakeCase), spelled(usage, camelCase)]) {
      assert.deepStrictEqual(countsOf(form), [counts])
    }
  })

  it("is the same wherever a call says it", () => {
    for (const [, usage, counts] of FORMS) {
      for (const payload of [
        { llmCall: usage },
        { llmCall: { model: "m", usage } },
        { metadata: { tokenUsage: usage } }
      ]) {
        const [{ promptTokens, completionTokens, totalTokens } = { promptTokens: -1 }] = extractLlmUsage(
          "Vote",
          payload
        )
        assert.deepStrictEqual([promptTokens, completionTokens, totalTokens], counts.slice(0, 3))
      }
    }
  })
})

const NAMES = Object.values(USAGE_NAMES).flat()
const COUNTS = [0, 1, 7, 100, 2.5, -1, -1e9, 1e300, 2 ** 53, "12", "9".repeat(400), "-3", "1e9", " 5", "", null, true]

/** Usage of known names with counts of any kind. */
const anyUsage: Arbitrary.Arbitrary<JsonObject> = Arbitrary.map(
  Arbitrary.array(Arbitrary.all({ name: pick(NAMES), count: pick(COUNTS.map((count) => ({ count }))) }), {
    maxLength: 10
  }),
  (members) => {
    const usage: Record<string, JsonObject[string]> = {}
    for (const { count, name } of members) {
      const [holder = "", member] = name.split(".")
      if (member === undefined) usage[holder] = count.count
      else usage[holder] = { ...(typeof usage[holder] === "object" && usage[holder]), [member]: count.count }
    }
    return usage
  }
)

describe("any usage", () => {
  it.prop(
    "has whole counts within bounds, of which none exceeds what it is a part of",
    { usage: anyUsage },
    ({ usage }) => {
      for (const found of extractLlmUsage("Vote", { llmCall: { model: "m", ...usage } })) {
        const { cachedTokens = 0, cacheWriteTokens = 0, completionTokens, promptTokens, totalTokens } = found
        const counts = [promptTokens, completionTokens, cachedTokens, cacheWriteTokens, found.reasoningTokens ?? 0]
        for (const count of counts) {
          assert.isTrue(Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS_PER_CALL, String(count))
        }
        assert.isAtMost(cachedTokens + cacheWriteTokens, promptTokens)
        assert.isAtMost(found.reasoningTokens ?? 0, completionTokens)
        assert.isAtLeast(totalTokens, promptTokens + completionTokens)
        assert.isAtMost(totalTokens, 2 * MAX_TOKENS_PER_CALL)
        assert.strictEqual(found.usage === "missing", totalTokens === 0)
      }
    }
  )
})
