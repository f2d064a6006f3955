import { expect } from "vitest"
import { contract, errorBody, frameworkBody, type Statement } from "./Contract.ts"

const get = (path: string, says: string, over: Partial<Statement> = {}): Statement => ({
  says: `GET ${path} ${says}`,
  path,
  status: 200,
  ...over
})

const SCHEMA = "/packs/demo/scenarios/full/versions/1.0.0/launch-schema"
const ROUTES = ["/healthz", "/packs", "/packs/demo/scenarios", "/scenarios", "/agents", "/agents/agent-lead", SCHEMA]

const refused = { status: 401, answer: frameworkBody(401, "Unauthorized", "Invalid or missing API key") }
const body = { scenarioRef: "demo/full@1.0.0", inputs: { customer: "C-1" } }

contract(
  "the launch service: Authentication",
  [
    ...ROUTES.map((path) => get(path, "wants a key", refused)),
    ...ROUTES.map((path) => get(path, "takes a key of the list", { headers: { "x-api-key": "two" } })),
    ...["/launch/compile", "/examples/run"].map(
      (path): Statement => ({
        says: `POST ${path} wants a key before it looks at the body`,
        method: "POST",
        path,
        body: {},
        ...refused
      })
    ),
    {
      says: "POST /launch/compile takes a key",
      method: "POST",
      path: "/launch/compile",
      headers: { "x-api-key": "one" },
      body,
      status: 201
    },
    ...["", "on", "one,two", "ONE", " two three"].map((key) =>
      get("/packs", `refuses the key ${JSON.stringify(key)}`, { headers: { "x-api-key": key }, ...refused })
    ),
    get("/packs", "refuses a key as a bearer", { headers: { authorization: "Bearer one" }, ...refused }),
    get("/packs", "refuses a bare key in Authorization", { headers: { authorization: "one" }, ...refused }),
    get("/packs", "takes a key beside the Authorization of a proxy", {
      headers: { authorization: "Basic cHJveHk6cHJveHk=", "x-api-key": "one" }
    }),
    get("/packs?x-api-key=one", "does not take a key from the address", refused),
    get("/nowhere", "is 404 without a key", { status: 404 }),
    {
      says: "a syntax error is answered without a key",
      method: "POST",
      path: "/launch/compile",
      headers: { "x-api-key": "one" },
      body: "{",
      status: 400,
      includes: { error: "Bad Request" }
    },
    { says: "OPTIONS needs no key", method: "OPTIONS", path: "/packs", status: 204 }
  ],
  { env: { AUTH_API_KEYS: " one ,, two," } }
)

contract(
  "the launch service: Authentication, without keys",
  [get("/packs", "is open", {}), get("/packs", "does not look at a key either", { headers: { "x-api-key": "any" } })],
  { env: { AUTH_API_KEYS: " , " } }
)

contract("unknown routes", [
  ...(["POST", "PUT", "PATCH", "DELETE"] as const).map(
    (method): Statement => ({
      says: `${method} on a known path is 404, never 405`,
      method,
      path: "/packs",
      status: 404,
      answer: frameworkBody(404, "Not Found", `Cannot ${method} /packs`)
    })
  ),
  get("/launch/compile", "is 404", {
    status: 404,
    answer: frameworkBody(404, "Not Found", "Cannot GET /launch/compile")
  }),
  get("/", "is 404", { status: 404, answer: frameworkBody(404, "Not Found", "Cannot GET /") }),
  get("/nowhere?a=b", "is 404, the query not repeated", {
    status: 404,
    answer: frameworkBody(404, "Not Found", "Cannot GET /nowhere")
  }),
  get("/runs", "is 404: runs are the control plane's", { status: 404 }),
  { says: "HEAD is answered like GET, without a body", method: "HEAD", path: "/packs", status: 200, answer: "" }
])

contract("the launch service: Limits", [
  get("/packs", "shows the budget", {
    answerHeaders: { "x-ratelimit-limit": "100000", "x-ratelimit-remaining": /^\d+$/, "x-ratelimit-reset": /^\d+$/ }
  })
])

