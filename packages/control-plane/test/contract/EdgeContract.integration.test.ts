import { descriptor } from "../support/HttpService.ts"
import { contract, type Statement } from "./Contract.ts"
import { absent, including, isCount, isText, listOf } from "./Matching.ts"

const KEY = "key-of-the-contract"

const get = (path: string, says: string, over: Partial<Statement> = {}): Statement => ({
  says: `GET ${path} ${says}`,
  method: "GET",
  path,
  status: 200,
  ...over
})

const withKey = { authorization: `Bearer ${KEY}` }
const refused = (message: string) => ({ statusCode: 401, errorCode: "UNAUTHENTICATED", message })

contract("Authentication, without keys", [
  get("/runs", "needs none when AUTH_API_KEYS is empty"),
  get("/runs", "does not look at one either", { headers: { authorization: "Bearer whatever" } })
])

contract(
  "Authentication",
  [
    ...["/healthz", "/readyz", "/metrics"].map((path) => get(path, "is public")),
    ...["/runs", "/events", "/runs/:run/events", "/runs/:run/stream", "/webhooks", "/audit", "/runtime/manifest"].map(
      (path) => get(path, "wants a key", { status: 401, answer: refused("Missing Authorization header") })
    ),
    ...["/dashboard/overview", "/admin/runtime/sessions", "/admin/circuit-breaker/history", "/runtime/policies"].map(
      (path) => get(path, "wants a key", { status: 401, answer: refused("Missing Authorization header") })
    ),
    get("/runs", "refuses another key", {
      headers: { authorization: "Bearer no" },
      status: 401,
      answer: refused("Invalid authorization token")
    }),
    get("/runs", "refuses an empty key", {
      headers: { authorization: "Bearer " },
      status: 401,
      answer: refused("Empty authorization token")
    }),
    get("/runs", "takes the key as a bearer", { headers: withKey }),
    get("/runs", "takes the bare key", { headers: { authorization: KEY } }),
    get("/nowhere", "is 404 without a key", { status: 404 })
  ],
  { settings: { AUTH_API_KEYS: `other, ${KEY} ,` }, scripted: false }
)

contract("Errors", [
  get("/nowhere", "is 404 NOT_FOUND", {
    status: 404,
    answer: { statusCode: 404, errorCode: "NOT_FOUND", message: "Cannot GET /nowhere", error: "Not Found" }
  }),
  get("/runs/:run", "is 404 RUN_NOT_FOUND for an unknown run", {
    status: 404,
    answer: { statusCode: 404, errorCode: "RUN_NOT_FOUND", message: /^run .* not found$/ }
  }),
  get("/runs/nonsense", "is 400 for an id that is not a UUID", {
    status: 400,
    answer: { errorCode: "VALIDATION_ERROR", message: "Validation failed (uuid is expected)" }
  }),
  {
    says: "a body that is not JSON is 400 VALIDATION_ERROR",
    method: "POST",
    path: "/runs",
    body: "{nope",
    status: 400,
    answer: { statusCode: 400, errorCode: "VALIDATION_ERROR", message: isText }
  },
  {
    says: "a body that breaks rules is 400 with a list of texts",
    method: "POST",
    path: "/runs",
    body: {},
    status: 400,
    answer: { statusCode: 400, errorCode: "VALIDATION_ERROR", message: listOf(isText), error: "Bad Request" }
  },
  {
    says: "a second run of one session is 409 SESSION_ALREADY_EXISTS",
    given: "running",
    method: "POST",
    path: "/runs",
    body: descriptor({ session: { sessionId: ":run" } }),
    status: 409,
    answer: { statusCode: 409, errorCode: "SESSION_ALREADY_EXISTS" }
  },
  {
    says: "an unknown runtime kind is 400",
    method: "POST",
    path: "/runs",
    body: descriptor({ runtime: { kind: "cobol" } }),
    status: 400,
    answer: { errorCode: "VALIDATION_ERROR" }
  },
  {
    says: "a transition that is not allowed is 409 INVALID_STATE_TRANSITION",
    given: "cancelled",
    method: "POST",
    path: "/runs/:run/cancel",
    status: 409,
    answer: { statusCode: 409, errorCode: "INVALID_STATE_TRANSITION", message: /^cannot transition run .* from .* to / }
  },
  {
    says: "a removed endpoint is 410 ENDPOINT_REMOVED",
    method: "POST",
    path: "/runs/:run/signal",
    status: 410,
    answer: { statusCode: 410, errorCode: "ENDPOINT_REMOVED", message: isText, error: absent }
  },
  {
    says: "a body of another type is 415",
    method: "POST",
    path: "/runs",
    body: "<xml/>",
    headers: { "content-type": "text/xml" },
    status: 415,
    answer: { statusCode: 415, errorCode: "UNSUPPORTED_MEDIA_TYPE" }
  },
  get("/runtime/policies", "is 429 RATE_LIMITED when the runtime says so", {
    runtimeFails: ["ListPolicies", "RESOURCE_EXHAUSTED"],
    status: 429,
    answer: { statusCode: 429, errorCode: "RATE_LIMITED" }
  }),
  get("/runtime/policies", "is 401 UNAUTHENTICATED when the runtime refuses the service", {
    runtimeFails: ["ListPolicies", "UNAUTHENTICATED"],
    status: 401,
    answer: { statusCode: 401, errorCode: "UNAUTHENTICATED" }
  }),
  get("/runs", "echoes x-request-id", { headers: { "x-request-id": "r-1" }, answerHeaders: { "x-request-id": "r-1" } })
])

