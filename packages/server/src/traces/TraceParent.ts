import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { type CallerSpan, RootSpans } from "./RootSpans.ts"

/** A span as a W3C `traceparent`. */
export const traceParentOf = ({ sampled, spanId, traceId }: CallerSpan): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`

/** The span that a `traceparent` of `traceParentOf` names. */
export const callerFrom = (traceParent: string | null): CallerSpan | undefined =>
  traceParent === null
    ? undefined
    : Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromInput({ traceparent: traceParent })))

/** The span of the current request, as the parent of spans that outlive it; undefined without a recorded one. */
export const callingSpan: Effect.Effect<CallerSpan | undefined> = Effect.gen(function* () {
  const { callerOf } = yield* RootSpans
  const span = yield* Effect.serviceOption(Tracer.ParentSpan)
  return Option.isSome(span) ? callerOf(span.value) : undefined
})
