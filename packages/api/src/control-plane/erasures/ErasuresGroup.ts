import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference, UuidParam } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { Erasure, ErasureJob, ErasureJobPage, NewErasure, NewErasureJob } from "./Erasures.ts"

/** Erasure of single texts from runs whose seals stay valid (docs/reference/erasure.md). */
export class ErasuresGroup extends HttpApiGroup.make("erasures")
  .add(
    HttpApiEndpoint.post("erase", "/runs/:id/erasures", {
      params: { id: RunReference },
      payload: bodySchema(NewErasure, { unknownKeys: "reject" }),
      success: Erasure,
      error: [Failure.RunNotFound, Failure.RunReadOnly, Failure.ErasureRefused, Failure.ErasureConflict]
    }).annotateMerge(
      operation({
        id: "eraseFromRun",
        access: "admin",
        summary: "Erase a text, or single members, from a run",
        description:
          "First with `dryRun: true`, which lists what would be erased, what would remain and why, and answers a `plan`; " +
          "then with that plan. The values are dropped from the log, the state, notifications and all other rows of the " +
          "run in one transaction, and the seal of the run stays valid. It cannot be undone."
      })
    ),
    HttpApiEndpoint.post("eraseFromRuns", "/erasures", {
      payload: bodySchema(NewErasureJob, { unknownKeys: "reject" }),
      success: ErasureJob.pipe(HttpApiSchema.status(202)),
      error: [Failure.ErasureRefused, Failure.ErasureConflict, Failure.UnreadableSearch]
    }).annotateMerge(
      operation({
        id: "eraseFromRuns",
        access: "admin",
        summary: "Erase a text from many runs",
        description:
          "A job: its answer has the `id` to read it by. First with `dryRun: true`; when that job is done, with its `plan`. " +
          "A run that has changed since the dry run is left out, and the job says so."
      })
    ),
    HttpApiEndpoint.get("list", "/erasures", { success: ErasureJobPage }).annotateMerge(
      operation({
        id: "listErasures",
        access: "admin",
        summary: "List the erasures over many runs",
        description: "The newest 100 first, dry runs among them."
      })
    ),
    HttpApiEndpoint.get("get", "/erasures/:id", {
      params: { id: UuidParam },
      success: ErasureJob,
      error: Failure.ErasureNotFound
    }).annotateMerge(
      operation({
        id: "getErasure",
        access: "admin",
        summary: "Read an erasure over many runs",
        description: "Its progress, and the runs that it left out."
      })
    )
  )
  .annotateMerge(tag("Erasures", "Erasure of single texts from runs whose seals stay valid")) {}
