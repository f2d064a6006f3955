import { randomUUID } from "node:crypto"
import { contract, type Statement } from "./Contract.ts"
import { absent, including, isCount, isList, isText, Keys, listOf, TIMESTAMP, UUID } from "./Matching.ts"
import { MODE } from "./World.ts"

const get = (path: string, says: string, answer: unknown, over: Partial<Statement> = {}): Statement => ({
  says: `GET ${path} ${says}`,
  method: "GET",
  path,
  status: 200,
  answer,
  ...over
})

const RULES = { voting: { algorithm: "majority", threshold: 0.5, quorum: { type: "count", value: 2 } } }
const policy = (over: Readonly<Record<string, unknown>> = {}) => ({
  policyId: `policy.${randomUUID()}`,
  mode: MODE,
  description: "d",
  rules: RULES,
  ...over
})
const register = (
  says: string,
  over: Readonly<Record<string, unknown>>,
  status: number,
  answer: unknown
): Statement => ({
  says: `POST /runtime/policies ${says}`,
  method: "POST",
  path: "/runtime/policies",
  body: policy(over),
  status,
  answer
})
const known = policy({ policyId: "policy.known" })
const setUp = [["POST", "/runtime/policies", known]] as const
const invalid = (message: RegExp | string) => ({ errorCode: "INVALID_POLICY_DEFINITION", message })
const OK = { ok: true }

contract("Runtime and policies", [
  get("/runtime/manifest", "is identity and supported modes", { agentId: isText, supportedModes: isList }),
  get("/runtime/modes", "lists modes", isList),
  get("/runtime/roots", "lists roots", isList),
  get("/runtime/health", "has ok, kind and detail", { ok: true, runtimeKind: "fake", detail: isText }),
  get(
    "/runtime/manifest",
    "passes a failure on",
    { errorCode: "RUNTIME_UNAVAILABLE" },
    {
      runtimeFails: ["GetManifest", "UNAVAILABLE"],
      status: 503
    }
  ),
  register("answers ok", {}, 201, OK),
  register("takes the versions 1", { schemaVersion: 1 }, 201, OK),
  register("takes the version 2", { schemaVersion: 2 }, 201, OK),
  register("takes the version 3", { schemaVersion: 3 }, 201, OK),
  ...[0, 4, 1.5, "3", true].map((schemaVersion) =>
    register(`refuses the version ${JSON.stringify(schemaVersion)}`, { schemaVersion }, 400, {
      message: ["schemaVersion must be one of 1, 2, 3"]
    })
  ),
  register(
    "refuses an unknown rule key, naming path and key",
    { rules: { voting: { treshold: 1 } } },
    400,
    invalid('/voting: unrecognized key "treshold"')
  ),
  register("refuses an unknown section", { rules: { vote: {} } }, 400, invalid('(root): unrecognized key "vote"')),
  register(
    "refuses a wrong shape",
    { rules: { objection_handling: { critical_severity_vetoes: "yes" } } },
    400,
    invalid(/^\/objection_handling\/critical_severity_vetoes: /)
  ),
  register(
    "takes the objection and commitment sections",
    {
      rules: {
        objection_handling: { critical_severity_vetoes: true, veto_threshold: 1 },
        commitment: { authority: "initiator_only", require_vote_quorum: true }
      }
    },
    201,
    OK
  ),
  register("ignores annotations", { rules: { _note: 1, $schema: "x", voting: { _why: "y" } } }, 201, OK),
  register(
    "takes for mode * what any mode knows",
    { mode: "*", rules: { abstention: { counts_toward_quorum: true } } },
    201,
    OK
  ),
  register(
    "refuses for mode * what no mode knows",
    { mode: "*", rules: { nothing: {} } },
    400,
    invalid(/unrecognized key "nothing"/)
  ),
  register("does not validate rules of extension modes", { mode: "ext.own.v1", rules: { any: { thing: 1 } } }, 201, OK),
  register("wants rules to be an object", { rules: [] }, 400, { message: ["rules must be a JSON object"] }),
  register("wants an id", { policyId: "" }, 400, { message: ["policyId is required"] }),
  get(
    "/runtime/policies",
    "lists descriptors with parsed rules",
    including({ policyId: "policy.known", rules: RULES }),
    { after: setUp }
  ),
  get("/runtime/policies?mode=no.such", "filters by mode", (list: ReadonlyArray<{ readonly mode: string }>) =>
    list.every(({ mode }) => mode !== MODE)
  ),
  get(
    "/runtime/policies/policy.known",
    "is one descriptor; an omitted version is 3",
    {
      policyId: "policy.known",
      mode: MODE,
      description: "d",
      rules: RULES,
      schemaVersion: 3
    },
    { after: setUp }
  ),
  get("/runtime/policies/no.such", "is 404", { errorCode: "NOT_FOUND" }, { status: 404 }),
  {
    says: "DELETE /runtime/policies/:policyId answers ok",
    after: [["POST", "/runtime/policies", policy({ policyId: "policy.gone" })]],
    method: "DELETE",
    path: "/runtime/policies/policy.gone",
    status: 200,
    answer: OK
  }
])

