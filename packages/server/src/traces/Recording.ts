import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import * as Resource from "@effect/opentelemetry/Resource"
import { resourceFromAttributes } from "@opentelemetry/resources"
import { RandomIdGenerator, TracerProvider } from "@opentelemetry/sdk-trace"
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions"
import { RUNPLANE_VERSION } from "@runplane/api"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { readSettings } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { RequestSpanName } from "./RequestSpanName.ts"
import { type CallerSpan, type RootSpanIds, RootSpans, rootOptions } from "./RootSpans.ts"
import { type Counts, SpanCounts } from "./SpanCounts.ts"
import { makeSpanExport } from "./SpanExport.ts"
import { traceExporters } from "./TraceExporter.ts"
import { traceSampler } from "./TraceSampler.ts"

const limits = {
  attributeValueLengthLimit: ServiceSettings.OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT,
  attributeCountLimit: ServiceSettings.OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT,
  eventCountLimit: ServiceSettings.OTEL_SPAN_EVENT_COUNT_LIMIT,
  linkCountLimit: ServiceSettings.OTEL_SPAN_LINK_COUNT_LIMIT,
  attributePerEventCountLimit: ServiceSettings.OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT,
  attributePerLinkCountLimit: ServiceSettings.OTEL_LINK_ATTRIBUTE_COUNT_LIMIT
}

/** Parameters of a query whose values no span shows: a ticket, or a key that was sent as a parameter. */
const SECRET_NAME = /ticket|key|token|secret|sig|auth|password|credential/i

const PROBES: ReadonlySet<string> = new Set(["/livez", "/healthz", "/readyz", "/metrics"])

const isProbe = ({ url }: HttpServerRequest) => PROBES.has(url.split("?", 1)[0] ?? url)

/**
 * Only runs and requests are recorded. Work that belongs to neither, such as polls and group commits,
 * would make a trace of its own every few milliseconds, so it is not recorded. A parent that another tracer made (of a
 * process that holds more than this service) does not count: it is never exported.
 */
const runsAndRequestsOnly = (tracer: Tracer.Tracer) => {
  const ours = new WeakSet<Tracer.AnySpan>()
  const spanOf = (options: Parameters<Tracer.Tracer["span"]>[0]): Tracer.Span => {
    const parent = Option.filter(options.parent, (span) => span._tag === "ExternalSpan" || ours.has(span))
    const background = Option.isNone(parent) && !options.root && options.kind !== "server"
    const wanted = options.sampled && !background && Option.getOrElse(Option.map(parent, isSampled), () => true)
    return wanted ? tracer.span({ ...options, parent }) : new Tracer.NativeSpan({ ...options, parent, sampled: false })
  }
  return {
    isOurs: (span: Tracer.AnySpan) => ours.has(span),
    tracer: Tracer.make({
      span: (options) => {
        const span = spanOf(options)
        ours.add(span)
        return span
      },
      context: tracer.context
    })
  }
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/

/** The ids of a trace that is not recorded come from its caller and may be invented. */
const callerOf = ({ sampled, spanId, traceId }: Tracer.AnySpan): CallerSpan | undefined =>
  TRACE_ID.test(traceId) && SPAN_ID.test(spanId) ? { traceId, spanId, sampled } : undefined

const nameRequestSpan = (name: string) =>
  OtelTracer.currentOtelSpan.pipe(
    Effect.map((span) => span.updateName(name)),
    // A request of which no span is made.
    Effect.ignore
  )

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
 * The OpenTelemetry SDK: its sampler, limits and batches are settings, with the names of its variables.
 * The remaining spans are exported when the scope closes, which waits at most `FLUSH_TIMEOUT`.
 */
export const layerRecording = (serviceName: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const counts: Counts = { exported: 0, dropped: 0 }
      const exports = yield* Effect.forEach(yield* traceExporters, (exporter) => makeSpanExport(exporter, counts))
      const resource = yield* resourceOf(serviceName)
      const ids = makeIds()
      const sampler = yield* traceSampler
      const spanLimits = yield* readSettings(limits)
      const provider = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new TracerProvider({
              resource,
              idGenerator: ids.generator,
              sampler,
              spanLimits,
              spanProcessors: exports.map(({ processor }) => processor)
            })
        ),
        () => Effect.forEach(exports, ({ stop }) => stop, { concurrency: "unbounded", discard: true })
      )
      const tracer = yield* OtelTracer.make.pipe(
        Effect.provideService(OtelTracer.OtelTracer, provider.getTracer(serviceName, RUNPLANE_VERSION))
      )
      const { isOurs, tracer: recording } = runsAndRequestsOnly(tracer)
      const roots = RootSpans.of({
        start: (name, rootIds, startTime) =>
          ids.withIds(rootIds, () => tracer.span(rootOptions(name, rootIds, startTime))),
        callerOf: (span) => (isOurs(span) ? callerOf(span) : undefined)
      })
      return Layer.mergeAll(
        Layer.succeed(Tracer.Tracer, recording),
        // A process that holds more than this service may have turned it off for the rest.
        Layer.succeed(References.TracerEnabled, true),
        Layer.succeed(RootSpans, roots),
        Layer.succeed(SpanCounts, counts),
        Layer.succeed(RequestSpanName, nameRequestSpan),
        Layer.succeed(HttpMiddleware.TracerDisabledWhen, isProbe),
        Layer.succeed(UrlParams.CurrentRedactedNames, [SECRET_NAME])
      )
    })
  )

/**
 * What is said of the service with every span: its name, version, and an id of this process, which
 * `OTEL_RESOURCE_ATTRIBUTES` may choose.
 */
const resourceOf = Effect.fnUntraced(function* (serviceName: string) {
  const random = yield* SecureRandom.SecureRandom
  const own = resourceFromAttributes({
    [ATTR_SERVICE_VERSION]: RUNPLANE_VERSION,
    [ATTR_SERVICE_INSTANCE_ID]: yield* random.uuidV4()
  })
  const given = yield* Resource.Resource.pipe(
    Effect.provide(Resource.layerFromEnv({ [ATTR_SERVICE_NAME]: serviceName }))
  )
  return own.merge(given)
}, Effect.provide(SecureRandom.layerWebCrypto))
