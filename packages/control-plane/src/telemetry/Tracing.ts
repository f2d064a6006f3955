import { OutgoingTraceState } from "@runplane/runtime"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { DEFAULT_OTLP_ENDPOINT, tracingSettings } from "./TracingSettings.ts"

/** The W3C `tracestate` of every runtime call: who made it. */
const TRACE_STATE = "runplane=control-plane"

const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"])

/** What a standard exporter assumes where nothing is said. */
const exporterDefaults = ConfigProvider.layerAdd(
  ConfigProvider.fromEnv({ env: { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_ENDPOINT: DEFAULT_OTLP_ENDPOINT } })
)

/**
 * Runs and requests are what somebody wants to look at. Work that belongs to neither, such as polls and group commits, would make a
 * trace of its own every few milliseconds, so it is not recorded. A parent that another tracer made (of a process that holds
 * more than this service) is none: nobody ever sees it.
 */
const runsAndRequestsOnly = Layer.effect(
  Tracer.Tracer,
  Effect.map(Effect.tracer, (tracer) => {
    const ours = new WeakSet<Tracer.AnySpan>()
    return Tracer.make({
      span: (options) => {
        const parent = Option.filter(options.parent, (span) => span._tag === "ExternalSpan" || ours.has(span))
        const background = Option.isNone(parent) && !options.root && options.kind !== "server"
        const span = tracer.span({ ...options, parent, sampled: options.sampled && !background })
        ours.add(span)
        return span
      },
      context: tracer.context
    })
  })
)

/**
 * How spans are recorded (run-control-plane "Trace spans"). With `OTEL_ENABLED` they go to the collector as OTLP over HTTP, for
 * which `effect/observability` needs no OpenTelemetry packages; without it the tracer is off altogether, and a span costs next to
 * nothing. To be provided around everything else.
 */
export const layerTracing = Layer.unwrap(
  Effect.gen(function* () {
    const { enabled, serviceName } = yield* tracingSettings
    if (!enabled) return Layer.succeed(References.TracerEnabled, false)
    const exporter = OtlpTracer.layerFromConfig({ resource: { serviceName } }).pipe(
      Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer, exporterDefaults])
    )
    return Layer.mergeAll(
      runsAndRequestsOnly.pipe(Layer.provide(exporter)),
      Layer.succeed(HttpMiddleware.TracerDisabledWhen, ({ url }) => PROBES.has(url))
    )
  })
).pipe(Layer.merge(Layer.succeed(OutgoingTraceState, TRACE_STATE)))
