import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { post } from "./support/Exports.ts"

const settings = { OTLP_SETTLE_MS: "300", OTLP_IDLE_MS: "1500", OTLP_PARENT_WAIT_MS: "600000" }

const BEGIN_MS = Date.now() - 60_000

type Values = Readonly<Record<string, string | number | boolean>>

const valueIn = (value: string | number | boolean) =>
  typeof value === "string"
    ? { stringValue: value }
    : typeof value === "number"
      ? { doubleValue: value }
      : { boolValue: value }

/** A log record without a span, as coding agents send them. */
const record = (atMs: number, body: string, attributes: Values) => ({
  timeUnixNano: `${BEGIN_MS + atMs}000000`,
  body: { stringValue: body },
  attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: valueIn(value) }))
})

const logsOf = (service: string, logRecords: ReadonlyArray<ReturnType<typeof record>>) => ({
  resourceLogs: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
      scopeLogs: [{ scope: { name: `${service}.events` }, logRecords }]
    }
  ]
})

const send = (service: string, ...records: ReadonlyArray<ReturnType<typeof record>>) =>
  post(logsOf(service, records), { path: "/v1/logs" })

/** The only run of a conversation, when it has ended. */
const runOf = Effect.fnUntraced(function* (session: string) {
  const list = yield* until(
    Effect.map(call("GET", `/runs?q=conversation:${session}`), ({ body }) => body.data ?? []),
    (runs: ReadonlyArray<{ readonly id: string; readonly status: string }>) =>
      runs.some(({ status }) => status !== "running")
  )
  assert.lengthOf(list, 1)
  const { id = "", status } = list[0] ?? {}
  const events: ReadonlyArray<{ readonly type: string; readonly data: Record<string, unknown> }> = (yield* call(
    "GET",
    `/runs/${id}/events?limit=200`
  )).body
  const { body: metrics } = yield* call("GET", `/runs/${id}/metrics`)
  return { id, status, events, metrics }
})

const CLAUDE = [
  record(0, "claude_code.user_prompt", { "event.name": "user_prompt", "session.id": "s1", prompt: "ship?" }),
  record(2_000, "claude_code.api_request", {
    ...{ "event.name": "api_request", "session.id": "s1", model: "claude-sonnet-4-5", duration_ms: 1_500 },
    ...{ input_tokens: 1_000, output_tokens: 50, cache_read_tokens: 500, cache_creation_tokens: 100 },
    ...{ cost_usd: 0.0123, request_id: "req_1" }
  }),
  record(2_500, "claude_code.tool_decision", {
    ...{ "event.name": "tool_decision", "session.id": "s1", tool_name: "Read", decision: "accept" }
  }),
  record(3_000, "claude_code.tool_result", {
    ...{ "event.name": "tool_result", "session.id": "s1", tool_name: "Read", success: true, duration_ms: 40 }
  }),
  record(3_200, "claude_code.tool_result", {
    ...{ "event.name": "tool_result", "session.id": "s1", tool_name: "mcp_tool", success: true },
    ...{ tool_parameters: '{"mcp_server_name":"shop","mcp_tool_name":"find_invoice"}', tool_input: '{"number":7}' }
  }),
  record(4_000, "claude_code.tool_decision", {
    ...{
      "event.name": "tool_decision",
      "session.id": "s1",
      tool_name: "Bash",
      decision: "reject",
      source: "user_reject"
    }
  }),
  record(3_500, "claude_code.api_error", {
    ...{
      "event.name": "api_error",
      "session.id": "s1",
      model: "claude-sonnet-4-5",
      error: "Overloaded",
      status_code: 529
    }
  })
]

