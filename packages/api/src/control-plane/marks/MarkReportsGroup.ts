import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { textParam } from "../../validation/Params.ts"
import {
  AgentVoteRecord,
  AgentVoteRecords,
  agentRecordQuery,
  agentRecordsQuery,
  MarkAgreements,
  markAgreementQuery,
  marksQuery
} from "./MarkReports.ts"
import { MarkPage } from "./Marks.ts"

/** Lists and reports over the marks of all runs (docs/reference/marks.md). */
export class MarkReportsGroup extends HttpApiGroup.make("markReports")
  .add(
    HttpApiEndpoint.get("list", "/marks", {
      query: marksQuery,
      success: MarkPage,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "listMarks",
        access: "viewer",
        summary: "List marks of all runs",
        description: "The current marks, the newest first. Replaced and deleted ones are in `GET /runs/{id}/marks`."
      })
    ),
    HttpApiEndpoint.get("agreement", "/marks/agreement", {
      query: markAgreementQuery,
      success: MarkAgreements,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "getMarkAgreement",
        access: "viewer",
        summary: "Compare raters of the same targets",
        description:
          "Cohen's kappa with its interval of 95 %, and the confusion, for each name and pair of raters; Krippendorff's " +
          "alpha for more than two. A judge is unreliable when the interval is under 0.4 and at least 20 targets are " +
          "common."
      })
    ),
    HttpApiEndpoint.get("records", "/agents/records", {
      query: agentRecordsQuery,
      success: AgentVoteRecords,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "listAgentRecords",
        access: "viewer",
        summary: "Count how often the votes of all agents were right",
        description:
          "The record of each agent in the latest decided runs, read once for all of them: votes with the outcome, right " +
          "votes by the marks `correct`, the Brier score of the stated confidences, and cost."
      })
    ),
    HttpApiEndpoint.get("record", "/agents/:participantId/record", {
      params: { participantId: textParam("Participant id", "risk-analyst") },
      query: agentRecordQuery,
      success: AgentVoteRecord,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "getAgentRecord",
        access: "viewer",
        summary: "Count how often the votes of an agent were right",
        description:
          "Its votes in the latest decided runs, compared with the outcomes and with the marks `correct`; the Brier " +
          "score and the reliability curve of its stated confidences; its cost. `summary` has it in words, and `by` adds " +
          "the figures of each prompt, model, policy version or week."
      })
    )
  )
  .annotateMerge(tag("Mark reports", "Marks of all runs, agreement of raters, and records of agents")) {}
