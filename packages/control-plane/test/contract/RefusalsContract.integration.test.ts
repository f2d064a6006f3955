import { randomUUID } from "node:crypto"
import { descriptor } from "../support/HttpService.ts"
import { contract, type Statement } from "./Contract.ts"
import { including } from "./Matching.ts"

const refusedFor = (message: string) => ({
  statusCode: 400,
  errorCode: "VALIDATION_ERROR",
  message: including(message),
  error: "Bad Request"
})

const refuses = (method: string, path: string, body: unknown, message: string): Statement => ({
  says: `${method} ${path} refuses ${(JSON.stringify(body) ?? "no body").slice(0, 80)}: ${message}`,
  method,
  path,
  ...(body !== undefined && { body }),
  status: 400,
  answer: refusedFor(message)
})

const session = (over: Readonly<Record<string, unknown>>) => descriptor({ session: over })
const without = (key: string) => ({ ...descriptor(), [key]: undefined })
const many = Array.from({ length: 1001 }, (_, number) => ({ id: `agent://${number}` }))

// docs/reference/errors.md#validation-texts, docs/reference/runs.md#run-descriptor
contract(
  "Validation of a descriptor",
  (
    [
      [descriptor({ mode: "test" }), "mode must be one of the following values: live, sandbox"],
      [without("mode"), "mode must be one of the following values: live, sandbox"],
      [without("runtime"), "runtime should not be null or undefined"],
      [descriptor({ runtime: {} }), "runtime.kind must be a string"],
      [descriptor({ runtime: { kind: "fake", version: 1 } }), "runtime.version must be a string"],
      [{ ...descriptor(), session: undefined }, "session should not be null or undefined"],
      [session({ modeName: undefined }), "session.modeName must be a string"],
      [session({ modeName: "" }), "session.modeName should not be empty"],
      [session({ modeVersion: "" }), "session.modeVersion should not be empty"],
      [session({ configurationVersion: "" }), "session.configurationVersion should not be empty"],
      [session({ policyVersion: 7 }), "session.policyVersion must be a string"],
      [session({ ttlMs: 1.5 }), "session.ttlMs must be an integer number"],
      [session({ ttlMs: "60000" }), "session.ttlMs must be an integer number"],
      [session({ ttlMs: 0 }), "session.ttlMs must be a positive number"],
      [session({ participants: undefined }), "session.participants must be an array"],
      [session({ participants: [] }), "session.participants must contain at least 1 elements"],
      [session({ participants: many }), "Maximum 1000 participants per session"],
      [session({ participants: [{ id: "" }] }), "session.participants.0.id should not be empty"],
      [session({ metadata: [] }), "session.metadata must be an object"],
      [
        session({ metadata: { ...Array.from({ length: 1_001 }, () => 1) } }),
        "session.metadata must have at most 1000 keys"
      ],
      [session({ policyHints: {} }), "session.property policyHints should not exist"],
      [descriptor({ runtime: { kind: "fake", host: "x" } }), "runtime.property host should not exist"],
      [descriptor({ execution: { priority: 1 } }), "execution.property priority should not exist"],
      [descriptor({ execution: { idempotencyKey: 1 } }), "execution.idempotencyKey must be a string"],
      [descriptor({ execution: { idempotencyKey: "" } }), "execution.idempotencyKey should not be empty"],
      ...[" ", "\t\u00a0\u3000", "\u3164\u2800"].map(
        (idempotencyKey) =>
          [
            descriptor({ execution: { idempotencyKey } }),
            "execution.idempotencyKey must be a text with at least one visible character"
          ] as const
      ),
      [
        descriptor({ execution: { idempotencyKey: "\u200b" } }),
        "execution.idempotencyKey must be one line without control, direction and zero-width characters"
      ],
      [descriptor({ execution: { tags: "nightly" } }), "execution.tags must be an array"],
      [descriptor({ execution: { tags: [1] } }), "execution.each value in tags must be a string"],
      [
        descriptor({ execution: { requester: { actorType: "robot" } } }),
        "execution.requester.actorType must be one of the following values: user, service, system"
      ],
      [descriptor({ execution: { requester: { name: "x" } } }), "execution.requester.property name should not exist"]
    ] as const
  ).flatMap(([body, message]) => [
    refuses("POST", "/runs", body, message),
    refuses("POST", "/runs/validate", body, message)
  ])
)

