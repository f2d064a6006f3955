import { randomUUID } from "node:crypto"
import { descriptor } from "../support/HttpService.ts"
import { contract, type Statement } from "./Contract.ts"
import { absent, including, isCount, isList, isText, Keys, listOf, TIMESTAMP, TRACE_ID, UUID } from "./Matching.ts"
import { MODE } from "./World.ts"

const RUN_RECORD = {
  id: UUID,
  runId: UUID,
  status: isText,
  runtimeKind: "fake",
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  tags: isList,
  metadata: {}
}
const ACCEPTED = { runId: UUID, sessionId: isText, status: "queued", traceId: TRACE_ID }
const refusedFor = (message: string) => ({
  statusCode: 400,
  errorCode: "VALIDATION_ERROR",
  message: including(message)
})

const create = (says: string, body: unknown, status: number, answer: unknown): Statement => ({
  says: `POST /runs ${says}`,
  method: "POST",
  path: "/runs",
  body,
  status,
  answer
})

const sessionId = randomUUID()

contract("Runs, creation", [
  create("answers 202 with runId, sessionId, status queued and traceId", descriptor(), 202, ACCEPTED),
  create("answers nothing else", descriptor(), 202, new Keys("runId", "sessionId", "status", "traceId")),
  create("echoes a session id that is a UUID v4", descriptor({ session: { sessionId } }), 202, { sessionId }),
  create(
    "takes a UUID v7",
    descriptor({ session: { sessionId: "0197c3a0-7d2b-7c35-8f00-0123456789ab" } }),
    202,
    ACCEPTED
  ),
  create(
    "takes base64url of 22 characters",
    descriptor({ session: { sessionId: "abcdefghijklmnopqrstuv" } }),
    202,
    ACCEPTED
  ),
  create("refuses other session ids", descriptor({ session: { sessionId: "short" } }), 400, {
    errorCode: "INVALID_SESSION_ID"
  }),
  create("takes the mode sandbox", descriptor({ mode: "sandbox" }), 202, ACCEPTED),
  create(
    "takes free metadata, tags and a requester",
    {
      ...descriptor({ session: { metadata: { runLabel: "x", any: [1, null] } } }),
      execution: { tags: ["a"], requester: { actorId: "u1", actorType: "service" } }
    },
    202,
    ACCEPTED
  ),
  ...["kickoff", "commitments", "policyHints", "initiatorParticipantId"].map((field) =>
    create(
      `refuses the scenario-specific field ${field}`,
      descriptor({ [field]: [] }),
      400,
      refusedFor(`property ${field} should not exist`)
    )
  ),
  create(
    "refuses participants[].role",
    descriptor({ session: { participants: [{ id: "agent://a", role: "voter" }] } }),
    400,
    refusedFor("session.participants.0.property role should not exist")
  ),
  create("refuses a body that is missing", undefined, 400, { errorCode: "VALIDATION_ERROR" }),
  create("refuses a tag that is too long", descriptor({ execution: { tags: ["x".repeat(201)] } }), 400, {
    message: ["execution.each value in tags must be shorter than or equal to 200 characters"]
  }),
  create(
    "refuses such a scenario reference as well",
    descriptor({ session: { metadata: { scenarioRef: "x".repeat(513) } } }),
    400,
    refusedFor("session.metadata.scenarioRef must be shorter than or equal to 512 characters")
  ),
  create(
    "takes a policy version of any length",
    descriptor({
      session: { policyVersion: Array.from({ length: 2_000 }, (_, position) => Math.sin(position)).join(" ") }
    }),
    202,
    ACCEPTED
  ),
  {
    says: "POST /runs/validate checks without creating a run",
    method: "POST",
    path: "/runs/validate",
    body: descriptor(),
    status: 201,
    answer: { valid: true, errors: [], warnings: [], runtime: { reachable: true } }
  },
  {
    says: "POST /runs/validate refuses what POST /runs refuses",
    method: "POST",
    path: "/runs/validate",
    body: descriptor({ kickoff: [] }),
    status: 400,
    answer: refusedFor("property kickoff should not exist")
  }
])