contract(
  "the launch service: Limits: the default",
  [
    get("/agents", "is 100 requests in 60 s", {
      answerHeaders: { "x-ratelimit-limit": "100", "x-ratelimit-remaining": "99", "x-ratelimit-reset": /^(60|59)$/ }
    }),
    get("/healthz", "is counted with everything else", {
      answerHeaders: { "x-ratelimit-remaining": "98" }
    }),
    get("/packs", "is 429 for the 101st request, without a metadata key", {
      after: 98,
      status: 429,
      answer: errorBody(429, "INTERNAL_ERROR", "ThrottlerException: Too Many Requests"),
      answerHeaders: { "retry-after": /^(60|59)$/ }
    }),
    get("/healthz", "is 429 then too", { status: 429 }),
    get("/packs", "does not trust X-Forwarded-For", { headers: { "x-forwarded-for": "9.9.9.9" }, status: 429 }),
    get("/nowhere", "is not counted", { status: 404 })
  ],
  { env: { THROTTLE_LIMIT: "" } }
)

const CORS = { "access-control-allow-origin": "http://localhost:3000", "access-control-allow-credentials": "true" }

contract("CORS", [
  get("/packs", "names the one origin always", { answerHeaders: CORS }),
  get("/nowhere", "names it with errors too", { status: 404, answerHeaders: CORS }),
  {
    says: "names it with a syntax error too",
    method: "POST",
    path: "/launch/compile",
    body: "{",
    status: 400,
    answerHeaders: CORS
  },
  {
    says: "a preflight is 204 and echoes the requested headers",
    method: "OPTIONS",
    path: "/examples/run",
    headers: {
      origin: "http://localhost:3000",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key,content-type"
    },
    status: 204,
    answer: "",
    answerHeaders: {
      ...CORS,
      "access-control-allow-methods": "GET,HEAD,PUT,PATCH,POST,DELETE",
      "access-control-allow-headers": "x-api-key,content-type"
    }
  }
])

contract(
  "CORS for several origins",
  [
    get("/packs", "reflects an origin that matches", {
      headers: { origin: "https://a.example.org", "x-api-key": "one" },
      answerHeaders: { "access-control-allow-origin": "https://a.example.org" }
    }),
    get("/packs", "serves another origin without the header", {
      headers: { origin: "https://evil.org", "x-api-key": "one" },
      answerHeaders: { "access-control-allow-origin": null }
    })
  ],
  { env: { CORS_ORIGIN: "https://*.example.org, http://localhost:8080", AUTH_API_KEYS: "one" } }
)

/** What a page fetches by itself: scripts and styles that are not part of it. */
const fetchedBy = (page: string) =>
  page
    .replace(/(<(script|style)\b[^>]*>)[\s\S]*?<\/\2>/gi, "$1")
    .match(/<(script|link|img|iframe)\b[^>]*(src|href)\s*=\s*["']?(?!data:)[^>]*>/gi)

contract(
  "the launch service: documentation in development",
  [
    get("/docs", "is a page that needs no network", {
      answerHeaders: { "content-type": /^text\/html/ },
      also: ({ text }) => expect(fetchedBy(text)).toBeNull()
    }),
    get("/docs-json", "is the contract", {
      includes: { openapi: expect.stringMatching(/^3\./), info: { title: "Scenario launch service" } },
      also: ({ text }) => expect(text).not.toMatch(/POLICY_NOT_FOUND|POLICY_REGISTRATION_FAILED|SESSION_ALREADY_EXISTS/)
    }),
    get("/docs-yaml", "is the contract as YAML", {
      answerHeaders: { "content-type": /^text\/yaml/ },
      also: ({ text }) => expect(text).toMatch(/^openapi: 3\./)
    }),
    get("/packs", "is guarded", { status: 401 })
  ],
  { env: { NODE_ENV: "development", AUTH_API_KEYS: "one" } }
)

contract(
  "the launch service: no documentation elsewhere",
  ["/docs", "/docs-json", "/docs-yaml"].map((path) => get(path, "is an unknown route", { status: 404 })),
  { env: { NODE_ENV: "production", AUTH_API_KEYS: "one" } }
)
