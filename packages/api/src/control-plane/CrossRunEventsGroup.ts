import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription } from "../openapi/Describe.ts"
import { queryUuid } from "../validation/NumberRules.ts"
import { queryDate, queryInteger, queryList, queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional, withDefault } from "../validation/Rule.ts"
import { EventPage } from "./EventsGroup.ts"

export const DEFAULT_CROSS_RUN_PAGE = 500

/** The query of `GET /events` (run-control-plane "Runs", http-details section 4.11). */
export const crossRunEventsQuery = querySchema({
  runId: described(optional(queryUuid()), "Only the events of this run"),
  scenarioRef: described(
    optional(queryString()),
    "Only runs whose sourceRef equals this, or whose metadata.scenarioRef contains it, case ignored"
  ),
  type: described(optional(queryList()), "Event types separated by commas; unknown ones match nothing"),
  afterSeq: described(withDefault(queryInteger({ min: 0 }), 0), "Only events with a greater seq"),
  afterTs: described(optional(queryDate()), "Inclusive"),
  beforeTs: described(optional(queryDate()), "Exclusive"),
  limit: withDefault(queryInteger({ min: 1 }), DEFAULT_CROSS_RUN_PAGE)
})
export type CrossRunEventsQuery = typeof crossRunEventsQuery.schema.Type

/**
 * The events of all runs in one ascending order. A page ends early in front of events that are still being written, so paging by
 * `nextCursor`, or by the last seq received, neither skips nor repeats an event.
 */
export class CrossRunEventsGroup extends HttpApiGroup.make("crossRunEvents")
  .add(
    HttpApiEndpoint.get("list", "/events", { query: crossRunEventsQuery.schema, success: EventPage }).annotateMerge(
      requestDescription({ summary: "Read events across runs", query: crossRunEventsQuery.rule })
    )
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
