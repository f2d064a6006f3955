import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { CloneRun, NewArtifact } from "./ManagementRequests.ts"
import { Run, RunAccepted } from "./Run.ts"
import { Artifact } from "./RunRecords.ts"

const id = { id: RunReference }
const created = HttpApiSchema.status(201)

/** What is done with a run apart from its life-cycle. */
export class ManagementGroup extends HttpApiGroup.make("management")
  .add(
    HttpApiEndpoint.post("clone", "/runs/:id/clone", {
      params: id,
      payload: bodySchema(CloneRun, { unknownKeys: "reject" }),
      success: RunAccepted.pipe(created),
      error: [Failure.RunNotFound, Failure.NoDescriptor, Failure.SessionAlreadyExists, Failure.BudgetExhausted]
    }).annotateMerge(
      operation({
        id: "cloneRun",
        access: "operator",
        summary: "Create a run like this one",
        description:
          "The new run has ids and a session of its own; the idempotency key is left out, everything else is as in the " +
          "descriptor of the original."
      })
    ),
    HttpApiEndpoint.post("archive", "/runs/:id/archive", {
      params: id,
      success: Run.pipe(created),
      error: [Failure.RunNotFound, Failure.RunReadOnly]
    }).annotateMerge(
      operation({
        id: "archiveRun",
        access: "operator",
        summary: "Hide a run from the default listings",
        description: "In any status. A second call keeps the time of the first."
      })
    ),
    HttpApiEndpoint.post("unarchive", "/runs/:id/unarchive", {
      params: id,
      success: Run.pipe(created),
      error: [Failure.RunNotFound, Failure.RunReadOnly]
    }).annotateMerge(
      operation({
        id: "unarchiveRun",
        access: "operator",
        summary: "Show an archived run in the default listings again",
        description: "Removes `archivedAt` and the tag `archived`. A run that is not archived stays as it is."
      })
    ),
    HttpApiEndpoint.delete("remove", "/runs/:id", {
      params: id,
      success: HttpApiSchema.NoContent,
      error: [Failure.RunNotFound, Failure.NotTerminal]
    }).annotateMerge(
      operation({
        id: "deleteRun",
        access: "admin",
        summary: "Delete an ended run",
        description:
          "With its events, state, metrics, session, artifacts and messages. Only completed, failed or cancelled runs."
      })
    ),
    HttpApiEndpoint.post("addArtifact", "/runs/:id/artifacts", {
      params: id,
      payload: bodySchema(NewArtifact, { unknownKeys: "reject" }),
      success: Artifact.pipe(created),
      error: [
        Failure.RunNotFound,
        Failure.RunReadOnly,
        Failure.ArtifactRefused,
        Failure.ArtifactOfLauncher,
        Failure.ArtifactConflict
      ]
    }).annotateMerge(
      operation({
        id: "addArtifact",
        access: "operator",
        summary: "Add an artifact to a run",
        description:
          "In any status of the run. Emits the event `artifact.created`. With an `idempotencyKey` that the run has, the " +
          "answer is the first artifact of this key."
      })
    )
  )
  .annotateMerge(tag("Runs")) {}
