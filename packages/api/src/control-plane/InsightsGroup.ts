import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription, summary } from "../openapi/Describe.ts"
import { RunReference } from "../validation/Params.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { compareRule, exportQuery } from "./InsightRequests.ts"
import { JSON_LINES_CONTENT_TYPE, RunBundle, RunComparison, RunTraces } from "./RunInsights.ts"
import { RebuiltProjection } from "./RunManagement.ts"

const id = { id: RunReference }

/** Looking at runs as a whole: traces, comparison, rebuild, export (http-details sections 4.7 to 4.10). */
export class InsightsGroup extends HttpApiGroup.make("insights")
  .add(
    HttpApiEndpoint.get("traces", "/runs/:id/traces", {
      params: id,
      success: RunTraces,
      error: NotFound
    }).annotateMerge(summary("Read the trace of a run")),
    HttpApiEndpoint.post("compare", "/runs/compare", {
      payload: bodySchema(compareRule),
      success: RunComparison.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(
      requestDescription({ summary: "Compare two runs", body: { name: "CompareRuns", rule: compareRule } })
    ),
    HttpApiEndpoint.post("rebuild", "/runs/:id/projection/rebuild", {
      params: id,
      success: RebuiltProjection.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(summary("Fold the projected state again from the canonical events")),
    HttpApiEndpoint.get("export", "/runs/:id/export", {
      params: id,
      query: exportQuery.schema,
      success: [RunBundle, Schema.String.pipe(HttpApiSchema.asText({ contentType: JSON_LINES_CONTENT_TYPE }))],
      error: NotFound
    }).annotateMerge(
      requestDescription({
        summary: "Export a run: one JSON bundle, or a header line and a line for each event",
        query: exportQuery.rule
      })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