/** A main agent that gives work to `billing`, as Claude Code 2.1.332 reports it. */
const SUB_AGENT = (() => {
  const key = { "session.id": "s2" }
  const inside = { ...key, agent_id: "a6a0" }
  const request = (atMs: number, of: Values) =>
    record(atMs, "claude_code.api_request", {
      ...{ "event.name": "api_request", ...of, model: "claude-sonnet-4-5", duration_ms: 200 },
      ...{ input_tokens: 200, output_tokens: 80, cache_read_tokens: 0, cache_creation_tokens: 0 }
    })
  return [
    request(300, key),
    request(900, { ...inside, "agent.name": "billing" }),
    record(1_300, "claude_code.tool_result", {
      ...{ "event.name": "tool_result", ...inside, tool_name: "mcp_tool", success: "true", duration_ms: "300" },
      tool_parameters: '{"mcp_server_name":"shop","mcp_tool_name":"find_invoice"}'
    }),
    record(1_500, "claude_code.subagent_completed", {
      ...{ "event.name": "subagent_completed", ...inside, agent_type: "billing", duration_ms: 1_000 },
      ...{ total_tokens: 280, model: "claude-sonnet-4-5" }
    }),
    record(1_600, "claude_code.tool_result", {
      ...{ "event.name": "tool_result", ...key, tool_name: "Agent", success: "true", duration_ms: "1200" },
      tool_parameters: '{"subagent_type":"billing"}'
    })
  ]
})()

