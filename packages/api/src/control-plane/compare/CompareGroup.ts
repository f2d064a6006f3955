import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { CompareRuns, RunComparison } from "./RunComparison.ts"

/** Two runs side by side. */
export class CompareGroup extends HttpApiGroup.make("compare")
  .add(
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
    )
  )
  .annotateMerge(tag("Insights")) {}
