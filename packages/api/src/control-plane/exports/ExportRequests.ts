import { about } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { ticketField } from "../runs/RunRequests.ts"

export const MAX_EXPORT_EVENTS = 50_000
export const DEFAULT_EXPORT_EVENTS = 10_000

/** The query of `GET /runs/:id/export`. */
export const exportQuery = querySchema({
  ticket: ticketField,
  includeCanonical: withDefault(
    Schema.Boolean.annotate(about("Whether canonical events are in it; any text but true is false", true)),
    true
  ),
  includeRaw: withDefault(
    Schema.Boolean.annotate(about("Whether the frames of the runtime are in it; any text but true is false", false)),
    false
  ),
  includeMarks: withDefault(
    Schema.Boolean.annotate(about("Whether the marks of the run are in it; any text but true is false", true)),
    true
  ),
  eventLimit: withDefault(
    integer({ min: 1, max: MAX_EXPORT_EVENTS }).annotate(
      about("Most canonical events, and most raw events; the first ones count", DEFAULT_EXPORT_EVENTS)
    ),
    DEFAULT_EXPORT_EVENTS
  ),
  format: withDefault(
    Schema.Literals(["json", "jsonl"]).annotate(
      about("json: one document; jsonl: one JSON object a line, for any number of events", "json")
    ),
    "json"
  )
})
