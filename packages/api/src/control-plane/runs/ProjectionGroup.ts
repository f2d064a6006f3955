import { Field, RunState } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"

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

const id = { id: RunReference }

/** The stored fold of a run's events. */
export class ProjectionGroup extends HttpApiGroup.make("projection")
  .add(
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
    )
  )
  .annotateMerge(tag("Insights")) {}
