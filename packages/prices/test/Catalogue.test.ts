import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { makeModelPrices, type PricedUsage } from "@runplane/domain"
import { bundledCatalogue, CATALOGUE_VERSION } from "@runplane/prices"

const MILLION = 1_000_000
const AT = Date.parse("2026-11-25T12:00:00Z")

const LISTS = {
  openai: "platform.openai.com/docs/pricing, November 2025",
  azure: "azure.microsoft.com/pricing/details/cognitive-services/openai-service, November 2025",
  anthropic: "docs.claude.com/en/docs/about-claude/pricing, November 2025",
  google: "ai.google.dev/gemini-api/docs/pricing, November 2025",
  aws: "aws.amazon.com/bedrock/pricing, November 2025",
  openrouter: "openrouter.ai/models, November 2025",
  xai: "docs.x.ai/docs/models, November 2025",
  mistral: "mistral.ai/pricing, November 2025",
  cohere: "cohere.com/pricing, November 2025",
  groq: "groq.com/pricing, November 2025",
  perplexity: "docs.perplexity.ai/guides/pricing, November 2025"
} as const

/**
 * Prices of the providers' lists of November 2025, US dollars per 1,000,000 tokens: a name as agents state it, the
 * provider as they state it, the list, input, output, and input from a cache where the list has one.
 */
type Listed = [string, string | undefined, keyof typeof LISTS, input: number, output: number, cached?: number]
const PRICES: ReadonlyArray<Listed> = [
  ["gpt-4o", "openai", "openai", 2.5, 10, 1.25],
  ["gpt-4o-2024-08-06", undefined, "openai", 2.5, 10, 1.25],
  ["gpt-4o-2024-05-13", "openai", "openai", 5, 15],
  ["openai/gpt-4o-mini-2024-07-18", undefined, "openai", 0.15, 0.6, 0.075],
  ["GPT-4.1", "OpenAI", "openai", 2, 8, 0.5],
  ["gpt-4.1-mini-2025-04-14", "openai", "openai", 0.4, 1.6, 0.1],
  ["gpt-4.1-nano", "openai", "openai", 0.1, 0.4, 0.025],
  ["gpt-5-2025-08-07", "openai", "openai", 1.25, 10, 0.125],
  ["gpt-5-mini", "openai", "openai", 0.25, 2, 0.025],
  ["openai:gpt-5-nano", undefined, "openai", 0.05, 0.4, 0.005],
  ["gpt-5.1-2025-11-13", undefined, "openai", 1.25, 10, 0.125],
  ["o1-2024-12-17", "openai", "openai", 15, 60, 7.5],
  ["o3", "openai", "openai", 2, 8, 0.5],
  ["o3-mini-2025-01-31", "openai", "openai", 1.1, 4.4, 0.55],
  ["o4-mini", undefined, "openai", 1.1, 4.4, 0.275],
  ["gpt-4-turbo-2024-04-09", "openai", "openai", 10, 30],
  ["gpt-3.5-turbo-0125", "openai", "openai", 0.5, 1.5],
  ["ft:gpt-4o-mini-2024-07-18:acme::abc123", undefined, "openai", 0.3, 1.2],
  ["gpt-4o", "azure.ai.openai", "azure", 2.5, 10, 1.25],
  ["claude-opus-4-1-20250805", "anthropic", "anthropic", 15, 75, 1.5],
  ["claude-opus-4-5-20251101", "anthropic", "anthropic", 5, 25, 0.5],
  ["claude-sonnet-4-5-20250929", undefined, "anthropic", 3, 15, 0.3],
  ["claude-sonnet-4-20250514", "anthropic", "anthropic", 3, 15, 0.3],
  ["anthropic/claude-haiku-4-5", undefined, "anthropic", 1, 5, 0.1],
  ["claude-3-5-haiku-latest", "anthropic", "anthropic", 0.8, 4, 0.08],
  ["claude-3-haiku-20240307", "anthropic", "anthropic", 0.25, 1.25, 0.03],
  ["gemini-2.5-pro", "gcp.gemini", "google", 1.25, 10, 0.125],
  ["gemini-2.5-pro-preview-05-06", "google", "google", 1.25, 10, 0.125],
  ["models/gemini-2.5-flash", undefined, "google", 0.3, 2.5, 0.03],
  ["gemini-2.5-flash-lite", "vertex_ai", "google", 0.1, 0.4, 0.01],
  ["gemini-2.0-flash-001", "google", "google", 0.1, 0.4, 0.025],
  ["us.anthropic.claude-3-5-sonnet-20241022-v2:0", "aws.bedrock", "aws", 3, 15, 0.3],
  ["eu.anthropic.claude-sonnet-4-5-20250929-v1:0", undefined, "aws", 3.3, 16.5, 0.33],
  ["bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0", undefined, "aws", 3, 15, 0.3],
  ["us.amazon.nova-pro-v1:0", "bedrock", "aws", 0.8, 3.2, 0.2],
  ["amazon.nova-micro-v1:0", "aws.bedrock", "aws", 0.035, 0.14, 0.00875],
  ["openrouter/openai/gpt-4o", undefined, "openrouter", 2.5, 10],
  ["meta-llama/llama-3.3-70b-instruct:free", "openrouter", "openrouter", 0, 0],
  ["grok-4", "xai", "xai", 3, 15, 0.75],
  ["grok-3-mini", "x_ai", "xai", 0.3, 0.5, 0.075],
  ["mistral-large-2411", "mistral_ai", "mistral", 2, 6],
  ["codestral-latest", "mistral", "mistral", 0.3, 0.9],
  ["command-r-plus-08-2024", "cohere", "cohere", 2.5, 10],
  ["llama-3.3-70b-versatile", "groq", "groq", 0.59, 0.79],
  ["sonar-pro", "perplexity", "perplexity", 3, 15]
]

