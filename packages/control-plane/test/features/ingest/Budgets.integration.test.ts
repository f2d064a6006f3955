import { request as httpRequest } from "node:http"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { baseUrl, call, layerTestService } from "../../support/HttpService.ts"
import { exportOf, post, span } from "./support/Exports.ts"

const tracesOf = (first: number, count: number) =>
  exportOf(Array.from({ length: count }, (_, index) => span({ trace: first + index, span: 1 })))

const partial = (text: string) => JSON.parse(text).partialSuccess

layer(layerTestService({ settings: { OTLP_NEW_TRACES_PER_MINUTE: "20", OTLP_TRACES_PER_REQUEST: "15" } }), {
  excludeTestServices: true
})("a source with a budget of 20 new traces a minute, and 15 in a request", (it) => {
  it.effect("rejects the spans of further traces of a request, and receives the others", () =>
    Effect.gen(function* () {
      const answer = yield* post(tracesOf(1, 18))
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(partial(answer.text), {
        rejectedSpans: "3",
        errorMessage: "a request has more than 15 traces"
      })
    })
  )

  it.effect("gets 429 with the time after which it sends again, and may continue its traces", () =>
    Effect.gen(function* () {
      for (const headers of [{}, { "content-type": "application/x-protobuf" }]) {
        const body = "content-type" in headers ? protobufOf(100, 6) : tracesOf(100, 6)
        const refused = yield* post(body, { headers })
        assert.strictEqual(refused.status, 429)
        assert.isTrue(Number(refused.headers.get("retry-after")) > 5, refused.headers.get("retry-after") ?? "absent")
        assert.include(refused.text, "20 new traces")
      }
      assert.strictEqual((yield* post(tracesOf(1, 15))).status, 200)
      assert.strictEqual((yield* post(tracesOf(100, 5))).status, 200)
    })
  )

  it.effect("is listed with what waits of it, for operators", () =>
    Effect.gen(function* () {
      yield* post(exportOf([span({ trace: 1, span: 2, parent: 9 })]))
      const { body } = yield* until(call("GET", "/admin/ingest"), (answer) => answer.body.data.length === 1)
      const [source] = body.data
      assert.strictEqual(source.source, "anonymous")
      assert.isAbove(source.waiting, 0)
      assert.isAbove(source.waitingBytes, 0)
      assert.isAtLeast(source.lagSeconds, 0)
      const { text } = yield* call("GET", "/metrics")
      assert.match(text, /otlp_source_lag_seconds\{source="anonymous"\}/)
    })
  )
})

layer(layerTestService({ settings: { OTLP_EXPORT_LIMIT: "5" } }), { excludeTestServices: true })(
  "a client with a budget of five exports",
  (it) => {
    it.effect("gets 429 when it is spent: a large body counts for each of its parts", () =>
      Effect.gen(function* () {
        const large = { ...exportOf([span({ trace: 1, span: 1 })]), unknown: "x".repeat(50_000) }
        assert.strictEqual((yield* post(large)).status, 200)
        assert.strictEqual((yield* post(tracesOf(2, 1))).status, 200)
        const refused = yield* post(tracesOf(3, 1))
        assert.strictEqual(refused.status, 429)
        assert.strictEqual(refused.headers.get("retry-after"), "60")
      })
    )
  }
)

/** Spans of traces in protobuf, with nothing but their ids. */
const protobufOf = (first: number, count: number): Uint8Array<ArrayBuffer> => {
  const field = (number: number, content: Uint8Array) => [number * 8 + 2, content.length, ...content]
  const spans = Array.from({ length: count }, (_, index) => {
    const { spanId, traceId } = span({ trace: first + index, span: 1 })
    const ids = [...field(1, Buffer.from(traceId, "hex")), ...field(2, Buffer.from(spanId, "hex"))]
    return field(2, Uint8Array.from(ids))
  }).flat()
  // 102 bytes at most: each length has one or two bytes.
  const lengthOf = (bytes: ReadonlyArray<number>) =>
    bytes.length < 128 ? [bytes.length] : [(bytes.length % 128) + 128, Math.floor(bytes.length / 128)]
  const scoped = [18, ...lengthOf(spans), ...spans]
  return Uint8Array.from([10, ...lengthOf(scoped), ...scoped])
}

/** A request of a caller in this network whose body does not arrive. */
const silent = Effect.fnUntraced(function* (url: string, address: string) {
  const sent = httpRequest(`${url}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": "1000", "x-forwarded-for": address }
  })
  sent.on("error", () => undefined)
  yield* Effect.addFinalizer(() => Effect.sync(() => sent.destroy()))
  sent.write("{")
})

layer(layerTestService({ settings: { TRUST_PROXY: "1" } }), { excludeTestServices: true })(
  "a caller whose bodies do not arrive",
  (it) => {
    it.effect("leaves slots of the receiver for another one", () =>
      Effect.gen(function* () {
        const url = yield* baseUrl
        for (let sent = 0; sent < 40; sent++) yield* silent(url, "203.0.113.1")
        // They have their slots, or wait, when the process has answered the request after them.
        yield* call("GET", "/livez")
        const answer = yield* Effect.timeoutOption(
          post(tracesOf(1, 1), { headers: { "x-forwarded-for": "198.51.100.7" } }),
          "10 seconds"
        )
        assert.strictEqual(Option.getOrUndefined(answer)?.status, 200)
      }).pipe(Effect.scoped)
    )
  }
)
