import { isUuid } from "@runplane/domain"
import { oneOf } from "../validation/BodyRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { queryFlag, queryInteger } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, type Rule, valid, withDefault } from "../validation/Rule.ts"

const runId: Rule<string> = {
  optional: false,
  jsonSchema: { type: "string", format: "uuid" },
  check: (value, place, report) => {
    if (typeof value === "string" && isUuid(value)) return valid(value.toLowerCase())
    report(`${place.prefix}${place.key} must be a UUID`)
    return undefined
  }
}

/** The body of `POST /runs/compare` (http-details section 4.8). */
export const compareRule = object(
  {
    leftRunId: described(runId, "The run that differences are counted from"),
    rightRunId: described(runId, "The run it is compared with")
  },
  { unknownKeys: "reject" }
)

export const MAX_EXPORT_EVENTS = 50_000
export const DEFAULT_EXPORT_EVENTS = 10_000

/** The query of `GET /runs/:id/export` (http-details section 4.9). */
export const exportQuery = querySchema({
  includeCanonical: described(
    withDefault(queryFlag(), true),
    "Whether canonical events are in it; any text but true is false",
    true
  ),
  includeRaw: described(
    withDefault(queryFlag(), false),
    "Whether the frames of the runtime are in it; any text but true is false",
    false
  ),
  eventLimit: described(
    withDefault(queryInteger({ min: 1, max: MAX_EXPORT_EVENTS }), DEFAULT_EXPORT_EVENTS),
    "Most canonical events, and most raw events; the first ones count",
    DEFAULT_EXPORT_EVENTS
  ),
  format: described(
    withDefault(oneOf(["json", "jsonl"]), "json"),
    "json: one document; jsonl: one JSON object a line, for any number of events",
    "json"
  )
})