const URL = "https://192.0.2.1/hook"
const webhook = { url: URL, events: ["run.completed"], secret: "very-secret" }

contract("Webhooks", [
  {
    says: "POST /webhooks answers the subscription",
    method: "POST",
    path: "/webhooks",
    body: webhook,
    status: 201,
    answer: { id: UUID, ...webhook, active: true }
  },
  { says: "POST /webhooks wants a url", method: "POST", path: "/webhooks", body: { secret: "s" }, status: 400 },
  { says: "POST /webhooks wants a secret", method: "POST", path: "/webhooks", body: { url: URL }, status: 400 },
  get("/webhooks", "lists all subscriptions", listOf({ id: UUID, url: URL, events: isList, active: true }), {
    after: [["POST", "/webhooks", webhook]]
  }),
  {
    says: "PATCH /webhooks/:id is 404 for an unknown one",
    method: "PATCH",
    path: "/webhooks/:run",
    body: { active: false },
    status: 404
  },
  { says: "DELETE /webhooks/:id is 204", method: "DELETE", path: "/webhooks/:run", status: 204, answer: "" }
])

contract("Administration", [
  get("/audit", "is a page with limit 50", {
    data: listOf({ id: UUID, actor: isText, action: isText, resource: isText, createdAt: TIMESTAMP }),
    total: isCount,
    limit: 50,
    offset: 0
  }),
  get("/audit?action=run.create&resource=run", "filters by action and resource", {
    data: listOf({ action: "run.create", resource: "run" })
  }),
  get("/audit?resourceId=:run", "filters by resource id", { total: 1 }, { given: "scripted" }),
  get("/audit?actor=unknown", "filters by actor", { data: [], total: 0 }),
  get("/audit?createdAfter=2099-01-01", "filters by time", { data: [], total: 0 }),
  get("/audit?createdBefore=2099-01-01&limit=1&offset=1", "pages", { limit: 1, offset: 1 }),
  {
    says: "POST /admin/circuit-breaker/reset closes the breaker",
    method: "POST",
    path: "/admin/circuit-breaker/reset",
    status: 200,
    answer: { status: "ok", state: "CLOSED" }
  },
  ...["", "?window=1h", "?window=6h", "?window=24h", "?window=7d"].map((query) =>
    get(`/admin/circuit-breaker/history${query}`, "is the state and its history", {
      state: "CLOSED",
      history: [{ state: "CLOSED", enteredAt: TIMESTAMP, reason: "initial" }]
    })
  ),
  get("/admin/circuit-breaker/history?window=7d&since=2099-01-01T00:00:00Z", "has since override window", {
    history: []
  }),
  get("/admin/process", "says how the process was started", { startedAt: TIMESTAMP, observedRuns: 0 }),
  get("/admin/archive", "says that the database has no archive", { archive: null }),
  get("/admin/ingest", "says that no telemetry waits", { data: [] }),
  get("/admin/processes", "says of the only process that it has all shards", {
    data: [
      {
        isThis: true,
        startedAt: TIMESTAMP,
        seenAt: TIMESTAMP,
        shards: 64,
        observedRuns: 0,
        oldestAppendMs: 0,
        reconnects: 0
      }
    ]
  }),
  get("/admin/runtime/sessions", "is the drift report", {
    complete: true,
    runtimeSessionCount: isCount,
    liveRuntimeSessionCount: isCount,
    trackedRunCount: isCount,
    untrackedSessions: isList,
    missingFromRuntime: isList
  }),
  ...(
    [
      ["UNAVAILABLE", 503, "SERVICE_UNAVAILABLE"],
      ["CIRCUIT_BREAKER_OPEN", 503, "SERVICE_UNAVAILABLE"],
      ["DEADLINE_EXCEEDED", 504, "RUNTIME_TIMEOUT"],
      ["UNAUTHENTICATED", 401, "UNAUTHENTICATED"],
      ["DATA_LOSS", 500, "INTERNAL_ERROR"]
    ] as const
  ).map(([reason, status, errorCode]) =>
    get(
      "/admin/runtime/sessions",
      `is ${status} ${errorCode} when the runtime fails with ${reason}`,
      { statusCode: status, errorCode },
      {
        runtimeFails: ["ListSessions", reason],
        status
      }
    )
  )
])

