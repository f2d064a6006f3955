import { CanonicalEvent } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { NotFound } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription } from "../openapi/Describe.ts"
import { RunReference } from "../validation/Params.ts"
import { runEventsQuery } from "./RunRequests.ts"

/** The envelope form of a page of events. */
export const EventPage = Schema.Struct({
  data: Schema.Array(CanonicalEvent),
  total: Schema.Int.annotate({ description: "Matches of all filters, afterSeq included" }),
  limit: Schema.Int,
  nextCursor: Schema.optionalKey(
    Schema.Int.annotate({ description: "seq of the last event; only on a full page, to be given as afterSeq" })
  )
}).annotate({ identifier: "EventPage", description: "One page of canonical events" })
export type EventPage = typeof EventPage.Type

/**
 * The canonical events of a run: a bare array, or the envelope when afterTs, beforeTs or type is given
 * (run-control-plane "Versioning").
 */
export class EventsGroup extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/runs/:id/events", {
      params: { id: RunReference },
      query: runEventsQuery.schema,
      success: [Schema.Array(CanonicalEvent), EventPage],
      error: NotFound
    }).annotateMerge(requestDescription({ summary: "Read the events of a run", query: runEventsQuery.rule }))
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
