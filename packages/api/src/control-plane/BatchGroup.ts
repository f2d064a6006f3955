import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription } from "../openapi/Describe.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { batchRule } from "./ManagementRequests.ts"
import { RunBundle } from "./RunInsights.ts"
import { BatchArchived, BatchCancelled, BatchDeleted } from "./RunManagement.ts"

const created = HttpApiSchema.status(201)
const described = (summary: string) => requestDescription({ summary, body: { name: "RunBatch", rule: batchRule } })

/**
 * One operation on many runs (http-details section 4.8). Each run succeeds or fails by itself, and the answer is 201 in any case;
 * only an export needs all of its runs.
 */
export class BatchGroup extends HttpApiGroup.make("batch")
  .add(
    HttpApiEndpoint.post("cancel", "/runs/batch/cancel", {
      payload: bodySchema(batchRule),
      success: BatchCancelled.pipe(created)
    }).annotateMerge(described("Cancel runs")),
    HttpApiEndpoint.post("archive", "/runs/batch/archive", {
      payload: bodySchema(batchRule),
      success: BatchArchived.pipe(created)
    }).annotateMerge(described("Archive runs")),
    HttpApiEndpoint.post("remove", "/runs/batch/delete", {
      payload: bodySchema(batchRule),
      success: BatchDeleted.pipe(created)
    }).annotateMerge(described("Delete terminal runs")),
    HttpApiEndpoint.post("export", "/runs/batch/export", {
      payload: bodySchema(batchRule),
      success: Schema.Array(RunBundle).pipe(created),
      error: NotFound
    }).annotateMerge(described("Export runs with their canonical events"))
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
