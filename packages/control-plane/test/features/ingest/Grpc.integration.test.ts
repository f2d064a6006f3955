import { connect } from "node:http2"
import { createServer } from "node:net"
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { assert, describe, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { spanIdOf, traceIdOf } from "./support/Exports.ts"
import { exportBy, freePort, grpcClient, partialOf } from "./support/GrpcCalls.ts"

const LIMIT = 100_000
const settings = {
  OTLP_SETTLE_MS: "300",
  OTLP_MAX_BODY_BYTES: String(LIMIT),
  AUTH_API_KEYS: "sender,reader,admin",
  AUTH_API_KEY_NAMES: "sender,reader,admin",
  AUTH_API_KEY_ROLES: "ingest,viewer,admin"
}
const SENDER = { "x-api-key": "sender" }
const ADMIN = { headers: { "x-api-key": "admin" } }

const field = (number: number, bytes: Uint8Array) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish()
const textField = (number: number, text: string) => field(number, Buffer.from(text))
const attribute = (name: string, value: string, number = 9) =>
  field(number, Buffer.concat([textField(1, name), field(2, textField(1, value))]))
const time = (number: number, ms: number) =>
  new BinaryWriter()
    .tag(number, WireType.Bit64)
    .fixed64(BigInt(ms) * 1_000_000n)
    .finish()

/** A trace of one agent, as protobuf. */
const traceOf = (trace: number, { padding = "", traceId = traceIdOf(trace) } = {}) => {
  const now = Date.now()
  const span = Buffer.concat([
    field(1, Buffer.from(traceId, "hex")),
    field(2, Buffer.from(spanIdOf(1), "hex")),
    textField(5, "invoke_agent lead"),
    time(7, now - 1_000),
    time(8, now),
    attribute("gen_ai.operation.name", "invoke_agent"),
    attribute("gen_ai.agent.name", "lead"),
    attribute("padding", padding)
  ])
  return field(1, Buffer.concat([field(1, attribute("service.name", "shop", 1)), field(2, field(2, span))]))
}

const ended = (trace: number) =>
  until(call("GET", `/runs/${runOfKey("sender", traceIdOf(trace))}`, ADMIN), ({ body }) => body.status === "completed")

/** A test with a service of its own that receives gRPC on a free port. */
const withGrpc = <A, E>(
  test: (port: number) => Effect.Effect<A, E, Layer.Success<ReturnType<typeof layerTestService>> | Scope.Scope>
) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const service = layerTestService({ settings: { ...settings, OTLP_GRPC_PORT: String(port) } })
    return yield* Effect.scoped(test(port)).pipe(Effect.provide(service))
  })

