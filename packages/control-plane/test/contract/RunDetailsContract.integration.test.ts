import { randomUUID } from "node:crypto"
import { descriptor } from "../support/HttpService.ts"
import { contract, type Statement } from "./Contract.ts"
import { absent, including, isCount, isText, TIMESTAMP, TRACE_ID, UUID } from "./Matching.ts"
import { LEAD, METADATA, RISK } from "./World.ts"

const get = (path: string, says: string, answer: unknown, over: Partial<Statement> = {}): Statement => ({
  says: `GET ${path} ${says}`,
  given: "scripted",
  method: "GET",
  path,
  status: 200,
  answer,
  ...over
})

const SESSION = randomUUID()
const REQUESTED = randomUUID()
const NAMED = "a-session-that-is-no-uuid"
const CALLBACK = { url: "https://192.0.2.1/cancel", bearer: "b34rer" }
const keyed = (key: string, over: Parameters<typeof descriptor>[0] = {}) =>
  descriptor({ ...over, execution: { idempotencyKey: key } })

// docs/reference/runs.md#run-record
contract("Runs, the record", [
  get("/runs/:run", "has every field", {
    ...{ id: UUID, runId: UUID, mode: "live", runtimeKind: "fake", runtimeVersion: absent, runtimeSessionId: UUID },
    ...{ traceId: TRACE_ID, idempotencyKey: absent, lastEventSeq: isCount, lastEventIndex: isCount },
    ...{ sourceKind: "launch-service", sourceRef: METADATA.sourceRef, errorCode: absent, errorMessage: absent },
    source: { kind: "launch-service", ref: METADATA.sourceRef }
  }),
  get("/runs/:run", "copies the session's metadata to the top level, beside the descriptor as submitted", {
    metadata: { ...METADATA, executionRequest: { session: { sessionId: UUID, metadata: METADATA } } }
  }),
  get("/runs/:run", "adds tokens and cost to the metadata", {
    metadata: { totalTokens: 1_000_150, estimatedCostUsd: (cost: number) => cost > 1 && cost < 1.001 }
  }),
  get(
    "/runs/:run",
    "says why a run failed",
    {
      errorCode: "SESSION_EXPIRED",
      errorMessage: "runtime session expired",
      metadata: { error: "runtime session expired" }
    },
    { given: "failed" }
  ),
  {
    says: "a run of mode sandbox carries the tag",
    after: [["POST", "/runs", { ...descriptor({ session: { sessionId: SESSION } }), mode: "sandbox" }]],
    method: "GET",
    path: `/runs/${SESSION}`,
    status: 200,
    answer: { mode: "sandbox", tags: ["sandbox"] }
  },
  {
    says: "a requester is kept in the metadata",
    after: [
      [
        "POST",
        "/runs",
        descriptor({
          session: { sessionId: REQUESTED },
          execution: { requester: { actorId: "u1", actorType: "user" } }
        })
      ]
    ],
    method: "GET",
    path: `/runs/${REQUESTED}`,
    status: 200,
    answer: { metadata: { requester: { actorId: "u1", actorType: "user" } } }
  },
  {
    says: "a run is found by its session's id when that is not a UUID",
    after: [["POST", "/runs", descriptor({ session: { sessionId: NAMED } })]],
    method: "GET",
    path: `/runs/${NAMED}`,
    status: 200,
    answer: { id: UUID, runtimeSessionId: NAMED }
  },
  {
    says: "the bearer of a cancel callback is never answered",
    after: [
      [
        "POST",
        "/runs",
        descriptor({ session: { sessionId: "with-a-cancel-callback", metadata: { cancelCallback: CALLBACK } } })
      ]
    ],
    method: "GET",
    path: "/runs/with-a-cancel-callback",
    status: 200,
    answer: {
      metadata: {
        cancelCallback: { url: CALLBACK.url, bearer: "[REDACTED]" },
        executionRequest: { session: { metadata: { cancelCallback: { bearer: "[REDACTED]" } } } }
      }
    }
  }
])

// docs/reference/runs.md#create
contract("Runs, idempotency", [
  {
    says: "a known key answers with the original run and its status as it is, whatever the new body says",
    after: [["POST", "/runs", keyed("k1", { session: { sessionId: "the-original-of-key-one", metadata: {} } })]],
    method: "POST",
    path: "/runs",
    body: keyed("k1", { mode: "sandbox" }),
    status: 202,
    answer: { sessionId: "the-original-of-key-one", status: /^(queued|starting)$/ }
  },
  {
    says: "a known key makes nothing",
    after: [
      ["POST", "/runs", keyed("k2", { session: { metadata: { environment: "key-two" } } })],
      ["POST", "/runs", keyed("k2", { session: { metadata: { environment: "key-two" } } })]
    ],
    method: "GET",
    path: "/runs?environment=key-two",
    status: 200,
    answer: { total: 1, data: [{ idempotencyKey: "k2" }] }
  },
  {
    says: "a deleted run frees its key",
    given: "unknown",
    after: [
      ["POST", "/runs", keyed("k3", { session: { sessionId: ":run", metadata: { cancellationDelegated: true } } })],
      ["POST", "/runs/:run/cancel"],
      ["DELETE", "/runs/:run"]
    ],
    method: "POST",
    path: "/runs",
    body: keyed("k3"),
    status: 202,
    answer: { status: "queued" }
  },
  {
    says: "the key is in the body only: a header is none",
    after: [["POST", "/runs", descriptor({ session: { metadata: { environment: "header-key" } } })]],
    method: "POST",
    path: "/runs",
    headers: { "idempotency-key": "k1" },
    body: descriptor(),
    status: 202,
    answer: { status: "queued" }
  }
])

