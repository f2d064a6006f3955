import { assert, describe, it } from "@effect/vitest"
import { acceptsType, withoutNulls } from "../src/Messages.ts"

const message = (method: string, params: unknown) => JSON.stringify({ jsonrpc: "2.0", id: null, method, params })

// docs/reference/mcp.md#arguments
describe("a message of a client", () => {
  it.each([
    [
      "arguments",
      message("tools/call", { name: "health", arguments: null }),
      message("tools/call", { name: "health" })
    ],
    ["a cursor", message("tools/list", { cursor: null, _meta: null }), message("tools/list", {})],
    ["parameters", message("tools/list", null), '{"jsonrpc":"2.0","id":null,"method":"tools/list"}'],
    [
      "arguments of a prompt",
      message("prompts/get", { name: "p", arguments: { a: null, b: "null" } }),
      message("prompts/get", { name: "p", arguments: { b: "null" } })
    ],
    [
      "arguments of a completion",
      message("completion/complete", { context: { arguments: { a: null } } }),
      message("completion/complete", { context: { arguments: {} } })
    ]
  ])("has no %s where it says null", (_, given, expected) => {
    assert.strictEqual(withoutNulls(given), expected)
    assert.strictEqual(withoutNulls(`[${given},7]`), `[${expected},7]`)
  })

  it.each([
    ["values inside of a tool's arguments", message("tools/call", { name: "x", arguments: { rules: { a: null } } })],
    ["a text that is not JSON", '{"params": null'],
    ["a text without null", '{"a": 1}'],
    ["another value", "null"]
  ])("keeps %s", (_, given) => {
    assert.strictEqual(withoutNulls(given), given)
  })

  it("of any depth does not fail", () => {
    const deep = `{"params":${'{"a":'.repeat(200_000)}null${"}".repeat(200_000)}}`
    assert.isString(withoutNulls(deep))
  })
})

// docs/reference/mcp.md#transport
describe("an Accept header", () => {
  it.each([
    [undefined, true],
    ["", true],
    ["*/*", true],
    ["application/*", true],
    ["Application/JSON; charset=utf-8", true],
    ["text/event-stream, */*;q=0.1", true],
    ["application/json;q=0, */*", false],
    ["application/*;q=0, */*", false],
    ["*/*;q=0", false],
    ["application/json;q=2", false],
    ["application/json;q=x", false],
    ["text/event-stream", false],
    ["application/jsonx", false]
  ])("%s takes JSON: %s", (header, expected) => {
    assert.strictEqual(acceptsType(header, "application/json"), expected)
  })
})
