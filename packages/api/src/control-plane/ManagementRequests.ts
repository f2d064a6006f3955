import { MAX_NAME_LENGTH } from "@runplane/domain"
import { jsonObject, oneOf, string, strings } from "../validation/BodyRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { described, isRecord, optional, type Rule, type RuleValue } from "../validation/Rule.ts"

const reject = { unknownKeys: "reject" } as const

/**
 * The body of `POST /runs/:id/clone` (http-details section 4.7). `context` belongs to the agents of a session, which the control
 * plane does not talk to: it is taken for the sake of older callers, and only when it is empty.
 */
const emptyContext: Rule<Readonly<Record<string, never>>> = {
  optional: false,
  jsonSchema: { type: "object", maxProperties: 0 },
  check: (value, place, report) => {
    if (jsonObject().check(value, place, report) === undefined) return undefined
    if (isRecord(value) && Object.keys(value).length === 0) return { value: {} }
    report("context cannot be overridden: it must be absent or empty")
    return undefined
  }
}

export const cloneRule = object(
  {
    tags: described(optional(strings({ maxLength: MAX_NAME_LENGTH })), "Replaces the tags of the original", ["retry"]),
    context: described(optional(emptyContext), "Accepted only when it is empty; what agents are told is theirs")
  },
  reject
)

/** The body of `POST /runs/:id/artifacts` (http-details section 4.10). */
export const artifactRule = object(
  {
    kind: described(oneOf(["trace", "json", "report", "log", "bundle"]), "What it is", "report"),
    label: described(string({ notEmpty: "last" }), "Name for readers", "Post-mortem"),
    uri: described(optional(string()), "Where it is kept, when not here", "https://example.org/reports/17"),
    inline: described(optional(jsonObject()), "The artifact itself, any JSON object")
  },
  reject
)
export type NewArtifact = RuleValue<typeof artifactRule>

/** Most runs that one batch request names. */
export const MAX_BATCH_RUNS = 1000

const runIds: Rule<ReadonlyArray<string>> = {
  ...strings(),
  jsonSchema: { ...strings().jsonSchema, maxItems: MAX_BATCH_RUNS },
  check: (value, place, report) => {
    if (!Array.isArray(value) || value.length <= MAX_BATCH_RUNS) return strings().check(value, place, report)
    report(`${place.prefix}${place.key} must contain no more than ${MAX_BATCH_RUNS} elements`)
    return undefined
  }
}

/** The body of the batch operations; unknown keys are dropped (http-details sections 3.3 and 4.8). */
export const batchRule = object(
  { runIds: described(runIds, "Ids of the runs; the answer has the same order") },
  { unknownKeys: "drop" }
)