contract("Validation of a descriptor, session ids", [
  ...[
    "5B1F6C0E-6F0A-4C53-9A56-0D9C6F5F7A10",
    "5b1f6c0e-6f0a-1c53-9a56-0d9c6f5f7a10",
    "abcdefghijklmnopqrstu",
    "abcdefghijklmnopqrstu+",
    ""
  ].map(
    (sessionId): Statement => ({
      says: `POST /runs refuses the session id ${JSON.stringify(sessionId)}`,
      method: "POST",
      path: "/runs",
      body: session({ sessionId }),
      status: 400,
      answer: {
        errorCode: "INVALID_SESSION_ID",
        message: "session.sessionId must be a UUID v4/v7 or base64url 22+ chars"
      }
    })
  ),
  {
    says: "POST /runs/validate reports such an id instead",
    method: "POST",
    path: "/runs/validate",
    body: session({ sessionId: "short" }),
    status: 201,
    answer: { valid: false, errors: including("session.sessionId must be a UUID v4/v7 or base64url 22+ chars") }
  },
  {
    says: "POST /runs/validate reports an unknown runtime kind",
    method: "POST",
    path: "/runs/validate",
    body: descriptor({ runtime: { kind: "cobol" } }),
    status: 201,
    answer: { valid: true, warnings: [/^Runtime not reachable: /], runtime: { reachable: false, supportedModes: [] } }
  },
  {
    says: "POST /runs/validate reports a mode that the runtime does not have",
    method: "POST",
    path: "/runs/validate",
    body: session({ modeName: "macp.mode.nope.v1" }),
    status: 201,
    answer: {
      valid: false,
      errors: [/^Runtime does not support mode 'macp\.mode\.nope\.v1'\. Supported: /],
      runtime: { reachable: true }
    }
  }
])

const UNKNOWN = "0f9619ff-8b86-4d01-b42d-00cf4fc964ff"
const ofRuns: ReadonlyArray<readonly [method: string, path: string, body?: unknown]> = [
  ["GET", ""],
  ["GET", "/state"],
  ["GET", "/events"],
  ["GET", "/messages"],
  ["GET", "/messages/m-1"],
  ["GET", "/metrics"],
  ["GET", "/traces"],
  ["GET", "/artifacts"],
  ["GET", "/export"],
  ["GET", "/stream"],
  ["GET", "/replay/stream"],
  ["GET", "/replay/state"],
  ["GET", "/ag-ui"],
  ["POST", "/cancel"],
  ["POST", "/suspend"],
  ["POST", "/resume"],
  ["POST", "/clone"],
  ["POST", "/archive"],
  ["POST", "/unarchive"],
  ["POST", "/projection/rebuild"],
  ["POST", "/replay"],
  ["POST", "/ag-ui"],
  ["POST", "/artifacts", { kind: "log", label: "x" }],
  ["DELETE", ""]
]

contract(
  "Errors, an unknown run",
  ofRuns.flatMap(
    ([method, path, body]): ReadonlyArray<Statement> => [
      {
        says: `${method} /runs/:id${path} is 404 RUN_NOT_FOUND`,
        method,
        path: `/runs/${UNKNOWN}${path}`,
        ...(body !== undefined && { body }),
        status: 404,
        answer: { statusCode: 404, errorCode: "RUN_NOT_FOUND", message: `run ${UNKNOWN} not found` }
      },
      {
        says: `${method} /runs/nope${path} is 400: no UUID`,
        method,
        path: `/runs/nope${path}`,
        ...(body !== undefined && { body }),
        status: 400,
        answer: { errorCode: "VALIDATION_ERROR", message: "Validation failed (uuid is expected)" }
      }
    ]
  ),
  { scripted: false }
)