// docs/reference/runs.md#list-runs
contract("Runs, more filters", [
  get("/runs?tags=%20nightly%20,%20", "trims the tags", { total: 1 }),
  get("/runs?includeArchived=yes", "knows only true", { total: 1 }),
  get("/runs?search=:run", "searches the id", { total: 1, data: [{ id: UUID }] }),
  get("/runs?search=STAGING", "searches the environment, case ignored", { total: 1 }),
  get("/runs?search=50%25", "takes a percent sign for itself", { total: 0 }),
  get("/runs?scenarioRef=LOANS%2Ffast", "matches part of the source reference too", { total: 1 }),
  get("/runs?createdAfter=2020-01-01T00:00:00Z&createdBefore=2099-01-01", "takes both bounds", { total: 1 }),
  get("/runs?status=nonsense", "refuses another status", { errorCode: "VALIDATION_ERROR" }, { status: 400 })
])

// docs/reference/runs.md#clone to docs/reference/runs.md#traces
contract("Runs, more actions", [
  {
    says: "a clone has everything but ids and key from the original",
    given: "scripted",
    after: [["POST", "/runs/:run/clone", { tags: ["a-clone"] }]],
    method: "GET",
    path: "/runs?tags=a-clone",
    status: 200,
    answer: { data: [{ tags: ["a-clone"], sourceRef: METADATA.sourceRef, metadata: { environment: "staging" } }] }
  },
  {
    says: "archiving twice keeps one tag and the first time",
    given: "running",
    after: [["POST", "/runs/:run/archive"]],
    method: "POST",
    path: "/runs/:run/archive",
    status: 201,
    answer: { status: "running", archivedAt: TIMESTAMP, tags: ["nightly", "archived"] }
  },
  {
    says: "unarchiving removes the time and the tag",
    given: "running",
    after: [["POST", "/runs/:run/archive"]],
    method: "POST",
    path: "/runs/:run/unarchive",
    status: 201,
    answer: { status: "running", archivedAt: null, tags: ["nightly"] }
  },
  {
    says: "a comparison lists the events of one side alone",
    given: "scripted",
    method: "POST",
    path: "/runs/compare",
    body: { leftRunId: ":run", rightRunId: ":run" },
    status: 201,
    answer: {
      left: { status: "completed", modeName: isText, durationMs: isCount },
      durationDeltaMs: 0,
      confidenceDelta: 0,
      participantsDiff: { added: [], removed: [], common: [LEAD, RISK] },
      signalsDiff: { added: [], removed: [] }
    }
  },
  {
    says: "an artifact may have a uri, and emits its event",
    given: "completed",
    after: [["POST", "/runs/:run/artifacts", { kind: "bundle", label: "b", uri: "https://example.org/b" }]],
    method: "GET",
    path: "/runs/:run/events?type=artifact.created",
    status: 200,
    answer: { total: 2, data: including({ data: { kind: "bundle", label: "b", uri: "https://example.org/b" } }) }
  },
  {
    says: "a batch export has no raw events",
    given: "scripted",
    method: "POST",
    path: "/runs/batch/export",
    body: { runIds: [":run", ":run"] },
    status: 201,
    answer: [{ rawEvents: [] }, { rawEvents: [] }]
  },
  get(
    "/runs/:run/messages",
    "has one record for each message",
    including({
      ...{ id: UUID, runId: UUID, runtimeSessionId: UUID, messageId: "m0", messageType: "SessionStart" },
      ...{ category: "kickoff", sender: LEAD, recipients: [RISK], status: "accepted", createdAt: TIMESTAMP }
    })
  ),
  get(
    "/runs/:run/messages",
    "distinguishes signals and messages",
    including({ messageType: "Signal", category: "signal" })
  ),
  get("/runs/:run/messages", "has what was refused", (list: ReadonlyArray<{ readonly status: string }>) =>
    list.every(({ status }) => status === "accepted" || status === "rejected")
  ),
  get(
    "/runs/:run/metrics",
    "is all zeros for a run without events of the kind",
    { signalCount: 0, toolCallCount: 0, promptTokens: 0, totalTokens: 0, estimatedCostUsd: 0 },
    { given: "waiting" }
  )
])