describe("exports by gRPC", () => {
  it.live("become runs, also compressed, and have partial answers", () =>
    withGrpc((port) =>
      Effect.gen(function* () {
        const client = yield* grpcClient(port)
        assert.deepInclude(yield* exportBy(client, traceOf(1), SENDER), { code: 0, message: "", body: Buffer.alloc(0) })
        yield* ended(1)
        const compressing = yield* grpcClient(port, "Trace", true)
        assert.strictEqual((yield* exportBy(compressing, traceOf(2, { padding: "x".repeat(300_000) }), SENDER)).code, 0)
        yield* ended(2)
        const bearer = { authorization: "Bearer sender" }
        const zeros = yield* exportBy(client, traceOf(3, { traceId: "0".repeat(32) }), bearer)
        assert.deepStrictEqual(partialOf(zeros.body), [1, "a span has no valid trace id"])
        const logs = yield* grpcClient(port, "Logs")
        assert.strictEqual((yield* exportBy(logs, new Uint8Array(), SENDER)).code, 0)
        const metrics = yield* grpcClient(port, "Metrics")
        assert.include(partialOf((yield* exportBy(metrics, new Uint8Array(), SENDER)).body)[1], "not metrics")
        const { body } = yield* call("GET", "/readyz")
        assert.strictEqual(body.ingest.grpc, `127.0.0.1:${port}`)
      })
    )
  )

  it.live("have the keys and the bounds of those by HTTP, and codes that clients know", () =>
    withGrpc((port) =>
      Effect.gen(function* () {
        const client = yield* grpcClient(port)
        const missing = yield* exportBy(client, traceOf(1))
        assert.deepInclude(missing, { code: 16, message: "Missing Authorization header" })
        assert.strictEqual((yield* exportBy(client, traceOf(1), { "x-api-key": "wrong" })).code, 16)
        const reader = yield* exportBy(client, traceOf(1), { "x-api-key": "reader" })
        assert.strictEqual(reader.code, 7)
        assert.include(reader.message, "ingest")
        const large = yield* exportBy(client, traceOf(1, { padding: "x".repeat(2 * LIMIT) }), SENDER)
        assert.strictEqual(large.code, 8)
        assert.include(large.message, "larger than")
        assert.isUndefined(large.details)
        const bad = yield* exportBy(client, Buffer.from("not a message"), SENDER)
        assert.strictEqual(bad.code, 3)
        assert.strictEqual((yield* exportBy(client, traceOf(4), SENDER)).code, 0)
        const { text } = yield* call("GET", "/metrics", ADMIN)
        assert.match(text, /otlp_too_large_total\{[^}]*source="sender"[^}]*\} 1/)
      })
    )
  )

  it.live("are refused for another try with the time of it when the span inbox is full", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const full = { OTLP_GRPC_PORT: String(port), OTLP_INBOX_BYTES: "65536", OTLP_SETTLE_MS: "3600000" }
      yield* Effect.gen(function* () {
        const client = yield* grpcClient(port)
        const send = (trace: number) => exportBy(client, traceOf(trace, { padding: "x".repeat(16_000) }), SENDER)
        let last = yield* send(1)
        for (let trace = 2; trace < 40 && last.code === 0; trace++) last = yield* send(trace)
        assert.strictEqual(last.code, 14)
        assert.include(last.details?.toString("latin1"), "google.rpc.RetryInfo")
      }).pipe(Effect.scoped, Effect.provide(layerTestService({ settings: { ...settings, ...full } })))
    })
  )

  it.live("that are not calls of gRPC leave the service alone", () =>
    withGrpc((port) =>
      Effect.gen(function* () {
        const answers = yield* Effect.promise(() => rawCalls(port))
        assert.deepStrictEqual(answers, [
          ["a foreign method", "12"],
          ["no message", "3"],
          ["half a message", "3"],
          ["two messages", "3"],
          ["a foreign compression", "3"],
          ["another type", "3"]
        ])
        const client = yield* grpcClient(port)
        assert.strictEqual((yield* exportBy(client, traceOf(5), SENDER)).code, 0)
      })
    )
  )

  it.live("on a port that is in use stop the service when the port is set", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const taken = createServer()
      yield* Effect.promise(() => new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve)))
      const service = layerTestService({ settings: { ...settings, OTLP_GRPC_PORT: String(port) } })
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(service)))
      assert.include(String(failure), `the receiver of gRPC cannot listen on 127.0.0.1:${port}: the port is in use`)
      taken.close()
    })
  )
})

const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

/** Calls that no library of gRPC makes, and their codes. */
const rawCalls = async (port: number): Promise<ReadonlyArray<readonly [string, string]>> => {
  const session = connect(`http://127.0.0.1:${port}`)
  const prefixed = (bytes: Uint8Array, flag = 0) => {
    const prefix = Buffer.from([flag, 0, 0, 0, 0])
    prefix.writeUInt32BE(bytes.length, 1)
    return Buffer.concat([prefix, bytes])
  }
  const message = prefixed(traceOf(1))
  const call = (bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
    new Promise<string>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": EXPORT,
        "content-type": "application/grpc",
        "x-api-key": "sender",
        ...headers
      })
      let code = ""
      const found = (fields: { readonly [name: string]: unknown }) => (code ||= String(fields["grpc-status"] ?? ""))
      stream.on("response", found).on("trailers", found).on("error", reject)
      stream.on("close", () => resolve(code)).resume()
      stream.end(bytes)
    })
  const calls = [
    ["a foreign method", call(message, { ":path": "/other.Service/Export" })],
    ["no message", call(new Uint8Array())],
    ["half a message", call(message.subarray(0, message.length - 5))],
    ["two messages", call(Buffer.concat([message, message]))],
    ["a foreign compression", call(prefixed(Buffer.from("x"), 1), { "grpc-encoding": "snappy" })],
    ["another type", call(message, { "content-type": "text/plain" })]
  ] as const
  const answers = await Promise.all(calls.map(async ([what, code]) => [what, await code] as const))
  session.close()
  return answers
}
