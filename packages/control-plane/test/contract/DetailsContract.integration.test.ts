import { contract, type Statement } from "./Contract.ts"
import { including, isCount, isText, Keys, TIMESTAMP, TRACE_ID, UUID } from "./Matching.ts"
import { RISK } from "./World.ts"

const get = (path: string, says: string, answer: unknown, over: Partial<Statement> = {}): Statement => ({
  says: `GET ${path} ${says}`,
  given: "scripted",
  method: "GET",
  path,
  status: 200,
  answer,
  ...over
})

// docs/reference/events.md
contract("Events and state, in detail", [
  ...(
    [
      ["run.created", { kind: "control-plane", name: "run-manager" }],
      ["session.bound", { kind: "control-plane", name: "run-executor" }],
      ["message.received", { kind: "runtime", name: "rust-runtime", rawType: isText }]
    ] as const
  ).map(([type, source]) =>
    get(`/runs/:run/events?type=${type}`, "names its source", {
      data: (events: ReadonlyArray<unknown>) => including({ source, schemaVersion: 3 })(events)
    })
  ),
  get("/runs/:run/events?type=message.received", "is stamped with the run's trace", {
    data: including({ trace: { traceId: TRACE_ID } })
  }),
  get("/runs/:run/events?type=session.bound", "describes the session", {
    data: [
      {
        subject: { kind: "session" },
        data: {
          sessionId: UUID,
          state: "OPEN",
          modeName: isText,
          modeVersion: isText,
          configurationVersion: isText,
          policyVersion: "policy.default"
        }
      }
    ]
  }),
  get("/runs/:run/events?type=participant.seen", "names each participant once", { total: 2 }),
  get(
    "/runs/:run/state",
    "is the empty state for a run that has not begun",
    {
      participants: [],
      decision: {},
      signals: { signals: [] },
      progress: { entries: [] },
      policy: { policyVersion: "", commitmentEvaluations: [] },
      llm: { calls: [], totals: { callCount: 0, totalTokens: 0 } },
      outboundMessages: { total: 0, queued: 0, accepted: 0, rejected: 0 }
    },
    { given: "waiting" }
  ),
  get("/runs/:run/state", "draws the graph of the session", {
    graph: {
      nodes: including({ id: "__decision", kind: "decision", status: "completed" }),
      edges: including({ from: RISK, to: "__decision", kind: "vote", ts: TIMESTAMP })
    }
  }),
  get("/runs/:run/state", "counts the messages that are listed, and no refusal without a message id", {
    outboundMessages: { total: 15, queued: 0, accepted: 15, rejected: 0 }
  }),
  get("/runs/:run/state", "has the newest events, their number and the positions of the last one", {
    timeline: new Keys("latestSeq", "latestIndex", "totalEvents", "recent")
  }),
  get("/runs/:run/state", "links artifacts and counts spans in the trace section", {
    trace: { traceId: TRACE_ID, spanCount: isCount, linkedArtifacts: [UUID] }
  })
])

// docs/reference/errors.md#errors to docs/reference/admin.md#operation
contract("Edges and administration, in detail", [
  {
    says: "an unknown route names its method",
    method: "PUT",
    path: "/runs/nothing/here",
    status: 404,
    answer: { errorCode: "NOT_FOUND", message: "Cannot PUT /runs/nothing/here" }
  },
  {
    says: "a known path names the method that it does not have, and those that it has",
    method: "PUT",
    path: "/runs",
    status: 405,
    answer: { errorCode: "METHOD_NOT_ALLOWED", message: "Cannot PUT /runs" },
    answerHeaders: { allow: "GET, HEAD, OPTIONS, POST" }
  },
  get("/runs", "gives a request an id when it brings none", {}, { answerHeaders: { "x-request-id": UUID } }),
  get(
    "/runs",
    "lets the configured origin read",
    {},
    {
      headers: { origin: "http://localhost:3000" },
      answerHeaders: {
        "access-control-allow-origin": "http://localhost:3000",
        "access-control-allow-credentials": "true"
      }
    }
  ),
  {
    says: "a preflight is 204 with the methods",
    method: "OPTIONS",
    path: "/runs",
    headers: { origin: "http://localhost:3000", "access-control-request-method": "POST" },
    status: 204,
    answerHeaders: { "access-control-allow-methods": /GET.*POST.*DELETE|POST/ }
  },
  ...["POST", "DELETE", "GET"].map(
    (method): Statement => ({
      says: `${method} with an empty body of type application/json is read as {}`,
      given: "unknown",
      method,
      path: method === "GET" ? "/runs" : method === "DELETE" ? "/webhooks/:run" : "/admin/circuit-breaker/reset",
      headers: { "content-type": "application/json" },
      status: method === "DELETE" ? 204 : 200
    })
  ),
  get(
    "/audit?action=run.archived",
    "takes the older names of actions",
    { total: 1 },
    {
      given: "completed",
      after: [["POST", "/runs/:run/archive"]]
    }
  ),
  get("/audit?resourceId=:run&action=run.create", "names the caller, the action and the request", {
    data: [
      {
        actor: "anonymous",
        actorType: isText,
        resource: "run",
        resourceId: UUID,
        requestId: UUID,
        clientAddress: isText,
        details: { outcome: "succeeded" }
      }
    ]
  }),
  get("/admin/circuit-breaker/history?since=soon", "does not filter by a value that is not a date", {
    history: including({ reason: "initial" })
  }),
  get("/admin/circuit-breaker/history?window=15m", "does not filter by an unknown window", {
    history: including({ reason: "initial" })
  }),
  get("/readyz", "carries the flat keys as well", {
    ok: true,
    database: "ok",
    streamConsumer: "ok",
    circuitBreaker: "CLOSED"
  })
])

const hook = { url: "https://192.0.2.1/hook", events: ["run.failed"], secret: "very-secret-words" }

// docs/reference/webhooks.md#webhooks
contract("Webhooks, in detail", [
  {
    says: "a secret is shown once",
    after: [["POST", "/webhooks", hook]],
    method: "GET",
    path: "/webhooks",
    status: 200,
    answer: including({ url: hook.url, secret: (secret: string) => secret.endsWith("ords") && secret !== hook.secret })
  },
  ...["ftp://example.org/x", "example.org", "http://127.0.0.1/x", "http://169.254.169.254/x"].map(
    (url): Statement => ({
      says: `POST /webhooks refuses the target ${url}`,
      method: "POST",
      path: "/webhooks",
      body: { ...hook, url },
      status: 400,
      answer: { errorCode: "VALIDATION_ERROR" }
    })
  ),
  {
    says: "POST /webhooks takes event names that never match",
    method: "POST",
    path: "/webhooks",
    body: { ...hook, events: ["signal.emitted"] },
    status: 201,
    answer: { events: ["signal.emitted"], active: true }
  },
  {
    says: "POST /webhooks without events means all",
    method: "POST",
    path: "/webhooks",
    body: { url: hook.url, secret: "s" },
    status: 201,
    answer: { events: [] }
  }
])
