import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { RebuiltProjection } from "../batch/BatchOutcomes.ts"
import { CompareRuns, exportQuery, spansQuery } from "./ExportRequests.ts"
import { JSON_LINES_CONTENT_TYPE, RunBundle, RunComparison, RunSpans, RunTraces } from "./RunBundle.ts"

const id = { id: RunReference }

/** Looking at runs as a whole: traces, comparison, rebuild, export. */
export class InsightsGroup extends HttpApiGroup.make("insights")
  .add(
    HttpApiEndpoint.get("traces", "/runs/:id/traces", {
      params: id,
      success: RunTraces,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getRunTraces",
        access: "viewer",
        summary: "Read the trace of a run",
        description: "The ids to find the run by in a tracing back end, and what it is linked to."
      })
    ),
    HttpApiEndpoint.get("spans", "/runs/:id/spans", {
      params: id,
      query: spansQuery,
      success: RunSpans,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "getRunSpans",
        access: "viewer",
        summary: "Read the spans of a run",
        description:
          "The spans that were received for the run as OpenTelemetry, also those without an event. The answer is " +
          "empty for a run whose agents sent none."
      })
    ),
    HttpApiEndpoint.post("compare", "/runs/compare", {
      payload: bodySchema(CompareRuns, { unknownKeys: "reject" }),
      success: RunComparison.pipe(HttpApiSchema.status(201)),
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "compareRuns",
        access: "viewer",
        summary: "Compare two runs",
        description: "Side by side: status, duration, confidence, participants and signals."
      })
    ),
    HttpApiEndpoint.post("rebuild", "/runs/:id/projection/rebuild", {
      params: id,
      success: RebuiltProjection.pipe(HttpApiSchema.status(201)),
      error: [Failure.RunNotFound, Failure.RunReadOnly]
    }).annotateMerge(
      operation({
        id: "rebuildProjection",
        access: "operator",
        summary: "Fold the projected state again",
        description:
          "From all canonical events of the run. Gives the state that is stored already, unless that was damaged."
      })
    ),
    HttpApiEndpoint.get("export", "/runs/:id/export", {
      params: id,
      query: exportQuery,
      success: [RunBundle, Schema.String.pipe(HttpApiSchema.asText({ contentType: JSON_LINES_CONTENT_TYPE }))],
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "exportRun",
        access: "operator",
        takesTicket: true,
        summary: "Export a run",
        description:
          "Everything that belongs to a run: as one JSON bundle, or as lines of JSON, which can be read as they come. A " +
          "connection that is cut before the end means that the run was deleted meanwhile."
      })
    )
  )
  .annotateMerge(tag("Insights", "Looking at runs as a whole: traces, comparison, rebuild, export")) {}
