import { Field, RunState } from "@runplane/domain"
import * as Schema from "effect/Schema"

/**
 * The answer of `POST /runs/:id/projection/rebuild`: the whole rebuilt state, and how far it reaches
 * (docs/reference/runs.md#rebuild).
 */
export const RebuiltProjection = Schema.Struct({
  rebuilt: Schema.Literal(true).annotate({ description: "Always true: failures are errors" }),
  latestSeq: Field.integer("seq of the last event that was folded"),
  ...RunState.fields
}).annotate({ identifier: "RebuiltProjection", description: "The state of a run, folded again from all its events" })
export type RebuiltProjection = typeof RebuiltProjection.Type

const outcome = <const Done extends string>(done: Done, identifier: string) =>
  Schema.Array(
    Schema.Struct({
      runId: Field.text("As it was given"),
      status: Schema.Literals([done, "failed"]).annotate({ description: "How it went" }),
      error: Schema.optionalKey(Field.text("Why it failed"))
    }).annotate({ identifier, description: "What became of one of the given runs" })
  ).annotate({ description: "One entry for each given run, in the same order" })

/**
 * The answers of the batch operations: one entry for each given run, in the same order (docs/reference/runs.md#batch).
 */
export const BatchCancelled = outcome("cancelled", "BatchCancelled")
export const BatchArchived = outcome("archived", "BatchArchived")
export const BatchUnarchived = outcome("unarchived", "BatchUnarchived")
export const BatchDeleted = outcome("deleted", "BatchDeleted")

export interface BatchOutcome<Done extends string> {
  readonly runId: string
  readonly status: Done | "failed"
  readonly error?: string
}
