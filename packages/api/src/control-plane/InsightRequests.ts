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
export const compareRule = object({ leftRunId: runId, rightRunId: runId }, { unknownKeys: "reject" })

export const MAX_EXPORT_EVENTS = 50_000
export const DEFAULT_EXPORT_EVENTS = 10_000

/** The query of `GET /runs/:id/export` (http-details section 4.9). */
export const exportQuery = querySchema({
  includeCanonical: withDefault(queryFlag(), true),
  includeRaw: withDefault(queryFlag(), false),
  eventLimit: described(
    withDefault(queryInteger({ min: 1, max: MAX_EXPORT_EVENTS }), DEFAULT_EXPORT_EVENTS),
    "Most canonical events, and most raw events; the first ones count"
  ),
  format: withDefault(oneOf(["json", "jsonl"]), "json")
})
export type ExportQuery = typeof exportQuery.schema.Type
