import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { baseUrl, layerTestService } from "../../support/HttpService.ts"
import { CURRENT, connect, PREVIOUS } from "./Clients.ts"

const META = {
  "io.modelcontextprotocol/protocolVersion": CURRENT,
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {}
}

const messageOf = (method: string, params: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } })

interface Sent {
  readonly verb?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** One HTTP request with these headers alone. */
const send = Effect.fnUntraced(function* ({ body, headers = {}, verb = "POST" }: Sent) {
  const url = `${yield* baseUrl}/mcp`
  return yield* Effect.promise(async () => {
    const answer = await fetch(url, { method: verb, headers, ...(body !== undefined && { body }) })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text }
  })
})

const accepting = { accept: "application/json, text/event-stream", "content-type": "application/json" }
const asked = (method: string, params: Readonly<Record<string, unknown>>, headers = {}) =>
  send({
    headers: {
      ...{ ...accepting, "mcp-protocol-version": CURRENT, "mcp-method": method },
      ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
      ...(typeof params["uri"] === "string" && { "mcp-name": params["uri"] }),
      ...headers
    },
    body: messageOf(method, params)
  })

// docs/reference/mcp.md#transport
layer(layerTestService({ settings: { CORS_ORIGIN: "https://console.example.org" } }), { excludeTestServices: true })(
  "a request of MCP",
  (it) => {
    const inputs: ReadonlyArray<readonly [name: string, input: Record<string, unknown>, expected: string]> = [
      ["runs_search", { query: "status:failed" }, 'unknown argument "query"; known: q, sort, limit, cursor'],
      ["policy_backtest", { policy: {}, scope: { tag: "a" } }, 'unknown argument "scope.tag" (did you mean'],
      ["run_suspend", { runId: "r", confirm: true }, "known: runId, reason, confirmToken"]
    ]
    for (const revision of [CURRENT, PREVIOUS] as const) {
      it.effect(`with an argument that no tool has is refused, never answered without it (${revision})`, () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* baseUrl, { revision })
          for (const [name, input, expected] of inputs) {
            const answer = yield* client.call(name, input)
            assert.isTrue(answer.isError, name)
            assert.include(answer.text, expected)
          }
          const found = yield* client.call("runs_search", { q: null, limit: null })
          assert.deepInclude(found.content, { total: 0 })
        })
      )
    }

    it.effect("with null for what it may leave out is read without it", () =>
      Effect.gen(function* () {
        for (const params of [{ arguments: null }, { arguments: { q: null } }, {}]) {
          const answer = yield* asked("tools/call", { name: "runs_search", ...params })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.include(answer.text, '"total":0', JSON.stringify(params))
        }
        assert.include((yield* asked("tools/list", { cursor: null })).text, '"runs_search"')
      })
    )

    it.effect("of a prompt or a resource with an argument that it does not have is refused", () =>
      Effect.gen(function* () {
        const prompt = (args: unknown) => asked("prompts/get", { name: "investigate_run", arguments: args })
        assert.include((yield* prompt({ runId: "r", other: null })).text, "Investigate run r")
        assert.include((yield* prompt({ run: "r" })).text, 'unknown argument \\"run\\"; known: runId')
        assert.include((yield* prompt(null)).text, "missing argument runId")
        assert.include((yield* prompt({ runId: "x".repeat(513) })).text, "runId has more than 512 characters")
        const read = (query: string) => asked("resources/read", { uri: `runplane://runs/a/events?${query}` })
        assert.include((yield* read("type=run.failed")).text, 'unknown parameter \\"type\\"; known: afterSeq')
        assert.include((yield* read("afterSeq=x")).text, "afterSeq must be a whole number from 0")
        assert.include((yield* read("afterSeq=1&afterSeq=2")).text, "the parameter afterSeq is there twice")
        const state = yield* asked("resources/read", { uri: "runplane://runs/a/state?afterSeq=1" })
        assert.include(state.text, 'unknown parameter \\"afterSeq\\"; it takes no parameters')
      })
    )

    for (const accept of ["*/*", "application/*, text/*;q=0.5", "application/json;q=0.9, text/event-stream;q=0.1"]) {
      it.effect(`takes answers by Accept: ${accept}`, () =>
        Effect.gen(function* () {
          const { status, text } = yield* asked("tools/list", {}, { accept })
          assert.strictEqual(status, 200, text)
          assert.include(text, '"runs_search"')
        })
      )
    }

    const wrong: ReadonlyArray<readonly [status: number, errorCode: string, says: string, sent: Sent]> = [
      [405, "METHOD_NOT_ALLOWED", "MCP takes POST", { verb: "GET" }],
      [405, "METHOD_NOT_ALLOWED", "MCP takes POST", { verb: "PUT", headers: accepting, body: "{}" }],
      [400, "VALIDATION_ERROR", "Mcp-Session-Id", { verb: "DELETE" }],
      [404, "NOT_FOUND", "initialize a new one", { verb: "DELETE", headers: { "mcp-session-id": "x" } }],
      [406, "VALIDATION_ERROR", "Accept must take", { headers: { ...accepting, accept: "text/html" }, body: "{}" }],
      [406, "VALIDATION_ERROR", "Accept must take", { headers: { ...accepting, accept: "*/*;q=0" }, body: "{}" }],
      [
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        "text/plain",
        { headers: { ...accepting, "content-type": "text/plain" }, body: "{}" }
      ],
      [403, "FORBIDDEN", "CORS_ORIGIN", { headers: { ...accepting, origin: "https://evil.example.org" }, body: "{}" }],
      [400, "VALIDATION_ERROR", "a batch", { headers: accepting, body: '[{"jsonrpc":"2.0","id":1,"method":"ping"}]' }],
      [
        404,
        "NOT_FOUND",
        "initialize a new one",
        {
          headers: { ...accepting, "mcp-session-id": "x", "mcp-protocol-version": PREVIOUS },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
        }
      ]
    ]
    it.effect.each(wrong)("that is refused with %i says why: %s, %s", ([status, errorCode, says, sent]) =>
      Effect.gen(function* () {
        const answer = yield* send(sent)
        assert.strictEqual(answer.status, status, answer.text)
        assert.strictEqual(answer.headers.get("content-type"), "application/json")
        const body: { readonly statusCode: number; readonly errorCode: string; readonly message: string } = JSON.parse(
          answer.text
        )
        assert.deepInclude(body, { statusCode: status, errorCode })
        assert.include(body.message, says)
        if (status === 405) assert.strictEqual(answer.headers.get("allow"), "POST, DELETE")
      })
    )
  }
)
