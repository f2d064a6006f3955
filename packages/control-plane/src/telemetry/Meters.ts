import { HttpObserver } from "@runplane/api"
import { RuntimeCallMeter } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Metrics } from "./Metrics.ts"

/** Feeds the metrics from the two hooks that other packages offer; to be provided around the server and the runtime client. */
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
  )
)
