import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Reactors } from "./event-log/append/Reactors.ts"
import { DeletionHooks } from "./event-log/runs/DeletionHooks.ts"
import { RunTraces } from "./event-log/runs/RunTraces.ts"
import { fieldsOf } from "./Feature.ts"
import { features } from "./features.ts"
import { Metrics } from "./platform/metrics/Metrics.ts"
import { countAppends } from "./reactors/metrics/CountAppends.ts"
import { makeRunLog } from "./reactors/runs/RunLog.ts"
import { makeEventTallies } from "./reactors/tallies/EventTally.ts"
import { makeLateChanges, RunTallies } from "./reactors/tallies/RunTallies.ts"
import { makeRunSpans } from "./reactors/traces/RunSpans.ts"
import { Admission } from "./runs/Admission.ts"

const reactors = Layer.effect(
  Reactors,
  Effect.all([
    makeEventTallies,
    makeLateChanges,
    ...fieldsOf(features, "reactor"),
    Effect.map(Metrics, countAppends),
    makeRunLog,
    makeRunSpans
  ])
)

/** What features do when runs are deleted. */
export const layerDeletionHooks = Layer.effect(DeletionHooks, Effect.all(fieldsOf(features, "onRunsDeleted")))

const admission = Layer.effect(Admission, Effect.map(Effect.all(fieldsOf(features, "admission")), Admission.allOf))

/** What features add to the log and to the creation of runs, and the services of their reactors. */
export const layer = Layer.mergeAll(reactors, layerDeletionHooks, admission).pipe(
  Layer.provide(RunTraces.layer),
  Layer.provideMerge(Layer.mergeAll(RunTallies.layer, ...fieldsOf(features, "base")))
)
