import { assert, describe, it } from "@effect/vitest"
import { modelNames } from "@runplane/domain"
import * as Schema from "effect/Schema"

const texts = (model: string, provider?: string) =>
  modelNames(model, provider).map(({ model: name, provider: of }) => (of === undefined ? name : `${of}: ${name}`))

describe("the names of a model", () => {
  it.each([
    ["vendor1-4o", undefined, ["vendor1-4o"]],
    ["Vendor1 4o ", undefined, ["Vendor1 4o ", "vendor1-4o"]],
    ["gpt-4o-2024-08-06", "OpenAI", ["openai: gpt-4o-2024-08-06", "openai: gpt-4o"]],
    ["openai/gpt-4o", undefined, ["openai/gpt-4o", "openai: gpt-4o"]],
    ["gpt-4o", "azure.ai.openai", ["azure: gpt-4o"]],
    ["openai/gpt-4o", "openrouter", ["openrouter: openai/gpt-4o", "openai: gpt-4o", "openrouter: gpt-4o"]],
    ["claude-3-5-sonnet-latest", "anthropic", ["anthropic: claude-3-5-sonnet-latest", "anthropic: claude-3-5-sonnet"]],
    ["ft:gpt-4o-mini:acme::abc", undefined, ["ft:gpt-4o-mini:acme::abc", "openai: ft:gpt-4o-mini:acme::abc"]],
    ["llama3:8b", undefined, ["llama3:8b"]]
  ] as const)("of %o by %o are %o", (model, provider, names) => {
    assert.deepStrictEqual(texts(model, provider), [...names])
  })

  it("of Bedrock leave out the region and the profile", () => {
    const arn = "arn:aws:bedrock:us-east-1:1234:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    assert.include(texts(arn), "aws: us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert.include(
      texts("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
      "aws: anthropic.claude-sonnet-4-5-20250929-v1:0"
    )
  })

  it.prop(
    "begin with the name as stated, are few, and are short",
    { model: Schema.String, provider: Schema.optionalKey(Schema.String), times: Schema.Literals([1, 50, 1000]) },
    ({ model, provider, times }) => {
      const stated = `${model}/`.repeat(times)
      const names = modelNames(stated, provider)
      assert.strictEqual(names[0]?.model, stated.slice(0, 256))
      assert.isAtMost(names.length, 16)
      for (const name of names) assert.isAtMost(name.model.length, 256)
    }
  )
})
