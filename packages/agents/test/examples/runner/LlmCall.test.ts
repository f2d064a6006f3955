import { assert, describe, it } from "@effect/vitest"
import { llmCallOf } from "../../../src/examples/runner/LlmCall.ts"

describe("a pretended model call", () => {
  const model = { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 200 }
  const facts = { service: "shop", seed: "a" }

  it("costs the same for the same facts", () => {
    assert.deepStrictEqual(llmCallOf(model, "a", facts, "yes"), llmCallOf(model, "a", { ...facts }, "yes"))
  })

  it("costs something else for another seed", () => {
    const tokens = ["a", "b", "c"].map((seed) => llmCallOf(model, "a", { ...facts, seed }, "yes").totalTokens)
    assert.isAbove(new Set(tokens).size, 1)
  })

  it("adds up, and repeats the usage in the fields that readers use", () => {
    const { completionTokens, promptTokens, tokenUsage, totalTokens } = llmCallOf(model, "a", facts, "yes")
    assert.strictEqual(totalTokens, promptTokens + completionTokens)
    assert.deepStrictEqual(tokenUsage, { promptTokens, completionTokens, model: model.model })
  })
})
