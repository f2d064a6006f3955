import { about } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { integer, withDefault } from "../../validation/Fields.ts"
import { RunReference } from "../../validation/Params.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { RunSpans, RunTraces } from "./RunTraces.ts"

export const MAX_SPAN_PAGE = 5_000
export const DEFAULT_SPAN_PAGE = 1_000

/** The query of `GET /runs/:id/spans`. */
export const spansQuery = querySchema({
  after: withDefault(integer({ min: 0 }).annotate(about("nextCursor of the page before", 0)), 0),
  limit: withDefault(
    integer({ min: 1, max: MAX_SPAN_PAGE }).annotate(about("Most spans of the page", DEFAULT_SPAN_PAGE)),
    DEFAULT_SPAN_PAGE
  )
})
export type SpansQuery = typeof spansQuery.Type

const id = { id: RunReference }

/** The trace of a run, and the spans that were received for it. */
export class TracesGroup extends HttpApiGroup.make("traces")
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
    )
  )
  .annotateMerge(tag("Insights", "Looking at runs as a whole: traces, comparison, rebuild, export")) {}
