import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import * as Resource from "@effect/opentelemetry/Resource"
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from "@opentelemetry/sdk-trace-base"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as UrlParams from "effect/http/UrlParams"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { type RootSpanIds, RootSpans, rootOptions } from "../../log/runs/RootSpans.ts"
import { traceExporters } from "./TraceExporter.ts"

/** Parameters of a query whose values no span shows: a ticket, or a key that somebody sent in the wrong place. */
const SECRET_NAME = /ticket|key|token|secret|sig|auth|password|credential/i

const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"])

/** How long the last spans may take on their way to the collector when the service stops. */
const FLUSH_TIMEOUT = Duration.seconds(3)

/**
 * Runs and requests are what somebody wants to look at. Work that belongs to neither, such as polls and group commits,
 * would make a trace of its own every few milliseconds, so it is not recorded. A parent that another tracer made (of a
 * process that holds more than this service) is none: nobody ever sees it.
 */
const runsAndRequestsOnly = (tracer: Tracer.Tracer): Tracer.Tracer => {
  const ours = new WeakSet<Tracer.AnySpan>()
  const spanOf = (options: Parameters<Tracer.Tracer["span"]>[0]): Tracer.Span => {
    const parent = Option.filter(options.parent, (span) => span._tag === "ExternalSpan" || ours.has(span))
    const background = Option.isNone(parent) && !options.root && options.kind !== "server"
    const wanted = options.sampled && !background && Option.getOrElse(Option.map(parent, isSampled), () => true)
    return wanted ? tracer.span({ ...options, parent }) : new Tracer.NativeSpan({ ...options, parent, sampled: false })
  }
  return Tracer.make({
    span: (options) => {
      const span = spanOf(options)
      ours.add(span)
      return span
    },
    context: tracer.context
  })
}

const isSampled = ({ sampled }: Tracer.AnySpan) => sampled

/** The SDK's own ids, but for a span that has had its ids before. */
const makeIds = () => {
  const random = new RandomIdGenerator()
  let chosen: RootSpanIds | undefined
  return {
    generator: {
      generateTraceId: () => chosen?.traceId ?? random.generateTraceId(),
      generateSpanId: () => chosen?.spanId ?? random.generateSpanId()
    },
    withIds: <A>(ids: RootSpanIds, start: () => A): A => {
      chosen = ids
      try {
        return start()
      } finally {
        chosen = undefined
      }
    }
  }
}

/**
 * The OpenTelemetry SDK: its sampler, limits and batches follow the standard `OTEL_*` variables. What has not been
 * exported yet goes out when the scope closes.
 */
export const layerRecording = (serviceName: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const exporters = yield* traceExporters
      const resource = yield* Resource.Resource
      const ids = makeIds()
      const provider = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new BasicTracerProvider({
              resource,
              idGenerator: ids.generator,
              spanProcessors: exporters.map((exporter) => new BatchSpanProcessor(exporter))
            })
        ),
        (open) =>
          Effect.tryPromise(() => open.shutdown()).pipe(
            Effect.tapError((error) => Effect.logWarning("the last spans could not be exported", error.cause)),
            Effect.ignore,
            Effect.timeoutOption(FLUSH_TIMEOUT)
          )
      )
      const tracer = yield* OtelTracer.make.pipe(
        Effect.provideService(OtelTracer.OtelTracer, provider.getTracer(serviceName))
      )
      const roots = RootSpans.of({
        start: (name, rootIds, startTime) => ids.withIds(rootIds, () => tracer.span(rootOptions(name, startTime)))
      })
      return Layer.mergeAll(
        Layer.succeed(Tracer.Tracer, runsAndRequestsOnly(tracer)),
        Layer.succeed(RootSpans, roots),
        Layer.succeed(HttpMiddleware.TracerDisabledWhen, ({ url }) => PROBES.has(url)),
        Layer.succeed(UrlParams.CurrentRedactedNames, [SECRET_NAME])
      )
    })
  ).pipe(Layer.provide(Resource.layerFromEnv(Resource.configToAttributes({ serviceName }))))
