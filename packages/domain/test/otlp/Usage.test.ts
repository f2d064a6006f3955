import { assert, describe, it } from "@effect/vitest"
import type { Attributes } from "@runplane/domain"
import { meaningOf } from "../../src/otlp/MeaningOf.ts"
import { at, ofType } from "./support/Read.ts"
import { chat, span } from "./support/Spans.ts"
import { runFold } from "./support/TraceFolds.ts"

const call = (attributes: Attributes) =>
  meaningOf(span("t", [0, 1], { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5.2", ...attributes }))

const countsOf = (attributes: Attributes) => {
  const { usage } = call(attributes)
  if (usage === undefined) return undefined
  const { cachedTokens = 0, cacheWriteTokens = 0, completionTokens, promptTokens, reasoningTokens = 0 } = usage.counts
  return [usage.basis, promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens]
}

const OPENAI = {
  completion_tokens: 97,
  prompt_tokens: 1830,
  total_tokens: 1927,
  completion_tokens_details: { audio_tokens: 0, reasoning_tokens: 32 },
  prompt_tokens_details: { audio_tokens: 0, cached_tokens: 1024 }
}

describe("an object of usage", () => {
  it.each<[string, Attributes, ReturnType<typeof countsOf>]>([
    [
      "cached and reasoning tokens beside their counts",
      {
        "langfuse.observation.usage_details": JSON.stringify({
          ...{ input: 806, output: 65, total: 1927, input_cached_tokens: 1024, output_reasoning_tokens: 32 }
        })
      },
      ["exclusive:both", 1830, 97, 1024, 0, 32]
    ],
    [
      "the form of OpenAI, as text",
      { "acme.llm.usage": JSON.stringify(OPENAI) },
      ["inclusive:total", 1830, 97, 1024, 0, 32]
    ],
    ["the form of OpenAI, as an object", { usage: OPENAI }, ["inclusive:total", 1830, 97, 1024, 0, 32]],
    [
      "a literal of Python beside plain counts",
      {
        "gen_ai.usage.input_tokens": 1830,
        "gen_ai.usage.output_tokens": 97,
        "metadata.usage_object":
          "{'completion_tokens': 97, 'prompt_tokens': 1830, 'note': 'it\\'s \"fine\"', 'cost': None, " +
          "'prompt_tokens_details': {'cached_tokens': 1024}, 'cached': True}"
      },
      ["inclusive", 1830, 97, 1024, 0, 0]
    ],
    [
      "the form of LangChain",
      {
        "langsmith.usage_metadata": JSON.stringify({
          ...{ input_tokens: 910, output_tokens: 43, total_tokens: 953 },
          input_token_details: { cache_read: 512, cache_creation: 100 },
          output_token_details: { reasoning: 8 }
        })
      },
      ["inclusive:total", 910, 43, 512, 100, 8]
    ],
    [
      "the form of Google",
      {
        "acme.tokenUsage": JSON.stringify({
          ...{ promptTokenCount: 100, candidatesTokenCount: 10, thoughtsTokenCount: 30, totalTokenCount: 140 }
        })
      },
      ["exclusive:reasoning", 100, 40, 0, 0, 30]
    ],
    [
      "the form of Anthropic, whose input leaves cached tokens out",
      {
        "acme.usage": JSON.stringify({
          ...{ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 800, cache_creation_input_tokens: 90 }
        })
      },
      ["exclusive:cached", 900, 5, 800, 90, 0]
    ]
  ])("is read in %s", (_, attributes, counts) => {
    assert.deepStrictEqual(countsOf(attributes), counts)
  })

  it("is of another call where its sides are not those of the plain counts", () => {
    const attributes = { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 1, usage: OPENAI }
    assert.deepStrictEqual(countsOf(attributes), ["inclusive", 10, 1, 0, 0, 0])
  })

  it.each<[string, Attributes]>([
    ["another name", { "acme.usage_policy": JSON.stringify(OPENAI) }],
    ["no counts", { "acme.usage": JSON.stringify({ cpu: 5 }) }],
    ["a text that is not an object", { "acme.usage": "{'completion_tokens': " }],
    ["a long text", { "acme.usage": JSON.stringify({ ...OPENAI, note: "x".repeat(20_000) }) }],
    ["sums of an agent", { "gen_ai.aggregated_usage.token_usage": JSON.stringify(OPENAI) }]
  ])("is not one with %s", (_, attributes) => {
    assert.isUndefined(countsOf(attributes))
  })

  it("has reasoning beside an output that is smaller", () => {
    assert.deepStrictEqual(countsOf({ usage: { input: 10, output: 5, reasoning_tokens: 20 } }), [
      ...["exclusive:reasoning", 10, 25, 0, 0, 20]
    ])
    assert.deepStrictEqual(
      countsOf({ usage: { input: 10, output: 5, input_cached_tokens: 80, reasoning_tokens: 20 } }),
      ["exclusive:both", 90, 25, 80, 0, 20]
    )
  })
})

describe("a stated cost", () => {
  it.each<[string, Attributes, number | undefined]>([
    ["gen_ai.cost.total_cost", { "gen_ai.cost.total_cost": 0.25, "gen_ai.cost.input_cost": 0.2 }, 0.25],
    ["its parts", { "gen_ai.cost.input_cost": 0.25, "gen_ai.cost.output_cost": 0.5 }, 0.75],
    ["parts of another form", { "llm.cost.prompt": "0.25", "llm.cost.completion": "0.5" }, 0.75],
    ["a name of its own", { "acme.response_cost": 0.5 }, 0.5],
    ["a name with its unit", { "acme.total_cost_usd": 0.5 }, 0.5],
    ["details", { "langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5, "total": 0.75}' }, 0.75],
    ["details without a total", { "langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5}' }, 0.75],
    ["a cost of tools", { "gen_ai.cost.tool_usage_cost": 0.5 }, undefined],
    ["0", { "gen_ai.cost.total_cost": 0, "gen_ai.usage.cost": 0 }, undefined]
  ])("is read from %s", (_, attributes, costUsd) => {
    assert.strictEqual(call(attributes).costUsd, costUsd)
  })

  it("of 0 beside tokens is unknown: the call has the price of its model", () => {
    const { events } = runFold([at(1_000, span("c", [0, 9], chat(1_000, 100, { "gen_ai.usage.cost": 0 })))])
    const [priced] = ofType(events, "llm.call.completed")
    assert.notStrictEqual(priced?.data.costBasis, "supplied")
    assert.isAbove(priced?.data.estimatedCostUsd ?? 0, 0)
  })
})

describe("a refused call", () => {
  const refused = (more: Attributes) =>
    runFold([
      at(
        1_000,
        span("c", [0, 9], { "gen_ai.operation.name": "chat", "error.type": "429", ...more }, { status: "error" })
      )
    ]).state.llm

  it("is not one without usage, and one that failed in the middle of its answer is", () => {
    assert.isUndefined(refused({}).totals.callsWithoutUsage)
    assert.strictEqual(refused({}).calls[0]?.usage, "missing")
    assert.strictEqual(refused({ "gen_ai.output.messages": "half" }).totals.callsWithoutUsage, 1)
  })
})
