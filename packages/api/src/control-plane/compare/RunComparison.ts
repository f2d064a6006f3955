import { Field, RunId, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { uuid } from "../../validation/Fields.ts"
import { RunDivergence } from "../decisions/Decisions.ts"
import { RunUsage } from "../runs/Run.ts"

const optional = Schema.optionalKey

/** The body of `POST /runs/compare`. */
export const CompareRuns = Schema.Struct({
  leftRunId: uuid("The run that differences are counted from"),
  rightRunId: uuid("The run it is compared with")
}).annotate({ identifier: "CompareRuns", description: "The two runs" })

const ComparedRun = Schema.Struct({
  runId: RunId,
  status: RunStatus,
  modeName: optional(Field.text("Session mode", "macp.mode.decision.v1")),
  durationMs: optional(Field.number("Milliseconds from start to end")),
  usage: optional(RunUsage)
}).annotate({ identifier: "ComparedRun", description: "One side of a comparison" })

/** The answer of `POST /runs/compare` (docs/reference/runs.md#compare). */
export const RunComparison = Schema.Struct({
  left: ComparedRun,
  right: ComparedRun,
  statusMatch: Field.flag("Whether both have the same status"),
  durationDeltaMs: optional(Field.number("Duration of the right run minus that of the left, milliseconds")),
  confidenceDelta: optional(Field.number("Confidence of the right decision minus that of the left")),
  participantsDiff: Schema.Struct({
    added: Field.texts("Only in the right run"),
    removed: Field.texts("Only in the left run"),
    common: Field.texts("In both")
  }).annotate({ description: "Participants by id" }),
  signalsDiff: Schema.Struct({
    added: Field.texts("Only in the right run"),
    removed: Field.texts("Only in the left run")
  }).annotate({ description: "Signals by name" }),
  divergence: Schema.NullOr(RunDivergence).annotate({
    description: "The first difference; null when both say the same"
  })
}).annotate({ identifier: "RunComparison", description: "Two runs side by side" })
export type RunComparison = typeof RunComparison.Type