const list = (query: string, answer: unknown, status = 200): Statement => ({
  says: `GET /runs?${query}`,
  given: "scripted",
  method: "GET",
  path: `/runs?${query}`,
  status,
  answer
})
const hit = { data: listOf(RUN_RECORD), total: 1 }
const none = { data: [], total: 0 }

contract("Runs, listing", [
  {
    ...list("", { data: listOf(RUN_RECORD), total: 1, limit: 50, offset: 0 }),
    says: "GET /runs answers data, total, limit, offset"
  },
  list("status=completed", hit),
  list("status=failed", none),
  list("tags=nightly", hit),
  list("tags=nightly,other", none),
  list("createdAfter=2020-01-01", hit),
  list("createdBefore=2020-01-01", none),
  list("limit=200", { limit: 200 }),
  list("limit=201", refusedFor("limit must not be greater than 200"), 400),
  list("limit=0", refusedFor("limit must not be less than 1"), 400),
  list("offset=1", { data: [], total: 1, offset: 1 }),
  list("sortBy=updatedAt&sortOrder=asc", hit),
  list("sortBy=status", { errorCode: "VALIDATION_ERROR" }, 400),
  list("sortOrder=up", { errorCode: "VALIDATION_ERROR" }, 400),
  list("environment=staging", hit),
  list("environment=STAGING", none),
  list("scenarioRef=FAST-check", hit),
  list("search=fast-check", hit),
  list("search=nightly", hit),
  list("search=nothing-like-it", none),
  {
    says: "GET /runs hides archived runs",
    given: "completed",
    after: [["POST", "/runs/:run/archive"]],
    method: "GET",
    path: "/runs?search=:run",
    status: 200,
    answer: none
  },
  {
    says: "GET /runs?includeArchived=true shows them",
    given: "completed",
    after: [["POST", "/runs/:run/archive"]],
    method: "GET",
    path: "/runs?search=:run&includeArchived=true",
    status: 200,
    answer: hit
  }
])

const read = (path: string, says: string, answer: unknown): Statement => ({
  says: `GET /runs/:id${path} ${says}`,
  given: "scripted",
  method: "GET",
  path: `/runs/:run${path}`,
  status: 200,
  answer
})

