import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Errors from "../../src/errors/ControlPlaneErrors.ts"
import * as Failures from "../../src/errors/Failures.ts"
import * as LauncherErrors from "../../src/errors/LauncherErrors.ts"
import { reasonPhrases } from "../../src/errors/ReasonPhrases.ts"

const controlPlaneClasses = [
  Errors.BadRequest,
  Errors.ValidationFailed,
  Errors.NotFound,
  Errors.Conflict,
  Errors.EndpointRemoved,
  Errors.PayloadTooLarge,
  Errors.UnsupportedMediaType,
  Errors.Unauthenticated,
  Errors.Forbidden,
  Errors.MethodNotAllowed,
  Errors.TooManyRequests,
  Errors.InternalFailure,
  Errors.NotImplemented,
  Errors.BadGateway,
  Errors.Unavailable,
  Errors.GatewayTimeout
] as const

const launcherClasses = [
  LauncherErrors.LaunchRejected,
  LauncherErrors.LaunchForbidden,
  LauncherErrors.CatalogEntryNotFound,
  LauncherErrors.LaunchUnaffordable,
  LauncherErrors.LaunchConflict,
  LauncherErrors.AnswerConflict,
  LauncherErrors.ItemGone,
  LauncherErrors.TooManyAnswers,
  LauncherErrors.TooManyQuestions,
  LauncherErrors.TooManyCodes,
  LauncherErrors.TooManyStreams,
  LauncherErrors.InboxUnavailable,
  LauncherErrors.LauncherFault,
  LauncherErrors.AgentStartFailed,
  LauncherErrors.LaunchesFull,
  LauncherErrors.MalformedBody,
  LauncherErrors.ApiKeyRejected
] as const

type Failure = (typeof controlPlaneClasses)[number]["Type"] | (typeof launcherClasses)[number]["Type"]

/** The answer of an endpoint that declares every class and fails with this one. */
const answerOf = (failure: Failure) =>
  Effect.gen(function* () {
    const Api = HttpApi.make("failing").add(
      HttpApiGroup.make("all").add(
        HttpApiEndpoint.get("fail", "/", {
          success: Schema.String,
          error: [...controlPlaneClasses, ...launcherClasses]
        })
      )
    )
    const Handlers = HttpApiBuilder.group(Api, "all", (handlers) => handlers.handle("fail", () => Effect.fail(failure)))
    const { handler, dispose } = HttpRouter.toWebHandler(
      HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers), Layer.provide(HttpServer.layerServices)),
      { disableLogger: true }
    )
    yield* Effect.addFinalizer(() => Effect.promise(dispose))
    const response = yield* Effect.promise(() => handler(new Request("http://localhost/")))
    return { status: response.status, body: yield* Effect.promise(() => response.json()) }
  })

/** What clients know by heart. */
const controlPlaneErrorStatus = {
  RUN_NOT_FOUND: 404,
  INVALID_STATE_TRANSITION: 409,
  RUNTIME_UNAVAILABLE: 503,
  RUNTIME_TIMEOUT: 504,
  STREAM_EXHAUSTED: 502,
  SESSION_EXPIRED: 409,
  SESSION_LOST: 409,
  BUDGET_EXHAUSTED: 409,
  VALIDATION_ERROR: 400,
  INTERNAL_ERROR: 500,
  MODE_NOT_SUPPORTED: 400,
  CIRCUIT_BREAKER_OPEN: 503,
  INVALID_SESSION_ID: 400,
  UNKNOWN_POLICY_VERSION: 400,
  POLICY_DENIED: 403,
  INVALID_POLICY_DEFINITION: 400,
  SESSION_ALREADY_EXISTS: 409,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNAUTHENTICATED: 401,
  NOT_IMPLEMENTED: 501,
  RATE_LIMITED: 429,
  ENDPOINT_REMOVED: 410,
  SERVICE_UNAVAILABLE: 503,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  METHOD_NOT_ALLOWED: 405,
  REGISTRY_READ_ONLY: 405
} as const