contract(
  "Errors, removed endpoints",
  ["messages", "signal", "context"].flatMap(
    (name): ReadonlyArray<Statement> => [
      {
        says: `POST /runs/:id/${name} names the route and the way to go, whatever the body`,
        method: "POST",
        path: `/runs/${UNKNOWN}/${name}`,
        body: { what: ["ever"] },
        status: 410,
        answer: {
          statusCode: 410,
          errorCode: "ENDPOINT_REMOVED",
          message: new RegExp(`^POST /runs/:id/${name} has been removed.*agent SDK`, "i")
        }
      },
      {
        says: `POST /runs/nope/${name} is 400 before it is 410`,
        method: "POST",
        path: `/runs/nope/${name}`,
        status: 400,
        answer: { message: "Validation failed (uuid is expected)" }
      }
    ]
  ),
  { scripted: false }
)

const unknownKey = (path: string, body: Readonly<Record<string, unknown>>, method = "POST"): Statement =>
  refuses(method, path, { ...body, extra: 1 }, "property extra should not exist")
const ignoresKey = (path: string, body: Readonly<Record<string, unknown>>, over: Partial<Statement>): Statement => ({
  says: `POST ${path} ignores unknown keys`,
  method: "POST",
  path,
  body: { ...body, extra: 1 },
  status: 201,
  ...over
})
const webhook = { url: "https://192.0.2.1/hook", secret: "s" }

// docs/reference/errors.md#unknown-keys
contract("Unknown keys", [
  unknownKey("/runs", descriptor()),
  unknownKey("/runs/validate", descriptor()),
  ...[["replay"], ["clone"], ["artifacts", { kind: "log", label: "x" }]].map(
    ([path, body]): Statement => ({
      ...unknownKey(`/runs/:run/${String(path)}`, typeof body === "object" ? body : {}),
      given: "scripted"
    })
  ),
  unknownKey("/runs/compare", { leftRunId: randomUUID(), rightRunId: randomUUID() }),
  unknownKey("/webhooks", webhook),
  unknownKey(`/webhooks/${UNKNOWN}`, { active: true }, "PATCH"),
  ignoresKey("/runs/:run/cancel", {}, { given: "delegated" }),
  ignoresKey("/runs/:run/suspend", {}, { given: "running" }),
  ignoresKey("/runs/:run/resume", {}, { given: "suspended" }),
  ...["cancel", "archive", "unarchive", "delete", "export"].map((name) =>
    ignoresKey(`/runs/batch/${name}`, { runIds: [] }, {})
  ),
  ignoresKey("/runtime/policies", { policyId: `p.${randomUUID()}`, mode: "*", description: "", rules: {} }, {}),
  ...["/runs", "/events", "/audit", "/dashboard/overview", "/runs/:run/events", "/runs/:run/export"].map(
    (path): Statement => ({
      says: `GET ${path} ignores unknown query parameters`,
      given: "scripted",
      method: "GET",
      path: `${path}?extra=1&includeSandbox=true`,
      status: 200
    })
  )
])