contract("Limits", [
  {
    says: "a body above 1 MB is 413",
    method: "POST",
    path: "/runs",
    body: JSON.stringify({ x: "x".repeat(1024 * 1024) }),
    status: 413,
    answer: { statusCode: 413, errorCode: "PAYLOAD_TOO_LARGE" }
  },
  {
    says: "a body of 900 kB is read",
    method: "POST",
    path: "/runs/validate",
    body: descriptor({ session: { metadata: { x: "x".repeat(900_000) } } }),
    status: 201
  },
  get("/runs", "lists 50 by default", { answer: { limit: 50 } }),
  get("/runs?limit=201", "lists 200 at most", { status: 400 }),
  get("/runs/:run/events?type=run.created", "gives 200 by default", { given: "scripted", answer: { limit: 200 } }),
  get("/events", "gives 500 by default", { answer: { limit: 500 } }),
  get("/runs/:run/stream?heartbeatMs=999", "wants 1000 ms between heartbeats", { given: "scripted", status: 400 }),
  get("/runs/:run/export?eventLimit=50001", "has eventLimit bounded", { given: "scripted", status: 400 })
])

contract(
  "Limits, request rate",
  [
    get("/runs", "has the budget of 100 in 60 s", {
      answerHeaders: {
        "x-ratelimit-limit": "100",
        "x-ratelimit-remaining": /^\d+$/,
        "x-ratelimit-reset": /^([1-5]?\d|60)$/
      }
    }),
    get("/healthz", "is not counted", { answerHeaders: { "x-ratelimit-limit": absent } })
  ],
  { settings: { THROTTLE_LIMIT: "" }, scripted: false }
)

contract(
  "Limits, request rate exceeded",
  [
    get("/runs", "is 429 above the budget, with Retry-After", {
      after: [["GET", "/runs"]],
      status: 429,
      answer: { statusCode: 429, message: "ThrottlerException: Too Many Requests" },
      answerHeaders: { "retry-after": /^\d+$/ }
    }),
    get("/healthz", "still answers")
  ],
  { settings: { THROTTLE_LIMIT: "1" }, scripted: false }
)

contract(
  "Limits, requests that only read",
  [
    get("/runs", "have a budget of their own", { answerHeaders: { "x-ratelimit-limit": "2" } }),
    {
      says: "others keep theirs",
      method: "POST",
      path: "/runs/validate",
      body: descriptor(),
      status: 201,
      answerHeaders: { "x-ratelimit-limit": "1", "x-ratelimit-remaining": "0" }
    },
    get("/runs", "are 429 above it", { after: [["GET", "/runs"]], status: 429 })
  ],
  { settings: { THROTTLE_LIMIT: "1", THROTTLE_READ_LIMIT: "2" }, scripted: false }
)

contract("Versioning", [
  {
    says: "an omitted policy schemaVersion is 3",
    after: [["POST", "/runtime/policies", { policyId: "policy.v", mode: "*", description: "", rules: {} }]],
    method: "GET",
    path: "/runtime/policies/policy.v",
    status: 200,
    answer: { schemaVersion: 3 }
  },
  {
    says: "sessions carry modeVersion, configurationVersion and an optional policyVersion",
    method: "POST",
    path: "/runs",
    body: descriptor({ session: { policyVersion: "p.1" } }),
    status: 202
  },
  ...["modeVersion", "configurationVersion"].map(
    (field): Statement => ({
      says: `a session without ${field} is refused`,
      method: "POST",
      path: "/runs",
      body: descriptor({ session: { [field]: undefined } }),
      status: 400,
      answer: { message: including(`session.${field} must be a string`) }
    })
  ),
  get("/runs/:run/events?afterSeq=0&limit=1", "keeps the bare array", { given: "scripted", answer: [{}] }),
  get("/runs/:run/events?afterSeq=0&limit=1&type=run.created", "is an envelope with a filter", {
    given: "scripted",
    answer: { data: [{}] }
  }),
  get("/dashboard/overview?range=7d", "takes range for window", { answer: { kpis: { totalRuns: isCount } } })
])
