import { CanonicalEvent, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"
import { runEventsQuery } from "../runs/RunRequests.ts"

/** The envelope form of a page of events. */
export const EventPage = Schema.Struct({
  data: Schema.Array(CanonicalEvent).annotate({ description: "The events of this page, by seq" }),
  total: Field.integer("Matches of all filters, afterSeq included"),
  limit: Field.integer("Most events of a page, as requested"),
  nextCursor: Schema.optionalKey(
    Field.integer("seq of the last event; only on a full page, to be given as afterSeq for the next one")
  )
}).annotate({ identifier: "EventPage", description: "One page of canonical events" })
export type EventPage = typeof EventPage.Type

/**
 * The canonical events of a run: a bare array, or the envelope when afterTs, beforeTs or type is given
 * (docs/reference/streams.md#list-events).
 */
export class EventsGroup extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/runs/:id/events", {
      params: { id: RunReference },
      query: runEventsQuery,
      success: [Schema.Array(CanonicalEvent), EventPage],
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "listRunEvents",
        access: "viewer",
        summary: "Read the events of a run",
        description:
          "Canonical events by `seq`. With afterSeq and limit alone the answer is a bare array, with afterTs, beforeTs or type " +
          "it is a page with `total` and `nextCursor`. A page is read on with the last `seq` as afterSeq."
      })
    )
  )
  .annotateMerge(tag("Events", "The canonical events: of one run, across runs, and live")) {}
