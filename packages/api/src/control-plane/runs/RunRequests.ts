import { about, Field, isOfForm, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { commaSeparated, integer, isoDate, shownAs, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"

const optional = Schema.optionalKey

/** The body of cancel, suspend and resume. */
export const Reason = Schema.Struct({
  reason: optional(Field.text("Passed on to the runtime or the cancel callback", "operator request"))
}).annotate({ identifier: "Reason", description: "Why; the whole body may be absent" })
export type Reason = typeof Reason.Type

/** Longest reason of an abandoned run, characters: it becomes a part of the run. */
export const MAX_ABANDON_REASON = 4_000

/** The body of abandon. */
export const AbandonRun = Schema.Struct({
  reason: Field.text("Why the session will not be opened", "agent lead exited (code=1): policy is unknown")
    .annotate({ emptyFirst: true })
    .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_ABANDON_REASON))
}).annotate({ identifier: "AbandonRun", description: "Why the session will not be opened" })

export const MAX_RUN_PAGE = 200
export const DEFAULT_RUN_PAGE = 50

/** What runs can be sorted by (docs/reference/runs.md#sorting). */
export const runSortKeys = ["createdAt", "updatedAt", "duration", "cost", "tokens", "events"] as const
export type RunSortKey = (typeof runSortKeys)[number]

const MARK_SORT = "mark\\.[A-Za-z][A-Za-z0-9_-]{0,63}"

/** What runs can be sorted by, also the latest current mark of a name: `mark.quality`. */
export const RunSort = Schema.Union([
  ...runSortKeys.map((key) => Schema.Literal(key)),
  Schema.TemplateLiteral(["mark.", Schema.String]).check(isOfForm(new RegExp(`^${MARK_SORT}$`)))
])
export type RunSort = typeof RunSort.Type

const SORT_FORM = new RegExp(`^(?:${[...runSortKeys, MARK_SORT].join("|")})$`)

/** A cursor of a list, as its page before gave it (docs/reference/runs.md#cursors). */
export const cursorText = Field.text(
  "Goes on behind the page that gave this as nextCursor; for the same order and filters",
  "WyJydW5zIGNyZWF0ZWRBdCBkZXNjIiwiMjAyNi0wNy0wMSJd"
)

/** Longest that a request may wait for the end of a run. Milliseconds. */
export const MAX_WAIT_MS = 60_000
export const DEFAULT_WAIT_MS = 30_000

/** The query of `GET /runs/:id` (docs/reference/runs.md#wait). */
export const runQuery = querySchema({
  wait: optional(
    Schema.Literals(["terminal"]).annotate(about("terminal: answer when the run has ended, or time is up", "terminal"))
  ),
  timeoutMs: optional(
    integer({ min: 0, max: MAX_WAIT_MS }).annotate(
      about(`Milliseconds to wait at most; ${DEFAULT_WAIT_MS} unless said`, DEFAULT_WAIT_MS)
    )
  )
})
export type RunQuery = typeof runQuery.Type

/** What a list can have beside the records of its runs. */
const INCLUDED: ReadonlyArray<string> = ["participants", "decision"]

const listFields = {
  status: optional(Schema.Literals(RunStatus.literals).annotate(about("Runs with this status", "completed"))),
  tags: optional(commaSeparated("Tags separated by commas; a run must have all of them", "nightly,loans")),
  createdAfter: optional(isoDate("Runs created after this time, exclusive", "2026-07-01")),
  createdBefore: optional(isoDate("Runs created before this time, exclusive", "2026-07-02T12:00:00.000Z")),
  limit: withDefault(
    integer({ min: 1, max: MAX_RUN_PAGE }).annotate(about("Most runs of the page", DEFAULT_RUN_PAGE)),
    DEFAULT_RUN_PAGE
  ),
  offset: withDefault(integer({ min: 0 }).annotate(about("Matches to leave out before the page", 0)), 0),
  sortBy: withDefault(
    shownAs(
      SORT_FORM,
      about("What runs are sorted by; `mark.quality` is the latest mark of that name", "createdAt")
    ).pipe(Schema.annotate({ default: "createdAt" }), Schema.decodeTo(RunSort)),
    "createdAt"
  ),
  sortOrder: withDefault(
    Schema.Literals(["asc", "desc"]).annotate(
      about("asc lists the oldest or least first, desc the newest or most", "desc")
    ),
    "desc"
  ),
  includeArchived: withDefault(
    Schema.Boolean.annotate(about("Whether archived runs are listed too; any text but true is false", false)),
    false
  ),
  environment: optional(Field.text("Runs whose metadata.environment equals this", "staging")),
  scenarioRef: optional(
    Field.text("Runs whose metadata.scenarioRef or sourceRef contains this; case is ignored", "incident/")
  ),
  search: optional(
    Field.text("Runs that have this in id, a tag, scenario, environment, sourceRef or policy; case ignored", "failover")
  ),
  include: optional(
    commaSeparated(
      "What each run has beside its record, separated by commas. participants: its participantCount; decision: its decision",
      "participants,decision"
    ).check(
      Schema.makeFilter(
        (words: ReadonlyArray<string>) =>
          words.every((word) => INCLUDED.includes(word)) ||
          `include must be one of the following values: ${INCLUDED.join(", ")}`
      )
    )
  ),
  includeSandbox: optional(Field.text("Accepted and ignored: sandbox runs are always listed", "true")),
  q: optional(
    searchText(
      runQueryFields,
      "Runs that this search finds, among those of the other filters; GET /query/fields lists its fields",
      "status:(failed,cancelled) cost:>0.5 -metadata.team:payments"
    )
  ),
  cursor: optional(cursorText)
}

