import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import { BadRequest, Conflict, NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription, summary } from "../openapi/Describe.ts"
import { RunReference } from "../validation/Params.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { artifactRule, cloneRule } from "./ManagementRequests.ts"
import { Run, RunAccepted } from "./Run.ts"
import { Artifact } from "./RunRecords.ts"

const id = { id: RunReference }
const created = HttpApiSchema.status(201)

/** What is done with a run apart from its life-cycle (run-control-plane "Runs"; http-details sections 4.7 and 4.10). */
export class ManagementGroup extends HttpApiGroup.make("management")
  .add(
    HttpApiEndpoint.post("clone", "/runs/:id/clone", {
      params: id,
      payload: bodySchema(cloneRule),
      success: RunAccepted.pipe(created),
      error: [BadRequest, NotFound, Conflict]
    }).annotateMerge(
      requestDescription({
        summary: "Create a run like this one, with a session of its own",
        body: { name: "CloneRun", rule: cloneRule }
      })
    ),
    HttpApiEndpoint.post("archive", "/runs/:id/archive", {
      params: id,
      success: Run.pipe(created),
      error: NotFound
    }).annotateMerge(summary("Hide a run from the default listings")),
    HttpApiEndpoint.delete("remove", "/runs/:id", {
      params: id,
      success: HttpApiSchema.NoContent,
      error: [BadRequest, NotFound]
    }).annotateMerge(summary("Delete a terminal run with everything that belongs to it")),
    HttpApiEndpoint.post("addArtifact", "/runs/:id/artifacts", {
      params: id,
      payload: bodySchema(artifactRule),
      success: Artifact.pipe(created),
      error: NotFound
    }).annotateMerge(
      requestDescription({ summary: "Add an artifact to a run", body: { name: "NewArtifact", rule: artifactRule } })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