describe("the bundled catalogue", () => {
  const prices = makeModelPrices(undefined, bundledCatalogue)
  const costOf = (model: string, provider: string | undefined, usage: Partial<PricedUsage>) =>
    prices.price({ model, provider, at: AT, usage: { input: 0, output: 0, ...usage } })

  it.each<Listed>(PRICES)(
    "prices %s of %s as the list of %s has it",
    (model, provider, list, input, output, cached) => {
      const thousand = 1000
      const of = (usage: Partial<PricedUsage>) => (costOf(model, provider, usage).costUsd * MILLION) / thousand
      assert.strictEqual(costOf(model, provider, { input: 1 }).basis, "catalogue", LISTS[list])
      assert.approximately(of({ input: thousand }), input, 1e-6, LISTS[list])
      assert.approximately(of({ output: thousand }), output, 1e-6, LISTS[list])
      if (cached !== undefined)
        assert.approximately(of({ input: thousand, cacheRead: thousand }), cached, 1e-6, LISTS[list])
    }
  )

  it("has at least 40 prices of the lists", () => {
    assert.isAtLeast(PRICES.length, 40)
  })

  it("prices all tokens of a long call by its tier", () => {
    const rates = (input: number) => costOf("gemini-2.5-pro", "google", { input, output: MILLION }).costUsd
    assert.strictEqual(rates(200_000), 10.25)
    assert.strictEqual(rates(400_000), 16)
  })

  it.each([
    ["a model on a machine of the caller", "gpt-4o", "ollama"],
    ["an unknown model", "nonesuch-9", "openai"],
    ["a model that its provider does not have", "gpt-4o", "anthropic"],
    ["an empty name", "", undefined]
  ])("has no price of %s", (_, model, provider) => {
    assert.strictEqual(costOf(model, provider, { input: 1 }).basis, "fallback")
  })

  it("prices the model of a gateway that it does not know", () => {
    assert.strictEqual(costOf("gpt-4o", "our-gateway", { input: 1 }).key, `openai/gpt-4o@${CATALOGUE_VERSION}`)
  })

  it("takes counts that contradict each other", () => {
    assert.strictEqual(costOf("gpt-4o", "openai", { input: 1000, cacheRead: 5000, reasoning: 9 }).costUsd, 0.00125)
  })

  it("has the version of the installed package", () => {
    const file = new URL("../node_modules/@pydantic/genai-prices/package.json", import.meta.url)
    assert.strictEqual(JSON.parse(readFileSync(file, "utf8")).version, CATALOGUE_VERSION)
  })

  it("prices 10,000 calls of models that it has looked up in under 50 ms of CPU", () => {
    const calls = PRICES.map(([model, provider]) => ({
      model,
      provider,
      at: AT,
      usage: { input: 1234, output: 567, cacheRead: 89 }
    }))
    for (const call of calls) prices.price(call)
    const measure = () => {
      const started = process.cpuUsage()
      for (let index = 0; index < 10_000; index++) {
        const call = calls[index % calls.length]
        if (call !== undefined) prices.price(call)
      }
      return process.cpuUsage(started).user / 1000
    }
    assert.isBelow(Math.min(measure(), measure(), measure()), 50)
  })
})
