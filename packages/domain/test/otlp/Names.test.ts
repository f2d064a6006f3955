import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { type Attributes, meaningOf } from "@runplane/domain"
import { ATTRIBUTES } from "../../src/otlp/Names.ts"
import { event, span, tool } from "./support/Spans.ts"

const DOCUMENT = join(dirname(fileURLToPath(import.meta.url)), "../../../../docs/reference/ingest.md")

const call = (attributes: Attributes) =>
  meaningOf(span("c", [0, 1], { "gen_ai.operation.name": "chat", ...attributes }))

describe("the table of attributes", () => {
  it("is in the document, row by row", () => {
    const rows = readFileSync(DOCUMENT, "utf8").replaceAll("\n  ", " ")
    for (const [ours, { names, unit }] of Object.entries(ATTRIBUTES)) {
      const row = `- **${ours}** (${unit}): ${names.map((name) => `\`${name}\``).join(", ")}\n`
      assert.isTrue(rows.includes(row), `ingest.md lacks ${row}`)
    }
  })

  it.each(ATTRIBUTES.input.names)("reads input tokens from %s", (name) => {
    assert.strictEqual(call({ [name]: 7 }).usage?.counts.promptTokens, 7)
    assert.strictEqual(call({ [name]: "7" }).usage?.counts.promptTokens, 7)
  })

  it.each(ATTRIBUTES.cacheRead.names)("reads cached tokens from %s", (name) => {
    assert.strictEqual(call({ "gen_ai.usage.input_tokens": 9, [name]: 7 }).usage?.counts.cachedTokens, 7)
  })

  it("reads the first count above 0, and the first text that is not hidden", () => {
    const { model, usage } = call({
      "gen_ai.usage.input_tokens": 0,
      "gen_ai.usage.prompt_tokens": 5,
      "gen_ai.response.model": "__REDACTED__",
      "gen_ai.request.model": "gpt-4o"
    })
    assert.deepStrictEqual([usage?.counts.promptTokens, model], [5, "gpt-4o"])
  })

  it.each(["<not specified>", "[unknown]", "(none)", "__REDACTED__"])("reads %s as absent", (text) => {
    const { agent, tool } = meaningOf(
      span("t", [0, 1], {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.agent.name": text,
        "gen_ai.tool.call.id": text
      })
    )
    assert.deepStrictEqual([agent, tool?.callId], [undefined, undefined])
  })
})

describe("usage", () => {
  it.each<[string, { input: number; output: number; cached: number; total?: number }, number]>([
    ["inclusive:total", { input: 100, output: 10, cached: 80, total: 110 }, 100],
    ["exclusive:total", { input: 100, output: 10, cached: 80, total: 190 }, 180],
    ["exclusive:cached", { input: 10, output: 1, cached: 80 }, 90],
    ["inclusive", { input: 100, output: 10, cached: 80 }, 100],
    ["inclusive", { input: 100, output: 10, cached: 80, total: 7 }, 100]
  ])("is %s", (basis, { cached, input, output, total }, promptTokens) => {
    const { usage } = call({
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
      "gen_ai.usage.cache_read.input_tokens": cached,
      ...(total !== undefined && { "gen_ai.usage.total_tokens": total })
    })
    assert.deepStrictEqual([usage?.basis, usage?.counts.promptTokens], [basis, promptTokens])
  })

  it("adds reasoning where the total says that the output leaves it out", () => {
    const { usage } = call({
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.reasoning_tokens": 5,
      "gen_ai.usage.total_tokens": 115
    })
    assert.deepStrictEqual([usage?.basis, usage?.counts.completionTokens], ["exclusive:reasoning", 15])
  })

  it("is unknown without any count, and 0 for a count that is absent beside others", () => {
    assert.isUndefined(call({}).usage)
    assert.isUndefined(call({ "gen_ai.aggregated_usage.input_tokens": 5 }).usage)
    assert.strictEqual(call({ "gen_ai.usage.input_tokens": 5 }).usage?.counts.completionTokens, 0)
    assert.strictEqual(call({ "gen_ai.usage.input_tokens": 0 }).usage?.counts.totalTokens, 0)
  })
})

describe("providers", () => {
  it.each([
    ["openai", "openai"],
    ["microsoft.agent_framework", undefined],
    ["LangChain", undefined]
  ])("reads %s as %s", (stated, provider) => {
    assert.strictEqual(call({ "gen_ai.provider.name": stated }).provider, provider)
  })
})

describe("tools", () => {
  it("have the messages in their events as arguments and result, where no attribute states them", () => {
    const events = [
      event("gen_ai.tool.message", { role: "tool", content: '{"number": 7}', id: "c1" }),
      event("gen_ai.choice", { message: '[{"text": "paid"}]', id: "c1" })
    ]
    const stated = meaningOf(span("t", [0, 1], tool("find_invoice"), { events })).tool
    assert.deepStrictEqual([stated?.arguments, stated?.result], [{ number: 7 }, [{ text: "paid" }]])
    const both = tool("find_invoice", { "gen_ai.tool.call.arguments": '{"number": 8}' })
    assert.deepStrictEqual(meaningOf(span("t", [0, 1], both, { events })).tool?.arguments, { number: 8 })
  })

  it("have the parts of a call and its response as arguments and result", () => {
    const messages = (part: Attributes) => JSON.stringify([{ role: "tool", parts: [part] }])
    const { tool: stated } = meaningOf(
      span(
        "t",
        [0, 1],
        tool("find_invoice", {
          "gen_ai.input.messages": messages({ type: "tool_call", arguments: { number: 7 } }),
          "gen_ai.output.messages": messages({ type: "tool_call_response", response: "paid" })
        })
      )
    )
    assert.deepStrictEqual([stated?.arguments, stated?.result], [{ number: 7 }, "paid"])
  })
})

describe("attributes", () => {
  it("have the request of a conversation as input, without what follows it", () => {
    const asked = { role: "user", parts: [{ type: "text", content: "refund invoice 7" }] }
    const returned = { role: "user", parts: [{ type: "tool_call_response", response: "paid" }] }
    const answer = { role: "assistant", parts: [{ type: "text", content: "refunded" }] }
    const all = JSON.stringify([asked, { role: "assistant", parts: [{ type: "tool_call" }] }, returned, answer])
    assert.deepStrictEqual(call({ "pydantic_ai.all_messages": all }).input, [asked])
  })

  it("are read from events of details too, in several parts; those of the span win", () => {
    const details = (attributes: Attributes) => event("gen_ai.client.inference.operation.details", attributes)
    const { input, model, output, usage } = meaningOf(
      span(
        "c",
        [0, 1],
        { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o" },
        {
          events: [
            details({ "gen_ai.input.messages": '[{"role":"user","content":"why"}]', "gen_ai.request.model": "other" }),
            details({ "gen_ai.output.messages": '[{"role":"assistant"}]', "gen_ai.usage.input_tokens": 7 })
          ]
        }
      )
    )
    assert.deepStrictEqual(input, [{ role: "user", content: "why" }])
    assert.deepStrictEqual(output, [{ role: "assistant" }])
    assert.deepStrictEqual([model, usage?.counts.promptTokens], ["gpt-4o", 7])
  })

  it("keeps unknown names of the conventions, bounded", () => {
    const { attributes } = call({
      "gen_ai.request.temperature": 0.5,
      "http.method": "GET",
      "gen_ai.x": "y".repeat(99_999)
    })
    assert.strictEqual(attributes?.["gen_ai.request.temperature"], 0.5)
    assert.isUndefined(attributes?.["http.method"])
    assert.isBelow(JSON.stringify(attributes).length, 9_000)
  })

  it("reads finish reasons as a list, or JSON text of one", () => {
    const reasons = (value: Attributes[string]) => call({ "gen_ai.response.finish_reasons": value }).finishReasons
    assert.deepStrictEqual([reasons(["stop"]), reasons('["stop"]'), reasons("stop")], [["stop"], ["stop"], ["stop"]])
  })

  it("reads seconds and milliseconds to the first chunk", () => {
    assert.strictEqual(call({ "gen_ai.response.time_to_first_chunk": 0.25 }).firstChunkMs, 250)
    assert.strictEqual(call({ "ai.response.msToFirstChunk": 250 }).firstChunkMs, 250)
  })
})