contract("Runs, reading", [
  read("", "is the run record", {
    ...RUN_RECORD,
    status: "completed",
    sourceRef: "loans/fast-check@1.0.0",
    startedAt: TIMESTAMP,
    endedAt: TIMESTAMP,
    archivedAt: null,
    tags: ["nightly"],
    metadata: { environment: "staging", runLabel: "nightly loan", executionRequest: { session: { sessionId: UUID } } }
  }),
  read("/state", "is the projected state", { run: { runId: UUID, status: "completed" } }),
  read("/metrics", "counts", {
    runId: UUID,
    ...{
      eventCount: isCount,
      messageCount: isCount,
      signalCount: 1,
      proposalCount: 3,
      toolCallCount: 2,
      decisionCount: 1
    },
    ...{ streamReconnectCount: 0, promptTokens: isCount, completionTokens: isCount, totalTokens: isCount },
    ...{ firstEventAt: TIMESTAMP, lastEventAt: TIMESTAMP, durationMs: isCount, sessionState: isText }
  }),
  read(
    "/messages",
    "lists the messages captured from the stream",
    listOf({ messageId: isText, sender: isText, status: isText })
  ),
  read("/artifacts", "lists the artifacts", [
    { kind: "trace", label: "Root run trace", inline: { traceId: TRACE_ID } }
  ]),
  read("/traces", "has trace, spans, artifacts, status and scenario", {
    traceId: TRACE_ID,
    spanCount: isCount,
    linkedArtifacts: isList,
    runStatus: "completed",
    scenarioRef: "loans/fast-check@1.0.0"
  }),
  {
    says: "GET /runs/:id/traces has no scenarioRef for a run without a scenario",
    given: "waiting",
    method: "GET",
    path: "/runs/:run/traces",
    status: 200,
    answer: { scenarioRef: absent }
  },
  read("/export", "is the whole bundle, without raw events", {
    run: { id: UUID, status: "completed" },
    session: { modeName: MODE },
    projection: {},
    metrics: {},
    artifacts: isList,
    canonicalEvents: listOf({ seq: isCount }),
    rawEvents: [],
    exportedAt: TIMESTAMP
  }),
  read("/export?includeCanonical=false&includeRaw=true", "has the requested parts", {
    canonicalEvents: [],
    rawEvents: listOf({ kind: isText })
  }),
  read("/export?eventLimit=2", "takes the first events up to eventLimit", { canonicalEvents: [{}, {}] }),
  {
    ...read(
      "/export?format=jsonl",
      "is a header line and a line for each event",
      /^\{"type":"header".*\n\{.*"type":"canonical_event"/s
    ),
    answerHeaders: { "content-type": /^application\/x-ndjson/ }
  },
  {
    says: "GET /runs/:id/export refuses another format",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/export?format=xml",
    status: 400
  }
])

const events = (query: string, says: string, answer: unknown, status = 200): Statement => ({
  says: `GET /runs/:id/events${query} ${says}`,
  given: "scripted",
  method: "GET",
  path: `/runs/:run/events${query}`,
  status,
  answer
})
const across = (query: string, says: string, answer: unknown, status = 200): Statement => ({
  says: `GET /events${query} ${says}`,
  given: "scripted",
  method: "GET",
  path: `/events${query}`,
  status,
  answer
})

contract("Runs, events", [
  events("", "is a bare array", listOf({ seq: isCount, type: isText })),
  events("?afterSeq=0&limit=3", "stays one with afterSeq and limit", [{}, {}, {}]),
  events("?afterSeq=99999999", "holds what is strictly greater", []),
  events("?type=run.created,run.started", "is an envelope with type", { data: [{}, {}], total: 2, limit: 200 }),
  events("?type=no.such", "finds nothing for an unknown type", { data: [], total: 0, nextCursor: absent }),
  events("?type=message.received&limit=1", "gives a cursor on a full page", { data: [{}], nextCursor: isCount }),
  events("?afterTs=2020-01-01T00:00:00Z", "takes a lower bound", { data: listOf({}), total: isCount }),
  events("?beforeTs=2020-01-01T00:00:00Z", "takes an upper bound", { data: [], total: 0 }),
  events("?afterSeq=-1", "refuses a negative afterSeq", refusedFor("afterSeq must not be less than 0"), 400),
  events("?limit=0", "refuses limit 0", refusedFor("limit must not be less than 1"), 400),
  events(
    "?afterTs=yesterday",
    "refuses a value that is not a date",
    refusedFor("afterTs must be a valid ISO 8601 date string"),
    400
  ),
  across("", "is an envelope with limit 500", { data: listOf({ seq: isCount }), total: isCount, limit: 500 }),
  across("?limit=2", "gives a cursor on a full page", { data: [{}, {}], nextCursor: isCount }),
  across("?limit=100000", "gives none otherwise", { nextCursor: absent }),
  across("?runId=:run&type=run.created", "filters by run and type", { data: [{}], total: 1 }),
  across("?scenarioRef=loans/fast-check@1.0.0", "matches the source reference", { data: listOf({}) }),
  across("?scenarioRef=FAST", "matches part of the scenario, case ignored", { data: listOf({}) }),
  across("?scenarioRef=nothing", "matches nothing else", { data: [], total: 0 }),
  across("?beforeTs=2020-01-01", "filters by time", { data: [], total: 0 }),
  across("?runId=nonsense", "refuses an id that is not a UUID", { errorCode: "VALIDATION_ERROR" }, 400)
])
