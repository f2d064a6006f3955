import * as Layer from "effect/Layer"
import { CancelCallback } from "./CancelCallback.ts"
import { RunManagement } from "./RunManagement.ts"
import { Runs } from "./Runs.ts"
import * as TracedRuntime from "./TracedRuntime.ts"

/** What callers do with runs. Wants the log, the audit log, the observers and the runtime from its surroundings. */
export const layer = RunManagement.layer.pipe(
  Layer.provideMerge(Runs.layer),
  Layer.provide([CancelCallback.layer, TracedRuntime.layer])
)
