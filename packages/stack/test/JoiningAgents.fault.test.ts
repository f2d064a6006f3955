import { assert, layer } from "@effect/vitest"
import { freePorts, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { startServing } from "./support/StackRuns.ts"

const operator = { headers: { "x-api-key": "operator-key", "content-type": "application/json" } }
const SCENARIO = "incident/region-failover@1.0.0"

/** A stack with keys, whose example agents export to its control plane with a key that may only send. */
const startExporting = Effect.gen(function* () {
  const [controlPlane = 0] = yield* freePorts(1)
  return yield* startServing({
    CONTROL_PLANE_PORT: String(controlPlane),
    OTLP_GRPC_PORT: "0",
    AUTH_API_KEYS: "operator-key,agents-key",
    AUTH_API_KEY_NAMES: "operator,agents",
    AUTH_API_KEY_ROLES: "admin,ingest",
    OTLP_SETTLE_MS: "500",
    HOST_ENV_ALLOW: "OTEL_EXPORTER_OTLP_ENDPOINT,OTEL_EXPORTER_OTLP_HEADERS",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${controlPlane}`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=agents-key"
  }).pipe(Effect.map((stack) => ({ ...stack, controlPlane: `http://127.0.0.1:${controlPlane}` })))
})

layer(Layer.empty, { excludeTestServices: true })(
  "example agents that export spans with a key of the role ingest",
  (it) => {
    it.effect("join the run of a launch with telemetry by its token, and have runs of their own without it", () =>
      Effect.gen(function* () {
        const { controlPlane, ports } = yield* startExporting
        const launch = Effect.fnUntraced(function* (more: object) {
          const { body, status, text } = yield* request("POST", `http://127.0.0.1:${ports.launcher}/examples/run`, {
            body: { scenarioRef: SCENARIO, inputs: {}, bootstrapAgents: true, ...more },
            ...operator
          })
          assert.strictEqual(status, 201, text)
          const run: string = body.controlPlaneRun.runId
          yield* until(
            request("GET", `${controlPlane}/runs/${run}`, operator),
            (answer) => answer.body.status === "completed"
          )
          return run
        })
        const callsOf = (run: string) =>
          Effect.map(
            request("GET", `${controlPlane}/runs/${run}/events?type=llm.call.completed&limit=200`, operator),
            ({ body }) => body.data.filter(({ source }: { source: { name: string } }) => source.name === "otlp")
          )
        const linked = (run: string) =>
          Effect.map(
            request("GET", `${controlPlane}/runs?q=${encodeURIComponent(`metadata.linkedSession:${run}`)}`, operator),
            ({ body }) => body.total
          )

        const joined = yield* launch({ telemetry: { sources: [] } })
        yield* until(callsOf(joined), (calls) => calls.length === 4)
        assert.strictEqual(yield* linked(joined), 0)

        const apart = yield* launch({})
        yield* until(linked(apart), (runs) => runs === 4)
        assert.lengthOf(yield* callsOf(apart), 0)
      })
    )
  }
)
