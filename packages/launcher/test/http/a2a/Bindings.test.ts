import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { agentCardOf } from "../../../src/http/a2a/AgentCard.ts"
import { readHttpJson, readRpc, versionFault } from "../../../src/http/a2a/Bindings.ts"

describe("a request of JSON-RPC", () => {
  it("has its method, its params and its id", () => {
    assert.deepStrictEqual(readRpc({ jsonrpc: "2.0", id: "a", method: "GetTask", params: { id: "t" } }), {
      id: "a",
      call: Result.succeed({ method: "GetTask", params: { id: "t" } })
    })
    assert.deepStrictEqual(readRpc({ jsonrpc: "2.0", id: 0, method: "ListTasks" }), {
      id: 0,
      call: Result.succeed({ method: "ListTasks", params: {} })
    })
  })

  it("is refused as a batch, without an id, of another version, and without a method", () => {
    const refused: ReadonlyArray<readonly [unknown, string | number | null]> = [
      [[], null],
      ["x", null],
      [null, null],
      [{ jsonrpc: "2.0", method: "GetTask" }, null],
      [{ jsonrpc: "2.0", method: "GetTask", id: {} }, null],
      [{ jsonrpc: "2.0", method: "GetTask", id: true }, null],
      [{ jsonrpc: "2.0", method: "GetTask", id: 1.5 }, null],
      [{ jsonrpc: "2.0", method: "GetTask", id: "x".repeat(257) }, null],
      [{ jsonrpc: "1.0", method: "GetTask", id: 1 }, 1],
      [{ jsonrpc: "2.0", id: 1 }, 1],
      [{ jsonrpc: "2.0", method: 7, id: "b" }, "b"]
    ]
    for (const [body, id] of refused) {
      const read = readRpc(body)
      assert.strictEqual(Result.isFailure(read.call) && read.call.failure.kind, "InvalidRequest")
      assert.strictEqual(read.id, id)
    }
  })
})

describe("a path of HTTP+JSON", () => {
  it("is the method of JSON-RPC", () => {
    const rows = [
      ["POST", "/message:send", "SendMessage"],
      ["POST", "/message:stream", "SendStreamingMessage"],
      ["GET", "/tasks", "ListTasks"],
      ["GET", "/tasks/t%20x", "GetTask"],
      ["POST", "/tasks/t:cancel", "CancelTask"],
      ["GET", "/tasks/t:subscribe", "SubscribeToTask"],
      ["POST", "/tasks/t:subscribe", "SubscribeToTask"],
      ["GET", "/extendedAgentCard", "GetExtendedAgentCard"],
      ["POST", "/tasks/t/pushNotificationConfigs", "ListTaskPushNotificationConfigs"],
      ["DELETE", "/tasks/t/pushNotificationConfigs/c", "ListTaskPushNotificationConfigs"]
    ] as const
    for (const [verb, path, method] of rows) assert.strictEqual(readHttpJson(verb, path, {})?.method, method, path)
    assert.deepStrictEqual(readHttpJson("GET", "/tasks/t%20x", { historyLength: "1" })?.params, {
      historyLength: "1",
      id: "t x"
    })
    assert.deepStrictEqual(readHttpJson("GET", "/tasks/t:subscribe", { since: "4" })?.params, {
      id: "t",
      metadata: { since: "4" }
    })
  })

  it("of another form is unknown", () => {
    const rows = [
      ["GET", "/message:send"],
      ["GET", "/tasks/t:cancel"],
      ["POST", "/tasks/t"],
      ["GET", "/tasks/%"],
      ["GET", "/tasks/"],
      ["GET", "/tasks/t:nix"],
      ["GET", ""]
    ] as const
    for (const [verb, path] of rows) assert.isUndefined(readHttpJson(verb, path, {}), path)
  })
})

describe("a version", () => {
  it("of 1 is served, and no other", () => {
    for (const version of ["1.0", "1", "1.0.1", "1.1"]) assert.isUndefined(versionFault(version))
    for (const version of [undefined, "", "0.3", "2.0", "1.x", "10", "1".repeat(1_000)]) {
      const fault = versionFault(version)
      assert.strictEqual(fault?.kind, "VersionNotSupported")
      assert.isBelow(fault?.message.length ?? 0, 120)
    }
  })
})

describe("the card", () => {
  const facts = { name: "n", version: "1", url: "https://a.example/a2a", hasKeys: false, issuer: undefined }

  it("has both bindings, and the schemes of the service", () => {
    assert.deepStrictEqual(
      agentCardOf(facts, []).supportedInterfaces.map(({ protocolBinding }) => protocolBinding),
      ["JSONRPC", "HTTP+JSON"]
    )
    assert.notProperty(agentCardOf(facts, []), "securitySchemes")
    const secured = agentCardOf({ ...facts, hasKeys: true, issuer: "https://id.example/" }, [])
    assert.deepInclude(secured, {
      securityRequirements: [{ schemes: { apiKey: { list: [] } } }, { schemes: { openIdConnect: { list: [] } } }]
    })
    assert.include(JSON.stringify(secured), '"https://id.example/.well-known/openid-configuration"')
  })
})
