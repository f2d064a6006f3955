import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import { Bootstrap } from "./Bootstrap.ts"

/** Milliseconds that the last export may take: the host waits for the process. */
const LAST_EXPORT_MS = 2_000

const SESSION = "macp.session.id"

const endpoint = Config.URL("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").pipe(
  Config.orElse(() =>
    Config.map(Config.URL("OTEL_EXPORTER_OTLP_ENDPOINT"), (url) => {
      url.pathname += url.pathname.endsWith("/") ? "v1/traces" : "/v1/traces"
      return url
    })
  ),
  Config.withDefault(undefined)
)

const headers = Config.String("OTEL_EXPORTER_OTLP_TRACES_HEADERS").pipe(
  Config.orElse(() => Config.String("OTEL_EXPORTER_OTLP_HEADERS")),
  Config.withDefault("")
)

/**
 * Exports the spans of the agent with OTLP over HTTP when the environment has `OTEL_EXPORTER_OTLP_ENDPOINT` (or the one
 * of traces), with `OTEL_EXPORTER_OTLP_HEADERS` and the entry that `otlp_headers` of the bootstrap file adds to them:
 * the token that lets the spans join the run of the session (docs/reference/ingest.md#tokens). Without an endpoint it
 * exports nothing. A receiver that is away never fails the agent.
 */
export const layer: Layer.Layer<never, never, Bootstrap> = Layer.unwrap(
  Effect.gen(function* () {
    const bootstrap = yield* Bootstrap
    const url = yield* endpoint
    if (url === undefined) return Layer.empty
    const { participant_id: participant, session_id: sessionId } = bootstrap
    return OtlpTracer.layer({
      url: url.toString(),
      headers: headersOf([yield* headers, bootstrap.otlp_headers ?? ""].join(",")),
      resource: { serviceName: participant, attributes: { [SESSION]: sessionId } },
      shutdownTimeout: LAST_EXPORT_MS
    }).pipe(Layer.provide([NodeHttpClient.layerNodeHttp, OtlpSerialization.layerJson]))
  }).pipe(
    Effect.catchTag("ConfigError", ({ message }) =>
      Effect.as(Effect.logWarning(`the agent exports no spans: ${message}`), Layer.empty)
    )
  )
)

/** The headers of `name=value,name=value`, whose values are percent-encoded; a later one replaces an earlier one. */
export const headersOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").flatMap((entry) => {
      const at = entry.indexOf("=")
      const name = entry.slice(0, Math.max(at, 0)).trim()
      return name === "" ? [] : [[name.toLowerCase(), decoded(entry.slice(at + 1).trim())]]
    })
  )

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
