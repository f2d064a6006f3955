import { about, CanonicalEvent, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { commaSeparated, integer, isoDate, uuid, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { eventQueryFields } from "../query/QueryFields.ts"
import { lastEventId, MIN_HEARTBEAT_MS } from "../runs/RunRequests.ts"

const optional = Schema.optionalKey

export const DEFAULT_CROSS_RUN_PAGE = 500

/** The query of `GET /events` (docs/reference/streams.md#cross-run-events). */
export const crossRunEventsQuery = querySchema({
  runId: optional(uuid("Only the events of this run", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")),
  scenarioRef: optional(
    Field.text(
      "Only runs whose sourceRef equals this exactly, or whose metadata.scenarioRef contains it, case ignored",
      "incident/region-failover@1.0.0"
    )
  ),
  type: optional(
    commaSeparated("Event types separated by commas; unknown ones match nothing", "run.completed,run.failed")
  ),
  afterSeq: withDefault(integer({ min: 0 }).annotate(about("Only events with a greater seq: the cursor", 0)), 0),
  afterTs: optional(isoDate("Only events of this time or later", "2026-07-01T10:00:00.000Z")),
  beforeTs: optional(isoDate("Only events before this time", "2026-07-02")),
  limit: withDefault(
    integer({ min: 1 }).annotate(about("Most events of the page", DEFAULT_CROSS_RUN_PAGE)),
    DEFAULT_CROSS_RUN_PAGE
  ),
  q: optional(
    searchText(
      eventQueryFields,
      "Events that this search finds, among those of the other filters; GET /query/fields lists its fields",
      "type:(run.failed,policy.denied) ts:>=2026-07-01"
    )
  )
})
export type CrossRunEventsQuery = typeof crossRunEventsQuery.Type

/** A page of the log (docs/reference/streams.md#cross-run-events). */
export const LogPage = Schema.Struct({
  data: Schema.Array(CanonicalEvent).annotate({ description: "The events of this page, by seq" }),
  total: optional(
    Field.integer("Matches of all filters, afterSeq included; absent for a search that would have to read the log")
  ),
  limit: Field.integer("Most events of a page, as requested"),
  nextCursor: optional(
    Field.integer("Where to go on, as afterSeq: on a full page, and where a search has not come to the end of the log")
  )
}).annotate({ identifier: "LogPage", description: "One page of the events of all runs" })
export type LogPage = typeof LogPage.Type

/** The query of `GET /events/stream` (docs/reference/streams.md#log-stream). */
export const logStreamQuery = querySchema({
  q: optional(
    searchText(
      eventQueryFields,
      "Only events that this search finds; GET /query/fields lists its fields",
      "type:(run.failed,policy.denied)"
    )
  ),
  types: optional(
    commaSeparated("Event types separated by commas; unknown ones match nothing", "run.completed,run.failed")
  ),
  afterSeq: optional(
    integer({ min: 0 }).annotate(about("Send the events after this seq first, also for 0; wins over Last-Event-ID", 0))
  ),
  heartbeatMs: optional(
    integer({ min: MIN_HEARTBEAT_MS }).annotate(
      about("Milliseconds between heartbeats; the setting STREAM_SSE_HEARTBEAT_MS (15000) unless said", 15_000)
    )
  )
})
export type LogStreamQuery = typeof logStreamQuery.Type

/**
 * The events of all runs in one ascending order. A page ends early in front of events that are still being written, so
 * paging by `nextCursor`, or by the last seq received, neither skips nor repeats an event.
 */
export class CrossRunEventsGroup extends HttpApiGroup.make("crossRunEvents")
  .add(
    HttpApiEndpoint.get("list", "/events", {
      query: crossRunEventsQuery,
      success: LogPage,
      error: Failure.SearchTooSlow
    }).annotateMerge(
      operation({
        id: "listEvents",
        access: "viewer",
        summary: "Read events across runs",
        description:
          "Canonical events of all runs in one ascending order of `seq`. A page ends in front of events that are still being " +
          "written, so paging by `nextCursor`, or by the last `seq` received, neither skips nor repeats one. A search for what no index " +
          "finds answers after about a second with what it has found, and `nextCursor` leads on."
      })
    ),
    HttpApiEndpoint.get("stream", "/events/stream", {
      query: logStreamQuery,
      headers: lastEventId,
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" })
    }).annotateMerge(
      operation({
        id: "streamEvents",
        access: "viewer",
        summary: "Follow the events of all runs live",
        description:
          "An event stream (SSE) of the whole log in the order of `seq`, none left out and none twice: what `GET /events` " +
          "lists, as soon as it does. With afterSeq or Last-Event-ID the events since then come first. The stream begins " +
          "with a heartbeat, which says where it starts, and goes on until the client leaves. A cursor beyond the end of the " +
          "log, which was restored from a backup then, gives the event reset, and the stream starts at that end. A client " +
          "that receives nothing for three heartbeats should connect again."
      })
    )
  )
  .annotateMerge(tag("Events")) {}
