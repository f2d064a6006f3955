import * as Layer from "effect/Layer"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { CancelReasons } from "./CancelReasons.ts"
import { MemoryGuard } from "./MemoryGuard.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { Observers } from "./Observers.ts"
import { PendingCancels } from "./PendingCancels.ts"
import { Placement } from "./placement/Placement.ts"
import { layerTracedObserver, RunObserver } from "./RunObserver.ts"
import { RunWriter } from "./RunWriter.ts"
import { SessionDiscovery } from "./SessionDiscovery.ts"
import { SignalStore } from "./SignalStore.ts"
import { layerSignalWatch } from "./SignalWatch.ts"
import { EarlySubscriptions } from "./sessions/EarlySubscriptions.ts"
import { IdleChecks } from "./sessions/IdleChecks.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/**
 * The observers with their watches, over the log, the runtime and the settings. It recovers unfinished runs.
 */
export const layer = Layer.mergeAll(
  SessionDiscovery.layerWatch,
  SessionDiscovery.layerReconciled,
  layerSignalWatch.pipe(Layer.provide(SignalStore.layer))
).pipe(
  Layer.provideMerge(SessionDiscovery.layer.pipe(Layer.provide(RunRepository.layer))),
  Layer.provideMerge(Observers.layer.pipe(Layer.provide(MemoryGuard.layer))),
  Layer.provide(
    layerTracedObserver.pipe(Layer.provide(RunObserver.layer), Layer.provide([RunWriter.layer, IdleChecks.layer]))
  ),
  Layer.provideMerge(Placement.layer),
  Layer.provide(EarlySubscriptions.layer),
  Layer.provideMerge(Layer.merge(SessionDirectory.layer, CancelReasons.layer)),
  Layer.provide(ObservedRuns.layer),
  Layer.provideMerge(PendingCancels.layer)
)
