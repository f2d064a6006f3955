import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { readSetting, readSettings } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import type { Setting } from "../settings/Setting.ts"

/** Whether traces are exported: `OTEL_ENABLED`. */
export const tracingEnabled = readSetting(ServiceSettings.OTEL_ENABLED)

/**
 * How the spans of a service are recorded (docs/reference/admin.md#tracing). With `OTEL_ENABLED` the OpenTelemetry SDK
 * takes them to a collector; without it the tracer is off altogether, and a span costs next to nothing. `name` is the
 * setting that names the service. To be provided around everything else.
 */
export const layerTracing = (name: Setting<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { enabled, serviceName } = yield* readSettings({ enabled: ServiceSettings.OTEL_ENABLED, serviceName: name })
      if (!enabled) return Layer.succeed(References.TracerEnabled, false)
      // The SDK takes a while to load, and most start without it.
      const { layerRecording } = yield* Effect.promise(() => import("./Recording.ts"))
      return layerRecording(serviceName)
    })
  )
