import { assert, describe, it } from "@effect/vitest"
import { type Attributes, objectAt } from "@runplane/domain"
import { dataOf, foldOf, ofType } from "./support/Read.ts"
import { agent, chat, span } from "./support/Spans.ts"

const json = (value: unknown) => JSON.stringify(value)

/** What the call of a span has beside its counts and its cost. */
const factsOf = (attributes: Attributes) => {
  const call = span("c", [1, 2], { ...chat(1_000, 100), ...attributes }, { parent: "lead" })
  const [event] = ofType(foldOf(span("lead", [0, 9], agent("lead")), call).events, "llm.call.completed")
  const payload = event === undefined ? {} : (objectAt(dataOf(event), "decodedPayload") ?? {})
  const names = ["serviceTier", "cacheWriteHourTokens", "audioInputTokens", "audioOutputTokens", "imageInputTokens"]
  return Object.fromEntries(
    [...names, "imageOutputTokens"].flatMap((name) => (name in payload ? [[name, payload[name]]] : []))
  )
}

describe("a model call", () => {
  it.each<[string, Attributes, string | undefined]>([
    [
      "the tier that served it",
      { "gen_ai.request.service_tier": "auto", "gen_ai.response.service_tier": "flex" },
      "flex"
    ],
    ["the tier of OpenAI's names", { "gen_ai.openai.response.service_tier": "priority" }, "priority"],
    ["the tier in the parameters", { "llm.invocation_parameters": json({ service_tier: "flex" }) }, "flex"],
    ["the tier in the usage", { "acme.usage": json({ input_tokens: 1_000, service_tier: "batch" }) }, "batch"],
    ["no tier", {}, undefined]
  ])("has %s", (_, attributes, tier) => {
    assert.strictEqual(factsOf(attributes)["serviceTier"], tier)
  })

  it.each<[string, Attributes, object]>([
    [
      "OpenInference",
      { "llm.token_count.prompt_details.audio": 300, "llm.token_count.completion_details.audio": 40 },
      { audioInputTokens: 300, audioOutputTokens: 40 }
    ],
    ["plain names", { "gen_ai.usage.input_audio_tokens": 300 }, { audioInputTokens: 300 }],
    [
      "an object of OpenAI",
      {
        "acme.usage": json({
          prompt_tokens: 1_000,
          completion_tokens: 100,
          prompt_tokens_details: { audio_tokens: 300, image_tokens: 5, cached_tokens: 0 },
          completion_tokens_details: { audio_tokens: 40, reasoning_tokens: 0 }
        })
      },
      { audioInputTokens: 300, audioOutputTokens: 40, imageInputTokens: 5 }
    ],
    [
      "an object of Google",
      {
        "acme.usage_metadata": json({
          promptTokenCount: 1_000,
          candidatesTokenCount: 100,
          promptTokensDetails: [
            { modality: "TEXT", tokenCount: 700 },
            { modality: "AUDIO", tokenCount: 300 }
          ],
          candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 90 }]
        })
      },
      { audioInputTokens: 300, imageOutputTokens: 90 }
    ],
    [
      "an object of Anthropic",
      {
        "acme.usage": json({
          input_tokens: 1_000,
          output_tokens: 100,
          cache_creation_input_tokens: 700,
          cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 600 }
        })
      },
      { cacheWriteHourTokens: 600 }
    ],
    ["no parts", { "gen_ai.usage.input_audio_tokens": 0, "acme.audio": 5 }, {}]
  ])("has the parts that %s states", (_, attributes, parts) => {
    assert.deepStrictEqual(factsOf(attributes), parts)
  })
})