layer(layerTestService({ settings }), { excludeTestServices: true })("log records without a span", (it) => {
  it.effect("of a session are a run with model, tokens, cost and tools, once, however they are sent", () =>
    Effect.gen(function* () {
      const answer = yield* send("claude-code", ...CLAUDE.slice(0, 3))
      assert.deepStrictEqual([answer.status, answer.text], [200, "{}"])
      yield* send("claude-code", ...CLAUDE)
      yield* send("claude-code", ...CLAUDE.slice(3))
      const { events, metrics, status } = yield* runOf("s1")
      assert.strictEqual(status, "completed")
      const calls = events.filter(({ type }) => type === "llm.call.completed").map(({ data }) => data)
      assert.lengthOf(calls, 2)
      assert.deepInclude(calls[0]?.["decodedPayload"], {
        ...{ model: "claude-sonnet-4-5", promptTokens: 1_600, completionTokens: 50, cachedTokens: 500 },
        ...{ cacheWriteTokens: 100, latencyMs: 1_500, estimatedCostUsd: 0.0123, costBasis: "supplied", ok: true }
      })
      assert.deepInclude(calls[1]?.["decodedPayload"], { ok: false, usage: "missing", answered: false })
      assert.deepStrictEqual(calls[1]?.["error"], { message: "Overloaded" })
      const tools = events.filter(({ type }) => type === "tool.completed").map(({ data }) => data)
      assert.deepStrictEqual(
        tools.map(({ name, ok, refused }) => [name, ok, refused]),
        [
          ["Read", true, undefined],
          ["find_invoice", true, undefined],
          ["Bash", false, true]
        ]
      )
      assert.strictEqual(metrics.totalTokens, 1_650)
    })
  )

  it.effect("of a sub-agent are its own, and the main agent invokes it, in any order", () =>
    Effect.gen(function* () {
      yield* send("claude-code", ...SUB_AGENT.slice(3).toReversed())
      yield* send("claude-code", ...SUB_AGENT)
      const { events, metrics } = yield* runOf("s2")
      const said = events.flatMap(({ data, type }) =>
        type === "message.received" || type === "tool.completed" || type === "llm.call.completed"
          ? [[data["messageType"], data["sender"], data["to"] ?? data["name"] ?? data["model"]]]
          : []
      )
      assert.sameDeepMembers(said, [
        ["ModelCall", "claude-code", "claude-sonnet-4-5"],
        ["AgentInvoked", "claude-code", "billing"],
        ["ModelCall", "billing", "claude-sonnet-4-5"],
        ["ToolResult", "billing", "find_invoice"],
        ["AgentAnswered", "billing", "claude-code"],
        ["ToolResult", "claude-code", "Agent"]
      ])
      assert.strictEqual(metrics.totalTokens, 560)
    })
  )

  it.effect("of other coding agents count the answers alone", () =>
    Effect.gen(function* () {
      const codex = { "conversation.id": "c1", model: "gpt-5-codex" }
      yield* send(
        "codex_cli_rs",
        record(0, "", { "event.name": "codex.api_request", ...codex, duration_ms: 90 }),
        record(1, "", { "event.name": "codex.sse_event", ...codex, "event.kind": "response.created" }),
        record(900, "", {
          ...{ "event.name": "codex.sse_event", ...codex, "event.kind": "response.completed" },
          ...{
            input_token_count: "700",
            output_token_count: "60",
            cached_token_count: "100",
            reasoning_token_count: "20"
          }
        }),
        record(950, "", {
          "event.name": "codex.tool_result",
          ...codex,
          tool_name: "shell",
          call_id: "x",
          success: "false"
        })
      )
      const gemini = { "session.id": "g1", model: "gemini-2.5-pro" }
      yield* send(
        "gemini-cli",
        record(0, "API request to gemini-2.5-pro.", { "event.name": "gemini_cli.api_request", ...gemini }),
        record(900, "API response from gemini-2.5-pro. Status: 200.", {
          ...{ "event.name": "gemini_cli.api_response", ...gemini, duration_ms: 800, input_token_count: 500 },
          ...{ output_token_count: 20, thoughts_token_count: 30, cached_content_token_count: 0, total_token_count: 550 }
        })
      )
      const { events, metrics } = yield* runOf("c1")
      assert.strictEqual(metrics.totalTokens, 760)
      assert.lengthOf(
        events.filter(({ type }) => type === "llm.call.completed"),
        1
      )
      assert.deepStrictEqual(
        events.filter(({ type }) => type === "tool.completed").map(({ data }) => data["ok"]),
        [false]
      )
      assert.strictEqual((yield* runOf("g1")).metrics.totalTokens, 550)
    })
  )

  it.effect("of an agent of another name are read by model and tokens", () =>
    Effect.gen(function* () {
      const usage = { model: "gpt-4o", input_tokens: 90, output_tokens: 10, cost_usd: 0.5 }
      yield* send("acme", record(0, "", { "event.name": "acme.turn.finished", "session.id": "a1", ...usage }))
      const { events, metrics } = yield* runOf("a1")
      assert.strictEqual(metrics.totalTokens, 100)
      const [call] = events.filter(({ type }) => type === "llm.call.completed")
      assert.deepInclude(call?.data["decodedPayload"], {
        model: "gpt-4o",
        estimatedCostUsd: 0.5,
        costBasis: "supplied"
      })
    })
  )

  it.effect("may decide without any span", () =>
    Effect.gen(function* () {
      const key = { "session.id": "d1" }
      yield* send(
        "committee",
        record(0, "", {
          "event.name": "runplane.proposal",
          ...key,
          "proposal.id": "p1",
          option: "ship",
          participant: "a"
        }),
        record(1, "", { "event.name": "runplane.vote", ...key, vote: "approve", participant: "b" }),
        record(2, "", { "event.name": "runplane.decision", ...key, action: "ship", positive: true, participant: "a" })
      )
      const { events } = yield* runOf("d1")
      const decided = events.filter(({ type }) => /^(?:proposal|decision)\./.test(type))
      assert.deepStrictEqual(
        decided.map(({ data, type }) => [type, data["sender"]]),
        [
          ["proposal.created", "a"],
          ["proposal.updated", "b"],
          ["decision.finalized", "a"]
        ]
      )
    })
  )

  it.effect("and without a session are rejected by number, and make no run", () =>
    Effect.gen(function* () {
      const lost = record(0, "order 7 was shipped", { "event.name": "shop.order" })
      const { status, text } = yield* send("shop", lost, record(1, "a line", {}))
      assert.strictEqual(status, 200)
      assert.deepInclude(JSON.parse(text).partialSuccess, { rejectedLogRecords: "2" })
      assert.include(text, "session.id")
      const browser = record(2, "", { "event.name": "page.view", "session.id": "visitor" })
      assert.include((yield* send("shop", browser)).text, '"rejectedLogRecords":"1"')
      assert.lengthOf((yield* call("GET", "/runs?q=source:shop")).body.data, 0)
    })
  )
})
