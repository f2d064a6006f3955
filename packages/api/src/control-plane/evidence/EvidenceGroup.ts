import { about } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { withDefault } from "../../validation/Fields.ts"
import { RunReference } from "../../validation/Params.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"
import { ticketField } from "../runs/RunRequests.ts"

/** Most runs of one bundle. */
export const MAX_EVIDENCE_RUNS = 1_000

/** A stored zip. */
export const EVIDENCE_CONTENT_TYPE = "application/zip"

const options = {
  includeRaw: withDefault(
    Schema.Boolean.annotate(about("Whether the frames of the runtime are in it; any text but true is false", true)),
    true
  ),
  includeMarks: withDefault(
    Schema.Boolean.annotate(about("Whether the marks of the run are in it; any text but true is false", true)),
    true
  )
}

/** The query of `GET /runs/:id/evidence`. */
export const evidenceQuery = querySchema({ ticket: ticketField, ...options })

/** The query of `GET /evidence`. */
export const evidenceOfRunsQuery = querySchema({
  q: searchText(
    runQueryFields,
    `The runs of the bundle, at most ${MAX_EVIDENCE_RUNS}; GET /query/fields lists the fields`,
    "tags:nightly"
  ).check(Schema.isNonEmpty()),
  ...options
})
export type EvidenceOfRunsQuery = typeof evidenceOfRunsQuery.Type
export type EvidenceOptions = Pick<typeof evidenceQuery.Type, "includeRaw" | "includeMarks">

const zip = HttpApiSchema.StreamUint8Array({ contentType: EVIDENCE_CONTENT_TYPE })

/** One file that an auditor checks without the service (docs/reference/evidence.md). */
export class EvidenceGroup extends HttpApiGroup.make("evidence")
  .add(
    HttpApiEndpoint.get("ofRun", "/runs/:id/evidence", {
      params: { id: RunReference },
      query: evidenceQuery,
      success: zip,
      error: [Failure.RunNotFound, Failure.EvidenceRefused, Failure.RunBeingErased]
    }).annotateMerge(
      operation({
        id: "getEvidence",
        access: "operator",
        takesTicket: true,
        summary: "Get the evidence of a run",
        description:
          "One stored zip: events with seal and proofs, frames, policy, models, oversight, reasons, marks, alerts, audit " +
          "lines, and a signed manifest. verify.py of the release checks it without the service. The audit log records it."
      })
    ),
    HttpApiEndpoint.get("ofRuns", "/evidence", {
      query: evidenceOfRunsQuery,
      success: zip,
      error: [Failure.SearchTooSlow, Failure.EvidenceRefused]
    }).annotateMerge(
      operation({
        id: "getEvidenceOfRuns",
        access: "operator",
        summary: "Get the evidence of all runs that a search finds",
        description:
          "The same with a folder for each run, the oldest first, under one manifest. A search that finds more than 1,000 " +
          "runs, or none, is 400. A connection that is cut before the end means that a run changed or was deleted meanwhile."
      })
    )
  )
  .annotateMerge(tag("Insights")) {}