contract("Validation of other bodies", [
  ...["cancel", "archive", "unarchive", "delete", "export"].flatMap((name) => [
    refuses("POST", `/runs/batch/${name}`, {}, "runIds must be an array"),
    refuses("POST", `/runs/batch/${name}`, { runIds: [1] }, "each value in runIds must be a string")
  ]),
  refuses("POST", "/runs/compare", { leftRunId: "x", rightRunId: UNKNOWN }, "leftRunId must be a UUID"),
  {
    says: "POST /runs/compare is 404 when a run is missing",
    given: "scripted",
    method: "POST",
    path: "/runs/compare",
    body: { leftRunId: ":run", rightRunId: UNKNOWN },
    status: 404,
    answer: { errorCode: "RUN_NOT_FOUND", message: `run ${UNKNOWN} not found` }
  },
  {
    says: "POST /runs/batch/export is 404 for all when one run is missing",
    given: "scripted",
    method: "POST",
    path: "/runs/batch/export",
    body: { runIds: [":run", UNKNOWN] },
    status: 404,
    answer: { errorCode: "RUN_NOT_FOUND" }
  },
  ...["cancel", "archive", "unarchive", "delete"].map(
    (name): Statement => ({
      says: `POST /runs/batch/${name} answers for each run, in the order of the request`,
      given: "scripted",
      method: "POST",
      path: `/runs/batch/${name}`,
      body: { runIds: [UNKNOWN, "nope"] },
      status: 201,
      answer: [
        { runId: UNKNOWN, status: "failed", error: `run ${UNKNOWN} not found` },
        { runId: "nope", status: "failed" }
      ]
    })
  ),
  ...(
    [
      [{ speed: 0.05 }, "speed must not be less than 0.1"],
      [{ fromSeq: 0 }, "fromSeq must not be less than 1"],
      [{ toSeq: 1.5 }, "toSeq must be an integer number"],
      [{ mode: "fast" }, "mode must be one of the following values: instant, timed, step"]
    ] as const
  ).map(
    ([body, message]): Statement => ({ ...refuses("POST", "/runs/:run/replay", body, message), given: "scripted" })
  ),
  ...(
    [
      ["/runs/:run/replay/stream?speed=0", "speed must not be less than 0.1"],
      ["/runs/:run/replay/stream?mode=fast", "mode must be one of the following values: instant, timed, step"],
      ["/runs/:run/replay/state?seq=x", "seq must be an integer number"],
      ["/runs/:run/events?beforeTs=never", "beforeTs must be a valid ISO 8601 date string"],
      ["/runs/:run/export?eventLimit=0", "eventLimit must not be less than 1"],
      ["/runs/:run/stream?heartbeatMs=1000.5", "heartbeatMs must be an integer number"],
      ["/runs?createdAfter=soon", "createdAfter must be a valid ISO 8601 date string"],
      ["/runs?offset=-1", "offset must not be less than 0"],
      ["/runs?limit=ten", "limit must be an integer number"],
      ["/audit?limit=201", "limit must not be greater than 200"],
      ["/audit?limit=0", "limit must not be less than 1"],
      ["/audit?createdBefore=x", "createdBefore must be a valid ISO 8601 date string"],
      ["/dashboard/overview?from=x", "from must be a valid ISO 8601 date string"]
    ] as const
  ).map(([path, message]): Statement => ({ ...refuses("GET", path, undefined, message), given: "scripted" })),
  ...(
    [
      [
        { label: "x" },
        "kind must be one of the following values: trace, json, report, log, bundle, people.item, people.answer, people.question, a2a.turn, shadow.acts"
      ],
      [{ kind: "log" }, "label must be a string"],
      [{ kind: "log", label: "" }, "label should not be empty"],
      [{ kind: "log", label: "x", uri: 1 }, "uri must be a string"],
      [{ kind: "log", label: "x", inline: [] }, "inline must be an object"]
    ] as const
  ).map(
    ([body, message]): Statement => ({ ...refuses("POST", "/runs/:run/artifacts", body, message), given: "scripted" })
  )
])

const refusesErasure = (body: object, message: RegExp): Statement => ({
  says: `POST /erasures refuses ${JSON.stringify(body)}: ${message.source}`,
  ...{ method: "POST", path: "/erasures", body, status: 400 },
  answer: { errorCode: "VALIDATION_ERROR", message }
})

// docs/reference/erasure.md
contract("Validation of an erasure of many runs", [
  ...(
    [
      [{ reason: "r", dryRun: true }, "find must be a string"],
      [{ find: " A ", reason: "r", dryRun: true }, "find must have at least 2 characters beside spaces"],
      [{ find: "Ann Lee", dryRun: true }, "reason must be a string"],
      [{ find: "Ann Lee", reason: "r", dryRun: true, force: true }, "property force should not exist"]
    ] as const
  ).map(([body, message]) => refuses("POST", "/erasures", body, message)),
  refusesErasure(
    { find: "Ann Lee", reason: "Ann Lee left", dryRun: true },
    /^reason must not contain the text to erase/
  ),
  refusesErasure({ find: "Ann Lee", reason: "r" }, /^plan is required/)
])
