import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { RunBundle } from "../exports/RunBundle.ts"
import { BatchArchived, BatchCancelled, BatchDeleted, BatchUnarchived, RunBatch } from "./BatchOutcomes.ts"

const created = HttpApiSchema.status(201)
const payload = bodySchema(RunBatch, { unknownKeys: "drop" })

/**
 * One operation on many runs (docs/reference/runs.md#batch). Each run succeeds or fails by itself, and the answer is
 * 201 in any case; only an export needs all of its runs.
 */
export class BatchGroup extends HttpApiGroup.make("batch")
  .add(
    HttpApiEndpoint.post("cancel", "/runs/batch/cancel", {
      payload,
      success: BatchCancelled.pipe(created)
    }).annotateMerge(
      operation({
        id: "cancelRuns",
        access: "operator",
        summary: "Cancel runs",
        description:
          "Each as by `cancelRun`, with the reason `batch cancel`. 201 even when all of them fail: see each entry."
      })
    ),
    HttpApiEndpoint.post("archive", "/runs/batch/archive", {
      payload,
      success: BatchArchived.pipe(created)
    }).annotateMerge(
      operation({
        id: "archiveRuns",
        access: "operator",
        summary: "Archive runs",
        description: "Each as by `archiveRun`. 201 even when all of them fail: see each entry."
      })
    ),
    HttpApiEndpoint.post("unarchive", "/runs/batch/unarchive", {
      payload,
      success: BatchUnarchived.pipe(created)
    }).annotateMerge(
      operation({
        id: "unarchiveRuns",
        access: "operator",
        summary: "Undo the archival of runs",
        description: "Each as by `unarchiveRun`. 201 even when all of them fail: see each entry."
      })
    ),
    HttpApiEndpoint.post("remove", "/runs/batch/delete", {
      payload,
      success: BatchDeleted.pipe(created)
    }).annotateMerge(
      operation({
        id: "deleteRuns",
        access: "admin",
        summary: "Delete ended runs",
        description: "Each as by `deleteRun`. 201 even when all of them fail: see each entry."
      })
    ),
    HttpApiEndpoint.post("export", "/runs/batch/export", {
      payload,
      success: Schema.Array(RunBundle).pipe(created),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "exportRuns",
        access: "operator",
        summary: "Export runs",
        description:
          "A bundle of each run, in the given order, with at most 10000 canonical events and no frames. One unknown run " +
          "fails the whole request."
      })
    )
  )
  .annotateMerge(tag("Batches", "One operation on many runs; each succeeds or fails by itself")) {}