const CHART = { labels: isList, data: isList }
const overview = (query: string, says: string, answer: unknown, status = 200) =>
  get(`/dashboard/overview${query}`, says, answer, { status })

contract("Dashboard", [
  overview("", "has the key figures", {
    kpis: {
      ...{ totalRuns: 1, activeRuns: 0, completedRuns: 1, failedRuns: 0, cancelledRuns: 0, totalSignals: 1 },
      ...{ totalTokens: 1_000_150, totalCostUsd: isCostOfOneDollar, avgDurationMs: isCount }
    }
  }),
  overview("", "lists recent runs", {
    recentRuns: [{ id: UUID, status: "completed", runtimeKind: "fake", createdAt: TIMESTAMP }]
  }),
  overview("", "has the health of the runtime", { runtimeHealth: { ok: true, runtimeKind: "fake" } }),
  overview("", "has the thirteen charts", {
    charts: {
      ...{ runVolume: CHART, latency: CHART, signalVolume: CHART, errorClasses: CHART, throughput: CHART },
      ...{ queueDepth: CHART, latencyP50: CHART, latencyP95: CHART, latencyP99: CHART, cost: CHART },
      ...{ successRate: { data: [100] }, decisionOutcome: { data: [1] }, perScenario: { data: [1] } }
    }
  }),
  ...["window=1h", "window=6h", "window=24h", "window=7d", "window=30d", "range=24h", "range=7d", "range=30d"].map(
    (query) => overview(`?${query}`, "takes the window", { kpis: { totalRuns: 1 } })
  ),
  overview("?window=2h", "refuses another window", { errorCode: "VALIDATION_ERROR" }, 400),
  overview("?from=2020-01-01&to=2020-01-02&window=24h", "has from and to override window", { kpis: { totalRuns: 0 } }),
  overview("?scenarioRef=LOANS/fast-check@1.0.0", "filters by scenario, case ignored", { kpis: { totalRuns: 1 } }),
  overview("?scenarioRef=fast-check", "does not match part of it", { kpis: { totalRuns: 0 } }),
  overview("?environment=staging", "filters by environment", { kpis: { totalRuns: 1 } }),
  overview("?environment=Staging", "matches it exactly", { kpis: { totalRuns: 0 } }),
  get(
    "/dashboard/agents/metrics",
    "counts by participant",
    listOf({
      participantId: isText,
      runs: 1,
      messages: isCount,
      signals: isCount,
      averageConfidence: (value: number) => value === 0 || value === 0.7
    })
  )
])

contract("Health", [
  get("/healthz", "is ok", { status: "ok" }),
  get("/healthz", "says nothing else", new Keys("status")),
  get("/readyz", "has the checks", {
    status: isText,
    checks: new Keys("database", "log", "loops", "runtime", "streamConsumer", "circuitBreaker")
  }),
  get("/metrics", "is text", /^# HELP /, { answerHeaders: { "content-type": /^text\/plain/ } }),
  ...["circuit_breaker_state", "proto_circuit_breaker_success_total", "proto_circuit_breaker_failures_total"].map(
    (name) => get("/metrics", `exports ${name}`, new RegExp(`^${name} `, "m"))
  ),
  get("/docs", "is served in development only", { errorCode: "NOT_FOUND" }, { status: 404 }),
  get("/docs-json", "is served in development only", { errorCode: "NOT_FOUND", nextCursor: absent }, { status: 404 })
])

contract(
  "What the service does, 7",
  [
    get("/docs", "is served in development", /<html/i),
    get("/docs-json", "is served in development", { openapi: isText, paths: { "/runs": {} } })
  ],
  { settings: { NODE_ENV: "development" } }
)

function isCostOfOneDollar(value: unknown) {
  return value === 1
}
