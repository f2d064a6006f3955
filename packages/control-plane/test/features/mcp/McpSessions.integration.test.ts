import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { MAX_SESSIONS } from "../../../src/features/mcp/McpSessions.ts"
import { baseUrl, layerTestService } from "../../support/HttpService.ts"
import { PREVIOUS } from "./Clients.ts"

const settings = {
  LOG_LEVEL: "error",
  AUTH_API_KEYS: "mine,other",
  AUTH_API_KEY_NAMES: "mine,other",
  AUTH_API_KEY_ROLES: "viewer,viewer",
  RATE_LIMIT_MAX: "100000"
}

const send = Effect.fnUntraced(function* (
  key: string,
  { body, id, verb = "POST" }: { readonly body?: unknown; readonly id?: string | undefined; readonly verb?: string }
) {
  const url = `${yield* baseUrl}/mcp`
  return yield* Effect.promise(async () => {
    const headers = {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(id !== undefined && { "mcp-session-id": id, "mcp-protocol-version": PREVIOUS })
    }
    const answer = await fetch(url, {
      method: verb,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return { status: answer.status, text: await answer.text(), id: answer.headers.get("mcp-session-id") ?? undefined }
  })
})

const begin = (key: string) =>
  send(key, {
    body: {
      ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
      params: { protocolVersion: PREVIOUS, capabilities: {}, clientInfo: { name: "raw", version: "0" } }
    }
  })
const ping = (key: string, id: string | undefined) =>
  send(key, { id, body: { jsonrpc: "2.0", id: 2, method: "ping", params: {} } })
const wait = (key: string, id: string | undefined, runId: string) =>
  send(key, {
    id,
    body: { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "run_get", arguments: { runId } } }
  })

// docs/reference/mcp.md#sessions
layer(layerTestService({ settings }), { excludeTestServices: true })("a session of MCP", (it) => {
  it.effect("answers and ends for its own key alone", () =>
    Effect.gen(function* () {
      const { id, status } = yield* begin("mine")
      assert.strictEqual(status, 200)
      assert.isDefined(id)
      assert.strictEqual((yield* ping("mine", id)).status, 200)
      for (const refused of [yield* ping("other", id), yield* send("other", { id, verb: "DELETE" })]) {
        assert.strictEqual(refused.status, 404)
        assert.include(refused.text, "initialize a new one")
      }
      assert.strictEqual((yield* wait("other", id, "any")).status, 404)
      assert.strictEqual((yield* ping("mine", id)).status, 200)
      assert.strictEqual((yield* send("mine", { id, verb: "DELETE" })).status, 204)
      assert.strictEqual((yield* ping("mine", id)).status, 404)
    })
  )

  it.effect("is ended when it is the oldest idle one of a key with as many as it may have", () =>
    Effect.gen(function* () {
      const other = yield* begin("other")
      const first = yield* begin("mine")
      const second = yield* begin("mine")
      for (let count = 2; count < MAX_SESSIONS; count += 1) assert.strictEqual((yield* begin("mine")).status, 200)
      // A use makes it younger.
      assert.strictEqual((yield* ping("mine", first.id)).status, 200)
      for (let count = 0; count < 10; count += 1) assert.strictEqual((yield* begin("mine")).status, 200)
      assert.strictEqual((yield* ping("mine", second.id)).status, 404)
      assert.strictEqual((yield* ping("mine", first.id)).status, 200)
      assert.strictEqual((yield* ping("other", other.id)).status, 200)
    })
  )
})
