import * as Layer from "effect/Layer"
import { AuditTrail } from "../admin/AuditTrail.ts"
import { Health } from "../admin/Health.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Dashboard } from "../dashboard/Dashboard.ts"
import { CrossRunEvents } from "../events/CrossRunEvents.ts"
import { Policies } from "../policies/Policies.ts"
import { Replay } from "../replay/Replay.ts"
import { ReplayStates } from "../replay/ReplayStates.ts"
import { CancelCallback } from "../runs/CancelCallback.ts"
import { layerRunCapabilities } from "../runs/RunCapabilities.ts"
import { RunDocuments } from "../runs/RunDocuments.ts"
import { RunRepository } from "../runs/RunRepository.ts"
import { Runs } from "../runs/Runs.ts"
import { RunStream } from "../stream/RunStream.ts"
import { StreamRepository } from "../stream/StreamRepository.ts"
import { layerEventMetrics } from "../telemetry/EventMetrics.ts"
import { Metrics } from "../telemetry/Metrics.ts"
import { layerWebhooks } from "../webhooks/Delivery.ts"
import { Shutdown } from "./Shutdown.ts"

/**
 * The services that the HTTP handlers call, and the counting of what is committed. Wants the database, the log, the observers,
 * the runtime and its breaker from its surroundings; offers `Metrics` and `Shutdown` with the rest.
 */
export const layerCapabilities = Layer.mergeAll(
  Runs.layerNoDeps,
  RunDocuments.layer,
  RunStream.layerNoDeps,
  CrossRunEvents.layer,
  Replay.layerNoDeps,
  ReplayStates.layerNoDeps,
  Dashboard.layer.pipe(Layer.provide(Health.layer)),
  Policies.layerNoDeps,
  Health.layer,
  AuditLog.layer,
  layerWebhooks,
  layerRunCapabilities,
  layerEventMetrics
).pipe(
  Layer.provide([AuditTrail.layer, CancelCallback.layer, StreamRepository.layer]),
  Layer.provideMerge(Layer.mergeAll(RunRepository.layer, Metrics.layer, Shutdown.layer))
)
