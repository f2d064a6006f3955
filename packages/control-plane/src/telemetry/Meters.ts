import { HttpObserver } from "@runplane/api"
import { RuntimeCallMeter } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Metrics } from "./Metrics.ts"
import { RecoveryMeter } from "./RecoveryMeter.ts"
import { SideEffectMeter } from "./SideEffectMeter.ts"

/** Feeds the metrics from the hooks of those who do not know them; to be provided around the server, the log and the observers. */
export const layerMeters = Layer.mergeAll(
  Layer.effect(
    HttpObserver,
    Effect.map(Metrics, (metrics) => ({
      observe: ({ method, route, seconds, status }) =>
        Effect.sync(() => metrics.httpRequest({ method, path: route, seconds, statusCode: status }))
    }))
  ),
  Layer.effect(
    RuntimeCallMeter,
    Effect.map(Metrics, (metrics) => metrics.runtimeCall)
  ),
  Layer.effect(
    RecoveryMeter,
    Effect.map(Metrics, (metrics) => metrics.recovery)
  ),
  Layer.effect(
    SideEffectMeter,
    Effect.map(Metrics, (metrics) => metrics.sideEffectFailed)
  )
)