/** The query of `GET /runs`. Dates are compared strictly: after is >, before is <. */
export const runListQuery = querySchema(listFields)
export type RunListQuery = typeof runListQuery.Type

/** The fields whose values `GET /runs/facets` counts, in this order. */
export const facetFields = [
  "status",
  "scenario",
  "sourceRef",
  "environment",
  "policyVersion",
  "errorCode",
  "tags"
] as const
export type FacetField = (typeof facetFields)[number]
/** Values of one field in an answer, the most frequent ones. */
export const MAX_FACET_VALUES = 20

const { cursor, include, includeSandbox, limit, offset, sortBy, sortOrder, ...filterFields } = listFields

/** The query of `GET /runs/facets`: the filters of `GET /runs`. */
export const runFacetsQuery = querySchema({
  fields: optional(
    commaSeparated("Fields to count, separated by commas; all unless said: those of the answer", "status,tags")
  ),
  ...filterFields
})
export type RunFacetsQuery = typeof runFacetsQuery.Type

export const DEFAULT_EVENT_PAGE = 200

/** The query of `GET /runs/:id/events`; `afterTs` is inclusive, `beforeTs` exclusive. */
export const runEventsQuery = querySchema({
  afterSeq: withDefault(integer({ min: 0 }).annotate(about("Only events with a greater seq", 0)), 0),
  limit: withDefault(
    integer({ min: 1 }).annotate(about("Most events of the page", DEFAULT_EVENT_PAGE)),
    DEFAULT_EVENT_PAGE
  ),
  afterTs: optional(isoDate("Only events of this time or later", "2026-07-01T10:00:00.000Z")),
  beforeTs: optional(isoDate("Only events before this time", "2026-07-02")),
  type: optional(
    commaSeparated("Event types separated by commas; unknown ones match nothing", "proposal.created,decision.finalized")
  )
})
export type RunEventsQuery = typeof runEventsQuery.Type

export const MIN_HEARTBEAT_MS = 1000

/** What a link says in place of a key (docs/reference/http.md#tickets); read in front of the handlers. */
export const ticketField = optional(
  Field.text(
    "A ticket of `POST /runs/:id/stream-tickets`, in place of a key",
    "rKk0w5Yb0mCqz3k1TtYp9fJc7lG2sVxN4uE8hQdWiRM"
  )
)
/** How clients of event streams say where they were cut off. */
export const lastEventId = {
  "last-event-id": optional(
    Field.text("seq of the last event received, as EventSource sends it; what is not a number is ignored", "42")
  )
}

/** The query of `GET /runs/:id/stream`. The heartbeat's default is a setting of the server. */
export const runStreamQuery = querySchema({
  ticket: ticketField,
  afterSeq: optional(
    integer({ min: 0 }).annotate(about("Send the events after this seq first, also for 0; wins over Last-Event-ID", 0))
  ),
  includeSnapshot: withDefault(
    Schema.Boolean.annotate(
      about(
        "Whether the stream begins with a snapshot; any text but true is false. What follows is said by snapshots",
        true
      )
    ),
    true
  ),
  snapshots: optional(
    Schema.Literals(["all", "first"]).annotate(
      about("first: none after the one at the beginning, for clients that fold the events; all unless said", "first")
    )
  ),
  heartbeatMs: optional(
    integer({ min: MIN_HEARTBEAT_MS }).annotate(
      about("Milliseconds between heartbeats; the setting STREAM_SSE_HEARTBEAT_MS (15000) unless said", 15_000)
    )
  )
})
export type RunStreamQuery = typeof runStreamQuery.Type
