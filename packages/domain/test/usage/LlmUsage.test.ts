import { assert, describe, it } from "@effect/vitest"
import { extractLlmUsage, type JsonObject, MAX_CALLS_PER_MESSAGE, MAX_TOKENS_PER_CALL } from "@runplane/domain"
import { base64 } from "../support/frames.ts"

const usage = (model: string) => ({ model, promptTokens: 10, completionTokens: 5 })
const expected = (model: string) => [{ ...usage(model), totalTokens: 15 }]
const missing = { promptTokens: 0, completionTokens: 0, totalTokens: 0, usage: "missing" } as const
const signalType = "llm.call.completed"
const signal = (data: unknown) => ({ signalType, data: base64(data) })

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
    ["metadata.tokenUsage", { metadata: { tokenUsage: usage("4") } }, "4"],
    ["tokenUsage", { usage: usage("6"), tokenUsage: usage("5") }, "5"],
    ["usage", { usageMetadata: usage("7"), usage: usage("6") }, "6"],
    ["metadata.usage", { metadata: { usage: usage("6") } }, "6"],
    ["usageMetadata", { usageMetadata: usage("7") }, "7"],
    ["metadata.usage_metadata", { metadata: { usage_metadata: usage("7") } }, "7"],
    ["response_metadata.token_usage", { response_metadata: { model: "8", token_usage: { prompt_tokens: 10 } } }, "8"],
    ["the members of the message", { recommendation: "APPROVE", ...usage("9") }, "9"],
    ["the members of metadata", { metadata: usage("10") }, "10"]
  ])("finds the usage in %s before the later sources", (_, payload, model) => {
    const [found, ...others] = extractLlmUsage("Evaluation", payload)
    assert.deepStrictEqual([found?.model, found?.promptTokens, others], [model, 10, []])
  })

  it("finds the usage in the data of a Signal of type llm.call.completed, then in its tokenUsage", () => {
    const direct = signal({ ...usage("5"), tokenUsage: usage("6") })
    assert.deepStrictEqual(extractLlmUsage("Signal", direct), expected("5"))
    assert.deepStrictEqual(extractLlmUsage("Signal", signal({ tokenUsage: usage("6") })), expected("6"))
    assert.deepStrictEqual(extractLlmUsage("Signal", signal({ llmCall: usage("7") })), expected("7"))
    assert.deepStrictEqual(extractLlmUsage("Signal", signal({ metadata: { usage: usage("8") } })), expected("8"))
  })

  it("reads Signal data that is JSON text or an object, when the whole signal came as JSON", () => {
    assert.deepStrictEqual(extractLlmUsage("Signal", { signalType, data: usage("7") }), expected("7"))
    assert.deepStrictEqual(
      extractLlmUsage("Signal", { signal_type: signalType, data: JSON.stringify(usage("8")) }),
      expected("8")
    )
  })

  it.each([
    ["Signal", { signalType: "observation.latency", data: base64(usage("x")) }],
    ["Evaluation", { signalType, data: base64(usage("x")) }],
    ["Vote", {}],
    ["Vote", { llmCall: "text", tokenUsage: [1], metadata: 5, usage: { cpu: 3 }, model: "m", prompt: "p" }],
    ["Vote", { tokenUsage: { promptTokens: 0, completionTokens: 0, provider: "p", latencyMs: 5 } }],
    ["TaskComplete", { totalTokens: 900 }]
  ])("finds none in a %s with %j", (messageType, payload) => {
    assert.deepStrictEqual(extractLlmUsage(messageType, payload), [])
  })

  it("accepts the snake_case spellings and copies everything that is present", () => {
    const payload = {
      llm_call: {
        prompt_tokens: 3,
        completion_tokens: 4,
        cached_tokens: 1,
        cache_write_tokens: 1,
        reasoning_tokens: 2,
        model: "m",
        latency_ms: 250,
        provider: "vendor1",
        prompt: [{ role: "user", content: "hi" }],
        response: "ho",
        estimated_cost_usd: 0.5,
        artifact_id: "a1"
      }
    }
    assert.deepStrictEqual(extractLlmUsage("Evaluation", payload), [
      {
        model: "m",
        promptTokens: 3,
        completionTokens: 4,
        totalTokens: 7,
        cachedTokens: 1,
        cacheWriteTokens: 1,
        reasoningTokens: 2,
        latencyMs: 250,
        provider: "vendor1",
        prompt: [{ role: "user", content: "hi" }],
        response: "ho",
        estimatedCostUsd: 0.5,
        artifactId: "a1"
      }
    ])
  })

  it("takes the counts from the first source that has some, and the other members from the later sources", () => {
    const payload = {
      llmCall: { model: "m", latencyMs: 20, prompt: "ask" },
      tokenUsage: { promptTokens: 10, completionTokens: 5, model: "of the counts" },
      usage: { input_tokens: 999, provider: "vendor1", latency_ms: 99 }
    }
    assert.deepStrictEqual(extractLlmUsage("Vote", payload), [
      {
        model: "of the counts",
        promptTokens: 10,
        completionTokens: 5,
        totalTokens: 15,
        latencyMs: 20,
        prompt: "ask",
        provider: "vendor1"
      }
    ])
  })

  it("does not take the model or the text of a message for those of its call", () => {
    const payload = { prompt: "who?", model: "T", tokenUsage: { promptTokens: 10, completionTokens: 5 } }
    assert.deepStrictEqual(extractLlmUsage("Proposal", payload), [
      { promptTokens: 10, completionTokens: 5, totalTokens: 15 }
    ])
  })

  it.each([
    ["a total above the sum", { promptTokens: 10, completionTokens: 5, totalTokens: 115 }, [10, 5, 115]],
    ["a total alone", { totalTokens: 115 }, [0, 0, 115]],
    ["a total below the sum", { promptTokens: 10, completionTokens: 5, totalTokens: 12 }, [10, 5, 15]]
  ])("keeps the parts as stated beside %s", (_, llmCall, counts) => {
    const [found] = extractLlmUsage("Vote", { llmCall })
    assert.deepStrictEqual([found?.promptTokens, found?.completionTokens, found?.totalTokens], counts)
  })

  it("says that the usage is missing where a model, a prompt or a response comes without a count", () => {
    for (const key of ["model", "prompt", "response"]) {
      assert.deepStrictEqual(extractLlmUsage("Vote", { llmCall: { [key]: "x" } }), [{ [key]: "x", ...missing }])
      assert.deepStrictEqual(
        extractLlmUsage("Vote", { llmCall: { [key]: "x", promptTokens: 0, totalTokens: "many" } }),
        [{ [key]: "x", ...missing }]
      )
    }
  })

  it.each([[""], ["%%%"], [base64("not json")], [base64({ latencyMs: 5 })], [base64("7")]])(
    "says that the usage is missing where the data of a call's Signal is %s",
    (data) => {
      assert.deepStrictEqual(extractLlmUsage("Signal", { signalType, data }), [missing])
    }
  )

  it.each([
    ["llmCall", { llmCall: [usage("a"), usage("b")] }],
    ["tokenUsage", { tokenUsage: [usage("a"), usage("b")] }],
    ["metadata.llmCalls", { metadata: { llmCalls: [usage("a"), usage("b")] } }],
    ["usage", { usage: [usage("a"), null, { cpu: 1 }, usage("b")] }],
    ["calls", { llmCall: {}, calls: [{ model: "a", usage: { input_tokens: 10, output_tokens: 5 } }, usage("b")] }]
  ])("takes each of a list of calls under %s for a call", (_, payload) => {
    assert.deepStrictEqual(extractLlmUsage("Evaluation", payload), [...expected("a"), ...expected("b")])
    assert.deepStrictEqual(extractLlmUsage("Signal", signal(payload)), [...expected("a"), ...expected("b")])
  })

  it("takes a Signal's data that is a list for calls, and one of them without counts for a missing usage", () => {
    const calls = [usage("a"), { model: "b" }]
    for (const data of [base64(calls), base64(` ${JSON.stringify(calls)}`), JSON.stringify(calls), calls]) {
      assert.deepStrictEqual(extractLlmUsage("Signal", { signalType, data }), [
        ...expected("a"),
        { model: "b", ...missing }
      ])
    }
  })

  it("gives the calls of a list the model that is stated beside it, and not the cost", () => {
    const payload = {
      llmCall: { model: "m", provider: "p", estimatedCostUsd: 4, latencyMs: 9 },
      tokenUsage: [{ promptTokens: 10, completionTokens: 5 }]
    }
    assert.deepStrictEqual(extractLlmUsage("Vote", payload), [
      { provider: "p", model: "m", promptTokens: 10, completionTokens: 5, totalTokens: 15 }
    ])
  })

  it("stands for the calls beyond the bound with one call whose usage is missing", () => {
    const found = extractLlmUsage("Vote", {
      llmCall: Array.from({ length: MAX_CALLS_PER_MESSAGE + 7 }, () => usage("m"))
    })
    assert.strictEqual(found.length, MAX_CALLS_PER_MESSAGE + 1)
    assert.deepStrictEqual(found.at(-1), { ...missing, calls: 7 })
  })

  it("bounds token counts to whole numbers from zero to the maximum", () => {
    const [found] = extractLlmUsage("Vote", { tokenUsage: { promptTokens: 1e300, completionTokens: -5, model: "m" } })
    assert.strictEqual(found?.promptTokens, MAX_TOKENS_PER_CALL)
    assert.strictEqual(found?.completionTokens, 0)
    assert.strictEqual(extractLlmUsage("Vote", { tokenUsage: { promptTokens: 2.9 } })[0]?.promptTokens, 2)
  })
})
