import * as Layer from "effect/Layer"
import { BatchRuns } from "./batch/BatchRuns.ts"
import { DriftReport } from "./DriftReport.ts"
import { Health } from "./health/Health.ts"
import { Policies } from "./policies/Policies.ts"
import { Processes } from "./processes/Processes.ts"
import * as Retention from "./retention/Retention.ts"

/** What keeps the service in order. Wants everything that it looks after from its surroundings. */
export const layer = Layer.mergeAll(
  BatchRuns.layer,
  DriftReport.layer,
  Health.layer,
  Policies.layer,
  Processes.layer,
  Retention.layer
)
