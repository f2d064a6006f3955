import * as Layer from "effect/Layer"
import { RunRepository } from "../runs/RunRepository.ts"
import { layerTracedObserver } from "../telemetry/TracedObserver.ts"
import { CallerReasons } from "./CallerReasons.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { Observers } from "./Observers.ts"
import { RunLocks } from "./RunLocks.ts"
import { RunObserver } from "./RunObserver.ts"
import { SessionDiscovery } from "./SessionDiscovery.ts"
import { SessionNewsDesk } from "./SessionNews.ts"
import { SessionWatch } from "./SessionWatch.ts"
import { SignalWatch } from "./SignalWatch.ts"

/**
 * The observers with their watches. Starting it recovers every unfinished run. Wants the log, the runtime and the settings from
 * its surroundings.
 */
export const layerObservation = Layer.mergeAll(SessionWatch.layerNoDeps, SignalWatch.layerNoDeps).pipe(
  Layer.provide(SessionDiscovery.layerNoDeps.pipe(Layer.provide(RunRepository.layer))),
  Layer.provideMerge(Observers.layerNoDeps),
  Layer.provide([layerTracedObserver.pipe(Layer.provide(RunObserver.layerNoDeps)), RunLocks.layer]),
  Layer.provideMerge(Layer.merge(SessionNewsDesk.layer, CallerReasons.layer)),
  Layer.provide(ObservedRuns.layer)
)
