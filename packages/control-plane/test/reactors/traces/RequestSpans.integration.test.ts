import { assert, it } from "@effect/vitest"
import { otlpCollector } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracing from "../../../src/reactors/traces/Tracing.ts"
import { call, layerTestService } from "../../support/HttpService.ts"

const TRACE_ID = "9f2d0c7be1a94d0f8f6d1d2a3b4c5d6e"

it.live("a request is a span, in the trace of its caller when it names one; probes are none", () =>
  Effect.gen(function* () {
    const collector = yield* otlpCollector
    const env = {
      OTEL_ENABLED: "yes",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json"
    }
    const service = layerTestService({ settings: env }).pipe(
      Layer.provide(Tracing.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))))
    )
    yield* Effect.gen(function* () {
      const headers = { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`, authorization: "Bearer secret" }
      yield* call("GET", "/runs?limit=1&ticket=secret&api_key=secret", { headers })
      yield* call("GET", "/runs/5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")
      for (const probe of ["/healthz", "/readyz", "/metrics"]) yield* call("GET", probe)
      const { text } = yield* call("GET", "/metrics")
      for (const outcome of ["exported", "dropped"]) {
        assert.include(text, `runplane_trace_spans_total{outcome="${outcome}"} 0`)
      }
    }).pipe(Effect.provide(service), Effect.scoped)

    const requests = collector.spans.filter(({ attributes }) => attributes["http.request.method"] !== undefined)
    assert.deepStrictEqual(
      requests.map(({ attributes }) => [attributes["url.path"], attributes["http.response.status_code"]]),
      [
        ["/runs", 200],
        ["/runs/5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10", 404]
      ]
    )
    assert.strictEqual(requests[0]?.traceId, TRACE_ID)
    assert.strictEqual(requests[0]?.parentSpanId, "00f067aa0ba902b7")
    assert.strictEqual(requests[0]?.service, "run-control-plane")
    assert.notInclude(JSON.stringify(collector.spans), "secret")
  }).pipe(Effect.scoped)
)
