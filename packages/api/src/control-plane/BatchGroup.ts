import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { type OperationDescription, operation, tag } from "../openapi/Describe.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { batchRule } from "./ManagementRequests.ts"
import { RunBundle } from "./RunInsights.ts"
import { BatchArchived, BatchCancelled, BatchDeleted } from "./RunManagement.ts"

const created = HttpApiSchema.status(201)
const described = (text: Pick<OperationDescription, "id" | "summary" | "description" | "failures">) =>
  operation({ ...text, body: { name: "RunBatch", description: "The runs; unknown keys are dropped", rule: batchRule } })

/**
 * One operation on many runs (http-details section 4.8). Each run succeeds or fails by itself, and the answer is 201 in any case;
 * only an export needs all of its runs.
 */
export class BatchGroup extends HttpApiGroup.make("batch")
  .add(
    HttpApiEndpoint.post("cancel", "/runs/batch/cancel", {
      payload: bodySchema(batchRule),
      success: BatchCancelled.pipe(created)
    }).annotateMerge(
      described({
        id: "cancelRuns",
        summary: "Cancel runs",
        description:
          "Each as by `cancelRun`, with the reason `batch cancel`. 201 even when all of them fail: see each entry."
      })
    ),
    HttpApiEndpoint.post("archive", "/runs/batch/archive", {
      payload: bodySchema(batchRule),
      success: BatchArchived.pipe(created)
    }).annotateMerge(
      described({
        id: "archiveRuns",
        summary: "Archive runs",
        description: "Each as by `archiveRun`. 201 even when all of them fail: see each entry."
      })
    ),
    HttpApiEndpoint.post("remove", "/runs/batch/delete", {
      payload: bodySchema(batchRule),
      success: BatchDeleted.pipe(created)
    }).annotateMerge(
      described({
        id: "deleteRuns",
        summary: "Delete ended runs",
        description: "Each as by `deleteRun`. 201 even when all of them fail: see each entry."
      })
    ),
    HttpApiEndpoint.post("export", "/runs/batch/export", {
      payload: bodySchema(batchRule),
      success: Schema.Array(RunBundle).pipe(created),
      error: NotFound
    }).annotateMerge(
      described({
        id: "exportRuns",
        summary: "Export runs",
        description:
          "A bundle of each run, in the given order, with at most 10000 canonical events and no frames. One unknown run " +
          "fails the whole request.",
        failures: ["RunNotFound"]
      })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization)
  .annotateMerge(tag("Batches", "One operation on many runs; each succeeds or fails by itself")) {}
