import { assert, describe, it } from "@effect/vitest"
import { extractLlmUsage, type JsonObject, MAX_TOKENS_PER_CALL } from "@runplane/domain"
import { base64 } from "./support/frames.ts"

const usage = (model: string) => ({ model, promptTokens: 10, completionTokens: 5 })
const expected = (model: string) => ({ ...usage(model), totalTokens: 15 })

describe("LlmUsage", () => {
  const everywhere: JsonObject = {
    llmCall: usage("1"),
    metadata: { llmCall: usage("2"), tokenUsage: usage("4") },
    tokenUsage: usage("3")
  }
  it.each([
    ["llmCall", everywhere, "1"],
    ["metadata.llmCall", { ...everywhere, llmCall: {} }, "2"],
    ["tokenUsage", { metadata: { tokenUsage: usage("4") }, tokenUsage: usage("3") }, "3"],
    ["metadata.tokenUsage", { metadata: { tokenUsage: usage("4") } }, "4"]
  ])("finds the usage in %s before the places after it", (_, payload, model) => {
    assert.deepStrictEqual(extractLlmUsage("Evaluation", payload), expected(model))
  })

  it("finds the usage in the data of a Signal of type llm.call.completed, then in its tokenUsage", () => {
    const signal = (data: JsonObject) => ({ signalType: "llm.call.completed", data: base64(data) })
    const direct = signal({ ...usage("5"), totalTokens: 999, tokenUsage: usage("6") })
    assert.deepStrictEqual(extractLlmUsage("Signal", direct), expected("5"))
    assert.deepStrictEqual(extractLlmUsage("Signal", signal({ tokenUsage: usage("6") })), expected("6"))
  })

  it("reads Signal data that is JSON text or an object, when the whole signal came as JSON", () => {
    const signalType = "llm.call.completed"
    assert.deepStrictEqual(extractLlmUsage("Signal", { signalType, data: usage("7") }), expected("7"))
    assert.deepStrictEqual(
      extractLlmUsage("Signal", { signal_type: signalType, data: JSON.stringify(usage("8")) }),
      expected("8")
    )
  })

  it.each([
    ["Signal", { signalType: "observation.latency", data: base64(usage("x")) }],
    ["Evaluation", { signalType: "llm.call.completed", data: base64(usage("x")) }],
    ["Signal", { signalType: "llm.call.completed", data: "%%%" }],
    ["Signal", { signalType: "llm.call.completed", data: base64("not json") }],
    ["Vote", {}],
    ["Vote", { llmCall: "text", tokenUsage: [1], metadata: 5 }],
    ["Vote", { tokenUsage: { promptTokens: 0, completionTokens: 0, provider: "p", latencyMs: 5 } }]
  ])("finds none in a %s with %j", (messageType, payload) => {
    assert.isUndefined(extractLlmUsage(messageType, payload))
  })

  it("accepts the snake_case spellings and copies everything that is present", () => {
    const payload = {
      llm_call: {
        prompt_tokens: 3,
        completion_tokens: 4,
        model: "m",
        latency_ms: 250,
        provider: "vendor1",
        prompt: [{ role: "user", content: "hi" }],
        response: "ho",
        estimated_cost_usd: 0.5,
        artifact_id: "a1"
      }
    }
    assert.deepStrictEqual(extractLlmUsage("Evaluation", payload), {
      model: "m",
      promptTokens: 3,
      completionTokens: 4,
      totalTokens: 7,
      latencyMs: 250,
      provider: "vendor1",
      prompt: [{ role: "user", content: "hi" }],
      response: "ho",
      estimatedCostUsd: 0.5,
      artifactId: "a1"
    })
  })

  it("takes a call without tokens when it has a model, a prompt or a response", () => {
    for (const key of ["model", "prompt", "response"]) {
      assert.strictEqual(extractLlmUsage("Vote", { llmCall: { [key]: "x" } })?.totalTokens, 0)
    }
  })

  it("bounds token counts to whole numbers from zero to the maximum", () => {
    const found = extractLlmUsage("Vote", { tokenUsage: { promptTokens: 1e300, completionTokens: -5, model: "m" } })
    assert.strictEqual(found?.promptTokens, MAX_TOKENS_PER_CALL)
    assert.strictEqual(found?.completionTokens, 0)
    assert.strictEqual(extractLlmUsage("Vote", { tokenUsage: { promptTokens: 2.9 } })?.promptTokens, 2)
  })
})
