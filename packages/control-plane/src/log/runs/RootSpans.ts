import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/** The ids of a run's root span, stored with the run when it was created: 32 and 16 hexadecimal digits. */
export interface RootSpanIds {
  readonly traceId: string
  readonly spanId: string
}

/**
 * Starts a span without a parent under the ids given, `startTime` in Unix nanoseconds. A tracer chooses the ids of its
 * spans itself; a run's root span has its ids before there is a span. One that is never ended is never exported, so
 * starting one also tells whether the sampler wants the trace.
 *
 * Unless a layer provides a recording tracer, the span goes nowhere.
 */
export const RootSpans = Context.Reference<{
  readonly start: (name: string, ids: RootSpanIds, startTime: bigint) => Tracer.Span
}>("runplane/control-plane/RootSpans", {
  defaultValue: () => ({
    start: (name, ids, startTime) =>
      Object.defineProperties(new Tracer.NativeSpan({ ...rootOptions(name, startTime), sampled: false }), {
        traceId: { value: ids.traceId },
        spanId: { value: ids.spanId }
      })
  })
})

/** What a tracer is asked for to start a span of nobody. */
export const rootOptions = (name: string, startTime: bigint): Parameters<Tracer.Tracer["span"]>[0] => ({
  name,
  parent: Option.none(),
  annotations: Context.empty(),
  links: [],
  startTime,
  kind: "internal",
  root: true,
  sampled: true
})
