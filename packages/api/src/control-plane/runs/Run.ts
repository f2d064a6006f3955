import { Field, guessedPart, ListedDecision, RunId, RunMode, RunStatus } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

export const Timestamp = Schema.String.annotate({
  description: "ISO-8601, UTC, milliseconds",
  format: "date-time",
  examples: ["2026-07-01T10:00:00.000Z"]
})

/** Tokens and cost of a run in lists, whatever its status; absent while it has no call of a language model. */
export const RunUsage = Schema.Struct({
  totalTokens: Field.number("Tokens of all LLM calls so far", 4200),
  estimatedCostUsd: Field.number("US dollars of these", 0.0123),
  guessedCostUsd: guessedPart,
  uncountedCostUsd: optional(
    Field.number(
      "US dollars that spans stated beyond the bound of a call; in no cost, and absent when there are none",
      999
    )
  ),
  callsWithoutUsage: optional(
    Field.integer("LLM calls of which the agents stated no count; absent when there are none. The sums lack them", 1)
  )
}).annotate({ identifier: "RunUsage", description: "In lists: what the calls of language models cost so far" })
export type RunUsage = typeof RunUsage.Type

/**
 * A run as the API shows it (docs/reference/runs.md#run-record). Absent optional values are absent keys, except
 * `archivedAt`.
 */
export const Run = Schema.Struct({
  id: RunId,
  runId: RunId,
  status: RunStatus,
  mode: RunMode,
  modeName: optional(Field.text("Mode of the session", "macp.mode.decision.v1")),
  policyVersion: optional(Field.text("Policy of the session, where the descriptor names one", "policy.default")),
  runtimeKind: Field.text("Kind of the runtime that hosts the session", "rust"),
  runtimeVersion: optional(Field.text("Version of the runtime, as the descriptor requests it")),
  runtimeSessionId: Field.text("Session of the run: the given id, else an allocated one"),
  traceId: Field.text("W3C trace id: 32 hex digits"),
  idempotencyKey: optional(Field.text("The key the run was created under")),
  lastEventSeq: Field.integer("seq of the run's last canonical event"),
  lastEventIndex: Field.integer("Index of that event: the number of the run's canonical events"),
  sourceKind: optional(Field.text("What submitted the run: session.metadata.source", "launch-service")),
  sourceRef: optional(Field.text("What it was made from: session.metadata.sourceRef", "loans/fast-check@1.0.0")),
  source: optional(
    Schema.Struct({
      kind: optional(Field.text("Same as sourceKind")),
      ref: optional(Field.text("Same as sourceRef"))
    }).annotate({ description: "sourceKind and sourceRef in one" })
  ),
  tags: Field.texts("Tags of the descriptor; sandbox and archived are added by the service", ["nightly"]),
  metadataOmitted: optional(
    Schema.Array(Schema.String).annotate({
      description: "In lists: keys of metadata that are left out because their values are large",
      examples: [["session_context"]]
    })
  ),
  metadata: Schema.JsonObject.annotate({
    description: "executionRequest (the submitted descriptor), the session metadata, and what is known after the end"
  }),
  errorCode: optional(Field.text("Of a failed run: why, as a code", "SESSION_EXPIRED")),
  errorMessage: optional(Field.text("Of a failed run: why, in words")),
  historyGap: optional(
    Schema.Literal(true).annotate({
      description:
        "Present when envelopes are known to be missing from the run's log. A runtime may drop the history of a session " +
        "when it ends; the reference runtime keeps it with `MACP_COMPACT_TERMINAL_LOGS=0`"
    })
  ),
  participantCount: optional(
    Field.integer("In lists that include participants: how many have said or signalled something, or were seen")
  ),
  intent: optional(Field.text("In lists: what the session is for, as its opener states it", "pick a release plan")),
  usage: optional(RunUsage),
  decision: optional(ListedDecision).annotate({
    description: "In lists that include decisions: the one of the run, as of `asOfSeq`"
  }),
  createdAt: Field.time("When the run was created"),
  updatedAt: Field.time("When the record last changed"),
  startedAt: optional(Field.time("When the service began to look for the session")),
  endedAt: optional(Field.time("When the run reached a final status")),
  archivedAt: Schema.NullOr(Timestamp).annotate({ description: "When the run was archived; null when it is not" }),
  storage: optional(
    Schema.Literal("archive").annotate({
      description:
        "Present when the run has left the database and is read from the files of the archive: it is read-only"
    })
  )
}).annotate({
  identifier: "Run",
  description: "A run of a multi-agent session"
})
export type Run = typeof Run.Type

export const RunPage = Schema.Struct({
  data: Schema.Array(Run).annotate({ description: "The runs of this page" }),
  total: Schema.Int.annotate({ description: "All matches of the same conditions, this page's included" }),
  limit: Field.integer("Most runs of a page, as requested"),
  offset: Field.integer("Matches before this page, as requested"),
  nextCursor: optional(Field.text("Only on a full page: to be given as cursor for the next one"))
}).annotate({ identifier: "RunPage", description: "One page of runs" })
export type RunPage = typeof RunPage.Type

/** The answer of `POST /runs` (docs/reference/runs.md#create). */
export const RunAccepted = Schema.Struct({
  runId: RunId,
  sessionId: Field.text("Session for the agents to join; the initiator opens it on the runtime"),
  status: RunStatus,
  traceId: Field.text("W3C trace id of the run: 32 hex digits")
}).annotate({
  identifier: "RunAccepted",
  description: "A created run; for a known idempotency key the original run with its current status"
})
export type RunAccepted = typeof RunAccepted.Type

/** The answer of `POST /runs/validate` (docs/reference/runs.md#validate). */
export const RunValidation = Schema.Struct({
  valid: Field.flag("Whether a run of this descriptor could start"),
  errors: Field.texts("Why it could not"),
  warnings: Field.texts("What could not be checked, such as a runtime that does not answer"),
  runtime: Schema.Struct({
    reachable: Field.flag("Whether the runtime answered"),
    supportedModes: Field.texts("Modes it supports; empty when it did not answer"),
    capabilities: optional(Field.object("What else it can do, as it says itself"))
  }).annotate({ description: "What the runtime says" })
}).annotate({
  identifier: "RunValidation",
  description: "Whether a descriptor would be accepted, and what the runtime says about it"
})
export type RunValidation = typeof RunValidation.Type
