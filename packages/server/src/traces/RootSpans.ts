import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/** The span of a caller, as the W3C trace context describes it: 32 and 16 hexadecimal digits. */
export interface CallerSpan {
  readonly traceId: string
  readonly spanId: string
  /** Whether its trace is recorded. */
  readonly sampled: boolean
}

/** The ids of a run's span, stored with the run when it was created: 32 and 16 hexadecimal digits. */
export interface RootSpanIds {
  readonly traceId: string
  readonly spanId: string
  /** The span of the request for the run; it is of the same trace. */
  readonly caller: CallerSpan | undefined
}

/**
 * Spans that outlive the process. Unless a layer provides a recording tracer, they are dropped and there is no caller.
 */
export const RootSpans = Context.Reference<{
  /**
   * Starts a span under the ids given, `startTime` in Unix nanoseconds. A tracer chooses the ids of its spans itself; a
   * run's span has its ids before there is a span. One that is never ended is never exported, so starting one also
   * returns whether the sampler wants the trace.
   */
  readonly start: (name: string, ids: RootSpanIds, startTime: bigint) => Tracer.Span
  /** The given span as the parent of what outlives it; undefined for one that this service does not record. */
  readonly callerOf: (span: Tracer.AnySpan) => CallerSpan | undefined
}>("runplane/server/RootSpans", {
  defaultValue: () => ({
    start: (name, ids, startTime) =>
      Object.defineProperties(new Tracer.NativeSpan({ ...rootOptions(name, ids, startTime), sampled: false }), {
        traceId: { value: ids.traceId },
        spanId: { value: ids.spanId }
      }),
    callerOf: () => undefined
  })
})

/** The options of a span without a parent, or below the span of a caller. */
export const rootOptions = (
  name: string,
  { caller }: RootSpanIds,
  startTime: bigint
): Parameters<Tracer.Tracer["span"]>[0] => ({
  name,
  parent: caller === undefined ? Option.none() : Option.some(Tracer.externalSpan(caller)),
  annotations: Context.empty(),
  links: [],
  startTime,
  kind: "internal",
  root: caller === undefined,
  sampled: true
})
