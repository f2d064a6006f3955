import {
  MAX_IDEMPOTENCY_KEY_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PARTICIPANTS,
  type RunDescriptor,
  RunStatus
} from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { arrayOf, jsonObject, oneOf, positiveInteger, string, strings } from "../validation/BodyRules.ts"
import { type ObjectRule, object } from "../validation/ObjectRule.ts"
import { queryDate, queryFlag, queryInteger, queryList, queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, isRecord, optional, type Rule, withDefault } from "../validation/Rule.ts"

const reject = { unknownKeys: "reject" } as const
const text = () => string({ notEmpty: "last" })

/** The metadata that runs are found by. */
const INDEXED_METADATA = ["environment", "scenarioRef", "source", "sourceRef"]

/** Any JSON object; only the texts that runs are found by are bounded. */
const sessionMetadata: Rule<Schema.JsonObject> = {
  ...jsonObject(),
  check: (value, place, report) => {
    const tooLong = INDEXED_METADATA.filter((key) => {
      const indexed = isRecord(value) ? value[key] : undefined
      return typeof indexed === "string" && indexed.length > MAX_NAME_LENGTH
    })
    for (const key of tooLong) {
      report(`${place.prefix}${place.key}.${key} must be shorter than or equal to ${MAX_NAME_LENGTH} characters`)
    }
    return tooLong.length === 0 ? jsonObject().check(value, place, report) : undefined
  }
}

/** The body of `POST /runs` and `POST /runs/validate` (http-details section 4.2): unknown keys are refused at every level. */
export const runDescriptorRule: ObjectRule<RunDescriptor> = object(
  {
    mode: described(oneOf(["live", "sandbox"]), "Execution mode"),
    runtime: object(
      { kind: described(string(), "Registered runtime kind", "rust"), version: optional(string()) },
      reject
    ),
    session: object(
      {
        sessionId: described(optional(string()), "UUID v4, UUID v7, or base64url of 22 to 512 characters"),
        modeName: described(text(), "Session mode", "macp.mode.decision.v1"),
        modeVersion: text(),
        configurationVersion: text(),
        policyVersion: described(optional(string()), "Must exist in the runtime's policy registry"),
        ttlMs: described(positiveInteger(), "Session time-to-live in milliseconds", 300_000),
        participants: arrayOf(object({ id: string({ notEmpty: "last", maxLength: MAX_NAME_LENGTH }) }, reject), {
          min: 1,
          max: MAX_PARTICIPANTS,
          tooMany: `Maximum ${MAX_PARTICIPANTS} participants per session`
        }),
        metadata: described(
          optional(sessionMetadata),
          "Any JSON. Used here: cancelCallback, cancellationDelegated, environment, scenarioRef, source, sourceRef"
        )
      },
      reject
    ),
    execution: optional(
      object(
        {
          idempotencyKey: described(
            optional(string({ maxLength: MAX_IDEMPOTENCY_KEY_LENGTH })),
            "A second request with the same key answers with the first run"
          ),
          tags: optional(strings({ maxLength: MAX_NAME_LENGTH })),
          requester: optional(
            object({ actorId: optional(string()), actorType: optional(oneOf(["user", "service", "system"])) }, reject)
          )
        },
        reject
      )
    )
  },
  reject
)

/** The body of cancel, suspend and resume; unknown keys are dropped (http-details section 3.3). */
export const reasonRule = object(
  { reason: described(optional(string()), "Passed on to the runtime or the cancel callback") },
  { unknownKeys: "drop" }
)
export interface Reason {
  readonly reason?: string
}

export const MAX_RUN_PAGE = 200
export const DEFAULT_RUN_PAGE = 50

/** The query of `GET /runs` (http-details section 4.5). Dates are compared strictly: after is >, before is <. */
export const runListQuery = querySchema({
  status: optional(oneOf(RunStatus.literals)),
  tags: described(optional(queryList()), "Separated by commas; a run must have all of them"),
  createdAfter: optional(queryDate()),
  createdBefore: optional(queryDate()),
  limit: withDefault(queryInteger({ min: 1, max: MAX_RUN_PAGE }), DEFAULT_RUN_PAGE),
  offset: withDefault(queryInteger({ min: 0 }), 0),
  sortBy: withDefault(oneOf(["createdAt", "updatedAt"]), "createdAt"),
  sortOrder: withDefault(oneOf(["asc", "desc"]), "desc"),
  includeArchived: withDefault(queryFlag(), false),
  environment: described(optional(queryString()), "Equals metadata.environment"),
  scenarioRef: described(optional(queryString()), "Part of metadata.scenarioRef, case ignored"),
  search: described(optional(queryString()), "Part of the id, a tag, the scenario, the environment; case ignored"),
  includeSandbox: described(optional(queryString()), "Accepted and ignored: sandbox runs are always listed")
})
export type RunListQuery = typeof runListQuery.schema.Type

export const DEFAULT_EVENT_PAGE = 200

/** The query of `GET /runs/:id/events` (http-details section 4.11); `afterTs` is inclusive, `beforeTs` exclusive. */
export const runEventsQuery = querySchema({
  afterSeq: described(withDefault(queryInteger({ min: 0 }), 0), "Only events with a greater seq"),
  limit: withDefault(queryInteger({ min: 1 }), DEFAULT_EVENT_PAGE),
  afterTs: described(optional(queryDate()), "Inclusive"),
  beforeTs: described(optional(queryDate()), "Exclusive"),
  type: described(optional(queryList()), "Event types separated by commas; unknown ones match nothing")
})
export type RunEventsQuery = typeof runEventsQuery.schema.Type

export const MIN_HEARTBEAT_MS = 1000

/** The query of `GET /runs/:id/stream` (http-details section 8). The heartbeat's default is a setting of the server. */
export const runStreamQuery = querySchema({
  afterSeq: described(
    optional(queryInteger({ min: 0 })),
    "Backfill the events after this seq; wins over Last-Event-ID"
  ),
  includeSnapshot: withDefault(queryFlag(), true),
  heartbeatMs: optional(queryInteger({ min: MIN_HEARTBEAT_MS }))
})
export type RunStreamQuery = typeof runStreamQuery.schema.Type
