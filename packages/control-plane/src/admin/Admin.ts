import * as Layer from "effect/Layer"
import { BatchRuns } from "./batch/BatchRuns.ts"
import { DriftReport } from "./DriftReport.ts"
import { Health } from "./health/Health.ts"
import { Policies } from "./policies/Policies.ts"
import { Processes } from "./processes/Processes.ts"
import * as Retention from "./retention/Retention.ts"

/** Health, drift, retention, policies, processes and batches. The rest of the service is provided from below. */
export const layer = Layer.mergeAll(
  BatchRuns.layer,
  DriftReport.layer,
  Health.layer,
  Policies.layer,
  Processes.layer,
  Retention.layer
)
