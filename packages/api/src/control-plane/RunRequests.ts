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
    mode: described(
      oneOf(["live", "sandbox"]),
      "Whether the run is meant in earnest; a sandbox run gets the tag sandbox",
      "live"
    ),
    runtime: described(
      object(
        {
          kind: described(string(), "Registered kind of runtime", "rust"),
          version: described(optional(string()), "Version of the runtime, kept with the run")
        },
        reject
      ),
      "The runtime that hosts the session"
    ),
    session: described(
      object(
        {
          sessionId: described(
            optional(string()),
            "UUID v4, UUID v7, or base64url of 22 to 512 characters; allocated when absent. A UUID is the run's id as well"
          ),
          modeName: described(text(), "Session mode", "macp.mode.decision.v1"),
          modeVersion: described(text(), "Version of the mode", "1.0.0"),
          configurationVersion: described(text(), "Version of the configuration", "config.default"),
          policyVersion: described(
            optional(string()),
            "Id of the governance policy; the runtime's registry must know it when the session starts"
          ),
          ttlMs: described(positiveInteger(), "Time-to-live of the session, milliseconds", 300_000),
          participants: described(
            arrayOf(
              object(
                {
                  id: described(
                    string({ notEmpty: "last", maxLength: MAX_NAME_LENGTH }),
                    "Id of the participant",
                    "lead"
                  )
                },
                reject
              ),
              { min: 1, max: MAX_PARTICIPANTS, tooMany: `Maximum ${MAX_PARTICIPANTS} participants per session` }
            ),
            "Declared participants"
          ),
          metadata: described(
            optional(sessionMetadata),
            "Any JSON, kept with the run. cancelCallback ({url, bearer?}) or cancellationDelegated (true) make the run " +
              "cancellable; environment, scenarioRef, source and sourceRef are what runs are found by"
          )
        },
        reject
      ),
      "The session that the run is about"
    ),
    execution: described(
      optional(
        object(
          {
            idempotencyKey: described(
              optional(string({ maxLength: MAX_IDEMPOTENCY_KEY_LENGTH })),
              "A second request with the same key answers with the first run, as it is by then; nothing is started"
            ),
            tags: described(optional(strings({ maxLength: MAX_NAME_LENGTH })), "Tags of the run", ["nightly"]),
            requester: described(
              optional(
                object(
                  {
                    actorId: described(optional(string()), "Id of the requester, in the caller's own terms"),
                    actorType: described(optional(oneOf(["user", "service", "system"])), "What the requester is")
                  },
                  reject
                )
              ),
              "On whose behalf the run is created"
            )
          },
          reject
        )
      ),
      "How the run is created, apart from its session"
    )
  },
  reject
)

/** The body of cancel, suspend and resume; unknown keys are dropped (http-details section 3.3). */
export const reasonRule = object(
  { reason: described(optional(string()), "Passed on to the runtime or the cancel callback", "operator request") },
  { unknownKeys: "drop" }
)
export interface Reason {
  readonly reason?: string
}

export const MAX_RUN_PAGE = 200
export const DEFAULT_RUN_PAGE = 50

/** The query of `GET /runs` (http-details section 4.5). Dates are compared strictly: after is >, before is <. */
export const runListQuery = querySchema({
  status: described(optional(oneOf(RunStatus.literals)), "Runs with this status", "completed"),
  tags: described(optional(queryList()), "Tags separated by commas; a run must have all of them", "nightly,loans"),
  createdAfter: described(optional(queryDate()), "Runs created after this time, exclusive", "2026-07-01"),
  createdBefore: described(
    optional(queryDate()),
    "Runs created before this time, exclusive",
    "2026-07-02T12:00:00.000Z"
  ),
  limit: described(
    withDefault(queryInteger({ min: 1, max: MAX_RUN_PAGE }), DEFAULT_RUN_PAGE),
    "Most runs of the page",
    DEFAULT_RUN_PAGE
  ),
  offset: described(withDefault(queryInteger({ min: 0 }), 0), "Matches to leave out before the page", 0),
  sortBy: described(
    withDefault(oneOf(["createdAt", "updatedAt"]), "createdAt"),
    "The time that runs are sorted by",
    "createdAt"
  ),
  sortOrder: described(
    withDefault(oneOf(["asc", "desc"]), "desc"),
    "asc lists the oldest first, desc the newest",
    "desc"
  ),
  includeArchived: described(
    withDefault(queryFlag(), false),
    "Whether archived runs are listed too; any text but true is false",
    false
  ),
  environment: described(optional(queryString()), "Runs whose metadata.environment equals this", "staging"),
  scenarioRef: described(
    optional(queryString()),
    "Runs whose metadata.scenarioRef or sourceRef contains this, case ignored",
    "incident/"
  ),
  search: described(
    optional(queryString()),
    "Runs that have this in id, a tag, scenario, environment, sourceRef or policy; case ignored",
    "failover"
  ),
  includeSandbox: described(optional(queryString()), "Accepted and ignored: sandbox runs are always listed", "true")
})
export type RunListQuery = typeof runListQuery.schema.Type

export const DEFAULT_EVENT_PAGE = 200

/** The query of `GET /runs/:id/events` (http-details section 4.11); `afterTs` is inclusive, `beforeTs` exclusive. */
export const runEventsQuery = querySchema({
  afterSeq: described(withDefault(queryInteger({ min: 0 }), 0), "Only events with a greater seq", 0),
  limit: described(
    withDefault(queryInteger({ min: 1 }), DEFAULT_EVENT_PAGE),
    "Most events of the page",
    DEFAULT_EVENT_PAGE
  ),
  afterTs: described(optional(queryDate()), "Only events of this time or later", "2026-07-01T10:00:00.000Z"),
  beforeTs: described(optional(queryDate()), "Only events before this time", "2026-07-02"),
  type: described(
    optional(queryList()),
    "Event types separated by commas; unknown ones match nothing",
    "proposal.created,decision.finalized"
  )
})
export type RunEventsQuery = typeof runEventsQuery.schema.Type

export const MIN_HEARTBEAT_MS = 1000

/** The query of `GET /runs/:id/stream` (http-details section 8). The heartbeat's default is a setting of the server. */
export const runStreamQuery = querySchema({
  afterSeq: described(
    optional(queryInteger({ min: 0 })),
    "Send the events after this seq first, also for 0; wins over Last-Event-ID",
    0
  ),
  includeSnapshot: described(
    withDefault(queryFlag(), true),
    "Whether the stream begins with a snapshot; any text but true is false. Later snapshots come in any case",
    true
  ),
  heartbeatMs: described(
    optional(queryInteger({ min: MIN_HEARTBEAT_MS })),
    "Milliseconds between heartbeats; the setting STREAM_SSE_HEARTBEAT_MS (15000) unless said",
    15_000
  )
})
export type RunStreamQuery = typeof runStreamQuery.schema.Type
