import { about, Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { operation, tag } from "../openapi/Describe.ts"
import { commaSeparated, integer, isoDate, uuid, withDefault } from "../validation/Fields.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { EventPage } from "./EventsGroup.ts"

const optional = Schema.optionalKey

export const DEFAULT_CROSS_RUN_PAGE = 500

/** The query of `GET /events` (docs/http.md#cross-run-events). */
export const crossRunEventsQuery = querySchema({
  runId: optional(uuid("Only the events of this run", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")),
  scenarioRef: optional(
    Field.text(
      "Only runs whose sourceRef equals this, or whose metadata.scenarioRef contains it, case ignored",
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
  )
})
export type CrossRunEventsQuery = typeof crossRunEventsQuery.Type

/**
 * The events of all runs in one ascending order. A page ends early in front of events that are still being written, so
 * paging by `nextCursor`, or by the last seq received, neither skips nor repeats an event.
 */
export class CrossRunEventsGroup extends HttpApiGroup.make("crossRunEvents")
  .add(
    HttpApiEndpoint.get("list", "/events", { query: crossRunEventsQuery, success: EventPage }).annotateMerge(
      operation({
        id: "listEvents",
        summary: "Read events across runs",
        description:
          "Canonical events of all runs in one ascending order of `seq`. A page ends in front of events that are still being " +
          "written, so paging by `nextCursor`, or by the last `seq` received, neither skips nor repeats one."
      })
    )
  )
  .annotateMerge(tag("Events")) {}
