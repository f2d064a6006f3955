import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { queryUuid } from "../validation/NumberRules.ts"
import { queryDate, queryInteger, queryList, queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional, withDefault } from "../validation/Rule.ts"
import { EventPage } from "./EventsGroup.ts"

export const DEFAULT_CROSS_RUN_PAGE = 500

/** The query of `GET /events` (run-control-plane "Runs", http-details section 4.11). */
export const crossRunEventsQuery = querySchema({
  runId: described(optional(queryUuid()), "Only the events of this run", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"),
  scenarioRef: described(
    optional(queryString()),
    "Only runs whose sourceRef equals this, or whose metadata.scenarioRef contains it, case ignored",
    "incident/region-failover@1.0.0"
  ),
  type: described(
    optional(queryList()),
    "Event types separated by commas; unknown ones match nothing",
    "run.completed,run.failed"
  ),
  afterSeq: described(withDefault(queryInteger({ min: 0 }), 0), "Only events with a greater seq: the cursor", 0),
  afterTs: described(optional(queryDate()), "Only events of this time or later", "2026-07-01T10:00:00.000Z"),
  beforeTs: described(optional(queryDate()), "Only events before this time", "2026-07-02"),
  limit: described(
    withDefault(queryInteger({ min: 1 }), DEFAULT_CROSS_RUN_PAGE),
    "Most events of the page",
    DEFAULT_CROSS_RUN_PAGE
  )
})
export type CrossRunEventsQuery = typeof crossRunEventsQuery.schema.Type

/**
 * The events of all runs in one ascending order. A page ends early in front of events that are still being written, so paging by
 * `nextCursor`, or by the last seq received, neither skips nor repeats an event.
 */
export class CrossRunEventsGroup extends HttpApiGroup.make("crossRunEvents")
  .add(
    HttpApiEndpoint.get("list", "/events", { query: crossRunEventsQuery.schema, success: EventPage }).annotateMerge(
      operation({
        id: "listEvents",
        summary: "Read events across runs",
        description:
          "Canonical events of all runs in one ascending order of `seq`. A page ends in front of events that are still being " +
          "written, so paging by `nextCursor`, or by the last `seq` received, neither skips nor repeats one.",
        query: crossRunEventsQuery.rule
      })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization)
  .annotateMerge(tag("Events")) {}