const launcherErrorStatus = {
  PACK_NOT_FOUND: 404,
  SCENARIO_NOT_FOUND: 404,
  VERSION_NOT_FOUND: 404,
  TEMPLATE_NOT_FOUND: 404,
  AGENT_NOT_FOUND: 404,
  PROCESS_NOT_FOUND: 404,
  ITEM_NOT_FOUND: 404,
  DELEGATION_NOT_FOUND: 404,
  ITEM_ANSWERED: 409,
  ITEM_STALE: 409,
  ITEM_NOT_OPEN: 409,
  BASIS_UNKNOWN: 409,
  HISTORY_GONE: 409,
  ITEM_CLOSED: 410,
  TOO_MANY_ANSWERS: 429,
  TOO_MANY_QUESTIONS: 429,
  TOO_MANY_STREAMS: 429,
  SESSION_UNREAD: 503,
  DATABASE_UNAVAILABLE: 503,
  INVALID_SCENARIO_REF: 400,
  VALIDATION_ERROR: 400,
  COMPILATION_ERROR: 400,
  INVALID_PACK_DATA: 500,
  INVALID_CONFIG: 500,
  AUTH_MINT_FAILED: 502,
  CONFLICT: 409,
  BUDGET_EXHAUSTED: 409,
  AGENT_ATTACH_FAILED: 502,
  LAUNCHES_FULL: 503,
  FORBIDDEN: 403,
  SIGN_IN_NOT_FRESH: 403,
  PASSKEY_MISSING: 403,
  PASSKEY_REFUSED: 403,
  PASSKEY_NOT_FOUND: 404,
  LINK_REFUSED: 403,
  LINK_CODE_MISSING: 403,
  LINK_CODE_WRONG: 403,
  LINK_NOT_FOUND: 404,
  LINK_OVER: 410,
  TOO_MANY_CODES: 429,
  CODE_NOT_SENT: 503,
  INTERNAL_ERROR: 500
} as const

