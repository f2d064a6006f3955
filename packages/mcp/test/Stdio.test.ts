import { assert, describe, it } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { layerMcpStdio, memoryConfirmations } from "../src/index.ts"

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {}
}

/** The answer on standard output to a message on standard input, which comes in parts of a few bytes. */
const answerTo = Effect.fnUntraced(function* (method: string, params: Readonly<Record<string, unknown>>) {
  const plane = yield* ControlPlaneClient
  const line = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } })}\n`
  const bytes = new TextEncoder().encode(line)
  const parts = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => bytes.slice(index * 7, index * 7 + 7))
  const written = yield* Queue.unbounded<string>()
  const write = (part: string | Uint8Array) =>
    Queue.offer(written, typeof part === "string" ? part : new TextDecoder().decode(part))
  const stdio = Stdio.layerTest({
    stdin: Stream.concat(Stream.fromIterable(parts), Stream.never),
    stdout: () => Sink.forEach(write)
  })
  const backend = {
    ...{ plane, launcher: undefined, subscriptions: undefined, confirm: "token" as const, maxConcurrency: 4 },
    ...{ confirmations: memoryConfirmations(), maxResultBytes: 40_000 }
  }
  const server = layerMcpStdio(backend, { id: "me", role: "viewer" }).pipe(Layer.provide(stdio))
  const running = yield* Effect.forkChild(Layer.launch(server))
  const answer = yield* Queue.take(written)
  yield* Fiber.interrupt(running)
  return answer
})

/** No service listens there: these calls reach none. */
const nowhere = ControlPlaneClient.layer({ baseUrl: "http://127.0.0.1:9" }).pipe(Layer.provide(FetchHttpClient.layer))

// docs/reference/mcp.md#arguments
describe("the server on standard input and output", () => {
  it.effect("refuses an argument that the tool does not have", () =>
    Effect.gen(function* () {
      const answer = yield* answerTo("tools/call", { name: "runs_search", arguments: { query: "gr\u00fc\u00dfe" } })
      assert.include(answer, 'unknown argument \\"query\\"; known: q, sort, limit, cursor')
    }).pipe(Effect.provide(nowhere))
  )

  it.effect("reads null as absent", () =>
    Effect.gen(function* () {
      const prompt = { name: "investigate_run", arguments: { runId: "gr\u00fc\u00dfe", other: null } }
      assert.include(yield* answerTo("prompts/get", prompt), "Investigate run gr\u00fc\u00dfe")
      const listed = yield* answerTo("tools/list", { cursor: null })
      assert.include(listed, '"additionalProperties":false')
      const called = yield* answerTo("tools/call", { name: "run_get", arguments: null })
      assert.include(called, "runId")
    }).pipe(Effect.provide(nowhere))
  )
})
