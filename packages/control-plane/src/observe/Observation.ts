import * as Layer from "effect/Layer"
import { RunRepository } from "../log/runs/RunRepository.ts"
import { CallerReasons } from "./CallerReasons.ts"
import { HeapRoom } from "./HeapRoom.ts"
import { LateCancels } from "./LateCancels.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { Observers } from "./Observers.ts"
import { PatientQuestions } from "./PatientQuestions.ts"
import { Placement } from "./Placement.ts"
import { QuietSessions } from "./QuietSessions.ts"
import { Reconciliation } from "./Reconciliation.ts"
import { RunObserver } from "./RunObserver.ts"
import { RunWriter } from "./RunWriter.ts"
import { SessionDiscovery } from "./SessionDiscovery.ts"
import { SessionListings } from "./SessionListings.ts"
import { SessionTaps } from "./SessionTaps.ts"
import { SessionUpdates } from "./SessionUpdates.ts"
import { SessionWatch } from "./SessionWatch.ts"
import { SignalStore } from "./SignalStore.ts"
import { SignalWatch } from "./SignalWatch.ts"
import { layerTracedObserver } from "./TracedObserver.ts"

/**
 * The observers with their watches. Starting it recovers every unfinished run. Wants the log, the runtime and the
 * settings from its surroundings.
 */
export const layer = Layer.mergeAll(
  SessionWatch.layer,
  SignalWatch.layer.pipe(Layer.provide(SignalStore.layer)),
  Reconciliation.layerScheduled
).pipe(
  Layer.provideMerge(Reconciliation.layer),
  Layer.provide(SessionDiscovery.layer.pipe(Layer.provide(RunRepository.layer))),
  Layer.provideMerge(Observers.layer.pipe(Layer.provide(HeapRoom.layer))),
  Layer.provide(
    layerTracedObserver.pipe(
      Layer.provide(RunObserver.layer),
      Layer.provide([RunWriter.layer, PatientQuestions.layer, QuietSessions.layer]),
      Layer.provide(SessionListings.layer)
    )
  ),
  Layer.provideMerge(Placement.layer),
  Layer.provide(SessionTaps.layer),
  Layer.provideMerge(Layer.merge(SessionUpdates.layer, CallerReasons.layer)),
  Layer.provide(ObservedRuns.layer),
  Layer.provideMerge(LateCancels.layer)
)
