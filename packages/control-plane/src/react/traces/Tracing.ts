import { OutgoingTraceState } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { tracingSettings } from "./TracingSettings.ts"

/** The W3C `tracestate` of every runtime call: who made it. */
const TRACE_STATE = "runplane=control-plane"

/**
 * How spans are recorded (docs/http.md#tracing). With `OTEL_ENABLED` the OpenTelemetry SDK takes them to a collector;
 * without it the tracer is off altogether, and a span costs next to nothing. To be provided around everything else.
 */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { enabled, serviceName } = yield* tracingSettings
    if (!enabled) return Layer.succeed(References.TracerEnabled, false)
    // The SDK takes a while to load, and most start without it.
    const { layerRecording } = yield* Effect.promise(() => import("./Recording.ts"))
    return layerRecording(serviceName)
  })
).pipe(Layer.merge(Layer.succeed(OutgoingTraceState, TRACE_STATE)))
