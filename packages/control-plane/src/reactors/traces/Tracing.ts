import { OutgoingTraceState } from "@runplane/runtime"
import { ControlPlaneSettings, layerTracing } from "@runplane/server"
import * as Layer from "effect/Layer"

/** The W3C `tracestate` of every runtime call names the caller. */
const TRACE_STATE = "runplane=control-plane"

/** How spans are recorded, and what runtime calls say of them (docs/reference/admin.md#tracing). */
export const layer = layerTracing(ControlPlaneSettings.OTEL_SERVICE_NAME).pipe(
  Layer.merge(Layer.succeed(OutgoingTraceState, TRACE_STATE))
)
