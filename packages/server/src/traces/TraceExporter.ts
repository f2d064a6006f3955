import { ConsoleSpanExporter, type SpanExporter } from "@opentelemetry/sdk-trace"
import * as Effect from "effect/Effect"
import { readSettings, type SettingsRefused } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"

/** Where a collector on the same machine takes OTLP: over HTTP, and over gRPC. */
const DEFAULT_HTTP_ENDPOINT = "http://localhost:4318"
const DEFAULT_GRPC_ENDPOINT = "http://localhost:4317"

/** The variables of OpenTelemetry that choose the exporter; all others are read by the SDK itself. */
const settings = {
  exporters: ServiceSettings.OTEL_TRACES_EXPORTER,
  protocol: ServiceSettings.OTEL_EXPORTER_OTLP_PROTOCOL,
  tracesProtocol: ServiceSettings.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL,
  endpoint: ServiceSettings.OTEL_EXPORTER_OTLP_ENDPOINT,
  tracesEndpoint: ServiceSettings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
}

/**
 * The exporters that `OTEL_TRACES_EXPORTER` names, separated by commas: `otlp` (the default), `console`, `none`. OTLP
 * uses the protocol of `OTEL_EXPORTER_OTLP_PROTOCOL`: `http/protobuf` (the default), `http/json` or `grpc`. An unknown
 * name is a warning, as the OpenTelemetry specification requires, and exports nothing. Exporters load on first use.
 */
export const traceExporters: Effect.Effect<ReadonlyArray<SpanExporter>, SettingsRefused> = Effect.gen(function* () {
  const { endpoint, exporters, protocol, tracesEndpoint, tracesProtocol } = yield* readSettings(settings)
  const names = [...new Set(exporters.split(",").map((name) => name.trim()))].filter((name) => name !== "none")
  const chosen = yield* Effect.forEach(names, (name) => {
    if (name === "otlp") return otlpExporter(tracesProtocol || protocol, { endpoint, tracesEndpoint })
    if (name === "console") return Effect.sync((): SpanExporter | undefined => new ConsoleSpanExporter())
    return Effect.as(
      Effect.logWarning(`OTEL_TRACES_EXPORTER: "${name}" is not known; traces are not exported to it`),
      undefined
    )
  })
  return chosen.filter((exporter) => exporter !== undefined)
})

interface Endpoints {
  /** Of all signals: over HTTP the path of traces is added to it. */
  readonly endpoint: string
  /** Of traces, taken as it is. */
  readonly tracesEndpoint: string
}

const otlpExporter = (protocol: string, { endpoint, tracesEndpoint }: Endpoints) => {
  const overHttp = { url: tracesEndpoint || `${(endpoint || DEFAULT_HTTP_ENDPOINT).replace(/\/+$/, "")}/v1/traces` }
  return Effect.gen(function* (): Effect.fn.Return<SpanExporter | undefined> {
    switch (protocol) {
      case "http/protobuf": {
        const { OTLPTraceExporter } = yield* Effect.promise(() => import("@opentelemetry/exporter-trace-otlp-proto"))
        return new OTLPTraceExporter(overHttp)
      }
      case "http/json": {
        const { OTLPTraceExporter } = yield* Effect.promise(() => import("@opentelemetry/exporter-trace-otlp-http"))
        return new OTLPTraceExporter(overHttp)
      }
      case "grpc": {
        const { OTLPTraceExporter } = yield* Effect.promise(() => import("@opentelemetry/exporter-trace-otlp-grpc"))
        return new OTLPTraceExporter({ url: tracesEndpoint || endpoint || DEFAULT_GRPC_ENDPOINT })
      }
      default:
        yield* Effect.logWarning(`OTEL_EXPORTER_OTLP_PROTOCOL: "${protocol}" is not known; traces are not exported`)
        return undefined
    }
  })
}
