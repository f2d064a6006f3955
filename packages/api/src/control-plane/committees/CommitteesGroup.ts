import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import {
  CommitteeIndependences,
  CommitteeSearchAnswer,
  CommitteeSearchRequest,
  CommitteeWorths,
  committeeSeatsQuery,
  independenceQuery
} from "./Committees.ts"

/** The voters of many runs together (docs/reference/committees.md). */
export class CommitteesGroup extends HttpApiGroup.make("committees")
  .add(
    HttpApiEndpoint.get("independence", "/committees/independence", {
      query: independenceQuery,
      success: CommitteeIndependences,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "getCommitteeIndependence",
        access: "viewer",
        summary: "Count how many independent voters committees have",
        description:
          "The errors of each two voters by the marks `correct`, their correlation, and how many independent votes the " +
          "voters have together, with an interval. Without enough marks it says how many more are needed."
      })
    ),
    HttpApiEndpoint.get("seats", "/committees/seats", {
      query: committeeSeatsQuery,
      success: CommitteeWorths,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "getCommitteeSeats",
        access: "viewer",
        summary: "Count what each voter of a committee is worth",
        description:
          "Each run is counted again without each of its voters, under its own policy: decisions that would be refused, " +
          "right and wrong ones, beside cost and time. No agent runs again."
      })
    ),
    HttpApiEndpoint.post("search", "/committees/search", {
      payload: bodySchema(CommitteeSearchRequest, { unknownKeys: "reject" }),
      success: CommitteeSearchAnswer.pipe(HttpApiSchema.status(201)),
      error: [
        Failure.SearchTooSlow,
        Failure.TooFewRuns,
        Failure.InvalidPolicyDefinition,
        Failure.NoPolicyToTry,
        ...Failure.runtime
      ]
    }).annotateMerge(
      operation({
        id: "searchCommittee",
        access: "operator",
        summary: "Search the cheapest committee with the same outcomes",
        description:
          "A subset of the voters is chosen on one half of the cases, and named only if the other half confirms it. On " +
          "request it is chosen among other policies, too. Each " +
          "search is an audit entry, and the answer counts those over runs of the same participants."
      })
    )
  )
  .annotateMerge(tag("Committees", "How independent the voters of runs are, and what each is worth")) {}
