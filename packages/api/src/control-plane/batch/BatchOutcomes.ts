import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** Most runs that one batch request names. */
export const MAX_BATCH_RUNS = 1000

/** The body of the batch operations. */
export const RunBatch = Schema.Struct({
  runIds: Field.texts("Ids of the runs; the answer has the same order").check(Schema.isMaxLength(MAX_BATCH_RUNS))
}).annotate({ identifier: "RunBatch", description: "The runs; unknown keys are dropped" })

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