describe("the control plane's errors", () => {
  it("have the statuses that clients know", () => {
    assert.deepStrictEqual(Errors.controlPlaneErrorStatus, controlPlaneErrorStatus)
    assert.deepStrictEqual(LauncherErrors.launcherErrorStatus, launcherErrorStatus)
  })

  it.effect.each(Errors.controlPlaneErrorCodes)("answers %s with its status and the three keys", (code) =>
    Effect.gen(function* () {
      const { status, body } = yield* answerOf(Errors.controlPlaneError(code, "why"))
      assert.strictEqual(status, controlPlaneErrorStatus[code])
      assert.deepStrictEqual(body, { statusCode: status, errorCode: code, message: "why" })
    })
  )

  it("covers every code of the specification", () => {
    assert.includeMembers(
      [...Errors.controlPlaneErrorCodes],
      [
        ...["RUN_NOT_FOUND", "INVALID_STATE_TRANSITION", "RUNTIME_UNAVAILABLE", "RUNTIME_TIMEOUT", "STREAM_EXHAUSTED"],
        ...["SESSION_EXPIRED", "VALIDATION_ERROR", "INTERNAL_ERROR", "MODE_NOT_SUPPORTED", "CIRCUIT_BREAKER_OPEN"],
        ...["INVALID_SESSION_ID", "UNKNOWN_POLICY_VERSION", "POLICY_DENIED", "INVALID_POLICY_DEFINITION", "FORBIDDEN"],
        ...["SESSION_ALREADY_EXISTS", "NOT_FOUND", "CONFLICT", "UNAUTHENTICATED", "NOT_IMPLEMENTED", "RATE_LIMITED"],
        ...["ENDPOINT_REMOVED", "SERVICE_UNAVAILABLE", "PAYLOAD_TOO_LARGE", "REGISTRY_READ_ONLY"]
      ]
    )
  })

  it.effect("carries metadata only when there is something", () =>
    Effect.gen(function* () {
      const { body } = yield* answerOf(Errors.controlPlaneError("RUNTIME_TIMEOUT", "slow", { grpcCode: 4 }))
      assert.deepStrictEqual(body, {
        statusCode: 504,
        errorCode: "RUNTIME_TIMEOUT",
        message: "slow",
        metadata: { grpcCode: 4 }
      })
    })
  )

  it.effect("lists the broken rules of a failed validation", () =>
    Effect.gen(function* () {
      const { status, body } = yield* answerOf(new Errors.ValidationFailed({ message: ["a", "b"] }))
      assert.strictEqual(status, 400)
      assert.deepStrictEqual(body, {
        statusCode: 400,
        errorCode: "VALIDATION_ERROR",
        message: ["a", "b"],
        error: reasonPhrases[400]
      })
    })
  )

  it.effect.each([
    ["CANCELLED", 1, 500, "INTERNAL_ERROR"],
    ["UNKNOWN", 2, 500, "INTERNAL_ERROR"],
    ["INVALID_ARGUMENT", 3, 400, "VALIDATION_ERROR"],
    ["DEADLINE_EXCEEDED", 4, 504, "RUNTIME_TIMEOUT"],
    ["NOT_FOUND", 5, 404, "NOT_FOUND"],
    ["ALREADY_EXISTS", 6, 409, "CONFLICT"],
    ["PERMISSION_DENIED", 7, 403, "FORBIDDEN"],
    ["RESOURCE_EXHAUSTED", 8, 429, "RATE_LIMITED"],
    ["FAILED_PRECONDITION", 9, 409, "CONFLICT"],
    ["ABORTED", 10, 409, "CONFLICT"],
    ["OUT_OF_RANGE", 11, 400, "VALIDATION_ERROR"],
    ["UNIMPLEMENTED", 12, 501, "NOT_IMPLEMENTED"],
    ["INTERNAL", 13, 500, "INTERNAL_ERROR"],
    ["UNAVAILABLE", 14, 503, "RUNTIME_UNAVAILABLE"],
    ["UNAUTHENTICATED", 16, 401, "UNAUTHENTICATED"]
  ] as const)("answers gRPC status %s (%s) with %s %s", ([name, grpcCode, statusCode, errorCode]) =>
    Effect.gen(function* () {
      const { status, body } = yield* answerOf(Failures.runtimeFailure(name, "details"))
      assert.strictEqual(status, statusCode)
      assert.deepStrictEqual(body, { statusCode, errorCode, message: "details", metadata: { grpcCode } })
    })
  )

  it.each([
    [Failures.runNotFound("1"), "run 1 not found"],
    [Failures.invalidTransition("1", "queued", "running"), "cannot transition run 1 from 'queued' to 'running'"],
    [Failures.invalidSessionId(), "session.sessionId must be a UUID v4/v7 or base64url 22+ chars"],
    [Failures.notRunning("queued"), "only running runs can be suspended (current status: queued)"],
    [Failures.notSuspended("running"), "only suspended runs can be resumed (current status: running)"],
    [
      Failures.cancelNotPossible(),
      "run has no cancelCallback in metadata and no policy delegation - cannot cancel from control-plane"
    ],
    [Failures.cancelCallbackAnswered("http://a/", 500), "cancel callback http://a/ returned 500"],
    [Failures.cancelCallbackFailed("http://a/", "timeout"), "cancel callback http://a/ failed: timeout"]
  ] as const)("says what the specification says: %#", (failure, text) => {
    assert.strictEqual(failure.message, text)
  })

  it.effect("reports a failed cancel callback as 502 INTERNAL_ERROR", () =>
    Effect.gen(function* () {
      const { status, body } = yield* answerOf(Failures.cancelCallbackAnswered("http://a/", 500))
      assert.strictEqual(status, 502)
      assert.deepInclude(body, { statusCode: 502, errorCode: "INTERNAL_ERROR" })
    })
  )
})

describe("the launch service's errors", () => {
  const codes = Object.keys(launcherErrorStatus).filter(
    (code): code is keyof typeof launcherErrorStatus => code in launcherErrorStatus
  )

  it.effect.each(codes)("answers %s with its status and no metadata", (code) =>
    Effect.gen(function* () {
      const { status, body } = yield* answerOf(LauncherErrors.launcherError(code, "why"))
      assert.strictEqual(status, launcherErrorStatus[code])
      assert.deepStrictEqual(body, { statusCode: status, errorCode: code, message: "why" })
    })
  )

  it.effect("keeps the framework's forms free of a code", () =>
    Effect.gen(function* () {
      const malformed = yield* answerOf(new LauncherErrors.MalformedBody({ message: ["x must be y"] }))
      assert.deepStrictEqual(malformed, {
        status: 400,
        body: { message: ["x must be y"], error: "Bad Request", statusCode: 400 }
      })
      const refused = yield* answerOf(new LauncherErrors.ApiKeyRejected({ message: "Invalid or missing API key" }))
      assert.deepStrictEqual(refused, {
        status: 401,
        body: { message: "Invalid or missing API key", error: "Unauthorized", statusCode: 401 }
      })
    })
  )
})
