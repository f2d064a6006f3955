import * as Layer from "effect/Layer"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { CancelReasons } from "./CancelReasons.ts"
import { MemoryGuard } from "./MemoryGuard.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { Observers } from "./Observers.ts"
import { PendingCancels } from "./PendingCancels.ts"
import { Placement } from "./placement/Placement.ts"
import { RunObserver } from "./RunObserver.ts"
import { RunWriter } from "./RunWriter.ts"
import { SignalStore } from "./SignalStore.ts"
import { SignalWatch } from "./SignalWatch.ts"
import { EarlySubscriptions } from "./sessions/EarlySubscriptions.ts"
import { PatientQuestions } from "./sessions/PatientQuestions.ts"
import { QuietSessions } from "./sessions/QuietSessions.ts"
import { Reconciliation } from "./sessions/Reconciliation.ts"
import { SessionDiscovery } from "./sessions/SessionDiscovery.ts"
import { SessionListings } from "./sessions/SessionListings.ts"
import { SessionUpdates } from "./sessions/SessionUpdates.ts"
import { SessionWatch } from "./sessions/SessionWatch.ts"
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
  Layer.provideMerge(Observers.layer.pipe(Layer.provide(MemoryGuard.layer))),
  Layer.provide(
    layerTracedObserver.pipe(
      Layer.provide(RunObserver.layer),
      Layer.provide([RunWriter.layer, PatientQuestions.layer, QuietSessions.layer]),
      Layer.provide(SessionListings.layer)
    )
  ),
  Layer.provideMerge(Placement.layer),
  Layer.provide(EarlySubscriptions.layer),
  Layer.provideMerge(Layer.merge(SessionUpdates.layer, CancelReasons.layer)),
  Layer.provide(ObservedRuns.layer),
  Layer.provideMerge(PendingCancels.layer)
)
