import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"
import { exportQuery } from "./ExportRequests.ts"
import { JSON_LINES_CONTENT_TYPE, RunBundle } from "./RunBundle.ts"

const id = { id: RunReference }

/** A run with everything that belongs to it, as one document or as lines. */
export class ExportsGroup extends HttpApiGroup.make("exports")
  .add(
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
  .annotateMerge(tag("Insights")) {}
