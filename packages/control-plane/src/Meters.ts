import { RuntimeCallMeter } from "@runplane/runtime"
import { HttpObserver } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RecoveryMeter } from "./observe/RecoveryMeter.ts"
import { SignalMeter } from "./observe/SignalMeter.ts"
import { SealMeter } from "./platform/http/SealMeter.ts"
import { SideEffectMeter } from "./platform/http/SideEffectMeter.ts"
import { Metrics } from "./reactors/metrics/Metrics.ts"
import { StreamMeter } from "./streams/run/StreamMeter.ts"

/**
 * Feeds the metrics from the hooks of those who do not know them; to be provided around the server, the log and the
 * observers.
 */
export const layer = Layer.mergeAll(
  Layer.effect(
    HttpObserver,
    Effect.map(Metrics, (metrics) => ({ observe: (request) => Effect.sync(() => metrics.httpRequest(request)) }))
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
    SignalMeter,
    Effect.map(Metrics, (metrics) => ({ gap: metrics.signalGap, lost: metrics.signalLost }))
  ),
  Layer.effect(
    SealMeter,
    Effect.map(Metrics, (metrics) => metrics.sealDoubted)
  ),
  Layer.effect(
    SideEffectMeter,
    Effect.map(Metrics, (metrics) => metrics.sideEffectFailed)
  ),
  Layer.effect(
    StreamMeter,
    Effect.map(Metrics, (metrics) => ({ opened: metrics.sseOpened, closed: metrics.sseClosed }))
  )
)
