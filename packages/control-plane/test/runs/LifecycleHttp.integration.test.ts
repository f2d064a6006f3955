import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import { callbackServer } from "../support/CallbackServer.ts"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"
import { auditOf, eventsOf, post, runningRun, statusOf, unboundRun } from "../support/LiveRuns.ts"
import { awaitStatus } from "../support/Observation.ts"

/** Long enough for an answer that comes, however busy the machine is; two tests wait it out. */
const settings = { CANCEL_CALLBACK_TIMEOUT_MS: "1000" }
const options = { settings, observer: { discoveryEnabled: true } }

layer(layerTestService(options), { excludeTestServices: true })("suspend and resume", (it) => {
  it.effect("suspends a running run and resumes it, through the runtime", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun()
      const suspended = yield* post(runId, "suspend", { reason: "lunch" })
      assert.strictEqual(suspended.status, 201, suspended.text)
      assert.strictEqual(suspended.body.status, "suspended")
      assert.strictEqual(suspended.body.id, runId)
      const resumed = yield* post(runId, "resume")
      assert.strictEqual(resumed.status, 201)
      assert.strictEqual(resumed.body.status, "running")

      assert.lengthOf(yield* eventsOf(runId, "run.suspended"), 1)
      assert.lengthOf(yield* eventsOf(runId, "run.resumed"), 1)
      assert.deepStrictEqual(yield* auditOf(runId), ["run.create", "run.suspend", "run.resume"])
      const calls = yield* RuntimeFake.use((fake) => fake.calls)
      const methods = calls.filter((made) => made.sessionId === runId).map((made) => made.method)
      assert.includeMembers(methods, ["SuspendSession", "ResumeSession"])
    })
  )

  it.effect("suspends only running runs, and resumes only suspended ones", () =>
    Effect.gen(function* () {
      const unbound = yield* unboundRun()
      const suspend = yield* post(unbound, "suspend")
      assert.strictEqual(suspend.status, 400)
      assert.strictEqual(suspend.body.errorCode, "VALIDATION_ERROR")
      assert.strictEqual(suspend.body.message, "only running runs can be suspended (current status: starting)")
      const running = yield* runningRun()
      const resume = yield* post(running, "resume")
      assert.strictEqual(resume.status, 400)
      assert.strictEqual(resume.body.message, "only suspended runs can be resumed (current status: running)")
    })
  )

  it.effect("leaves the run alone when the runtime's ack says no", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun()
      // The runtime has suspended the session already, without a notification yet.
      yield* RuntimeFake.use((fake) => fake.setState(runId, "SUSPENDED"))
      const answer = yield* post(runId, "suspend")
      assert.strictEqual(answer.status, 409, answer.text)
      assert.strictEqual(answer.body.errorCode, "CONFLICT")
      assert.strictEqual(yield* statusOf(runId), "running")
      assert.deepStrictEqual(yield* auditOf(runId), ["run.create"])
    })
  )

  for (const [reason, status, errorCode, grpcCode] of [
    ["INVALID_ARGUMENT", 400, "VALIDATION_ERROR", 3],
    ["OUT_OF_RANGE", 400, "VALIDATION_ERROR", 11],
    ["UNAUTHENTICATED", 401, "UNAUTHENTICATED", 16],
    ["NOT_FOUND", 404, "NOT_FOUND", 5],
    ["FAILED_PRECONDITION", 409, "CONFLICT", 9],
    ["ABORTED", 409, "CONFLICT", 10],
    ["ALREADY_EXISTS", 409, "CONFLICT", 6],
    ["RESOURCE_EXHAUSTED", 429, "RATE_LIMITED", 8],
    ["UNIMPLEMENTED", 501, "NOT_IMPLEMENTED", 12],
    ["UNAVAILABLE", 503, "RUNTIME_UNAVAILABLE", 14],
    ["DEADLINE_EXCEEDED", 504, "RUNTIME_TIMEOUT", 4],
    ["DATA_LOSS", 500, "INTERNAL_ERROR", 15]
  ] as const) {
    it.effect(`reports the runtime's ${reason} as ${status} ${errorCode}`, () =>
      Effect.gen(function* () {
        const runId = yield* runningRun()
        yield* RuntimeFake.use((fake) =>
          fake.fail({ method: "SuspendSession", sessionId: runId }, reason, "the runtime's words")
        )
        const answer = yield* post(runId, "suspend")
        assert.strictEqual(answer.status, status)
        assert.deepStrictEqual(answer.body, {
          statusCode: status,
          errorCode,
          message: "the runtime's words",
          metadata: { grpcCode }
        })
        assert.strictEqual(yield* statusOf(runId), "running")
      })
    )
  }

  it.effect("names the identities that may suspend a session when this service may not", () =>
    Effect.gen(function* () {
      const messageOf = Effect.fnUntraced(function* (policyVersion: string, rules?: object) {
        const runId = yield* runningRun({}, policyVersion)
        if (rules !== undefined) {
          const policy = { policyId: policyVersion, mode: "macp.mode.decision.v1", description: "d", schemaVersion: 1 }
          yield* call("POST", "/runtime/policies", { body: { ...policy, rules } })
        }
        yield* RuntimeFake.use((fake) =>
          fake.fail({ method: "SuspendSession", sessionId: runId }, "PERMISSION_DENIED", "not you")
        )
        const answer = yield* post(runId, "suspend")
        assert.deepInclude(answer.body, { statusCode: 403, errorCode: "FORBIDDEN", metadata: { grpcCode: 7 } })
        assert.strictEqual(yield* statusOf(runId), "running")
        return answer.body.message
      })
      assert.match(
        yield* messageOf("policy.default"),
        /^not you; only its initiator agent:\/\/lead may; this service may/
      )
      assert.match(
        yield* messageOf("policy.desk", { commitment: { authority: "designated_role", designated_roles: ["desk"] } }),
        /^not you; its initiator agent:\/\/lead may, and by policy\.desk desk; this service may/
      )
      assert.match(
        yield* messageOf("policy.gone"),
        /^not you; its initiator .* may, and those whom policy\.gone lets commit$/
      )
    })
  )

  it.effect("reports an open circuit breaker as 503", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun()
      yield* RuntimeFake.use((fake) =>
        fake.fail({ method: "SuspendSession", sessionId: runId }, "CIRCUIT_BREAKER_OPEN", "circuit breaker is open")
      )
      const answer = yield* post(runId, "suspend")
      assert.strictEqual(answer.status, 503)
      assert.strictEqual(answer.body.errorCode, "CIRCUIT_BREAKER_OPEN")
    })
  )
})

layer(layerTestService(options), { excludeTestServices: true })("cancel by delegation", (it) => {
  const delegated = { cancellationDelegated: true }

  it.effect("cancels the session at the runtime and the run at once", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun(delegated)
      const answer = yield* post(runId, "cancel", { reason: "no longer needed" })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(answer.body.status, "cancelled")
      assert.isString(answer.body.endedAt)
      assert.lengthOf(yield* eventsOf(runId, "run.cancelled"), 1)
      assert.deepStrictEqual(yield* auditOf(runId), ["run.create", "run.cancel"])
    })
  )

  it.effect("cancels a run whose session was never opened", () =>
    Effect.gen(function* () {
      const runId = yield* unboundRun(delegated)
      const answer = yield* post(runId, "cancel")
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(answer.body.status, "cancelled")
    })
  )

  it.effect("answers 409 for a run that has ended", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun(delegated)
      yield* RuntimeFake.use((fake) => fake.transition(runId, "RESOLVED"))
      yield* awaitStatus(runId, "completed")
      const answer = yield* post(runId, "cancel")
      assert.strictEqual(answer.status, 409)
      assert.strictEqual(answer.body.errorCode, "INVALID_STATE_TRANSITION")
      assert.strictEqual(answer.body.message, `cannot transition run ${runId} from 'completed' to 'cancelled'`)
    })
  )

  it.effect("answers 409 and does not cancel when the session has just ended otherwise", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun(delegated)
      // The end has not been notified yet.
      yield* RuntimeFake.use((fake) => fake.setState(runId, "RESOLVED"))
      const answer = yield* post(runId, "cancel")
      assert.strictEqual(answer.status, 409, answer.text)
      assert.notStrictEqual(yield* statusOf(runId), "cancelled")
    })
  )

  it.effect("reports a refusal and leaves the run alone", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun(delegated)
      yield* RuntimeFake.use((fake) =>
        fake.fail({ method: "CancelSession", sessionId: runId }, "PERMISSION_DENIED", "FORBIDDEN: not yours")
      )
      const answer = yield* post(runId, "cancel")
      assert.strictEqual(answer.status, 403)
      assert.strictEqual(answer.body.errorCode, "FORBIDDEN")
      assert.strictEqual(yield* statusOf(runId), "running")
    })
  )
})

layer(layerTestService(options), { excludeTestServices: true })("cancel by callback", (it) => {
  it.effect("calls the initiator, and answers with the run as the runtime reports it", () =>
    Effect.gen(function* () {
      const server = yield* callbackServer(204)
      const runId = yield* runningRun({ cancelCallback: { url: server.url, bearer: "s3cret" } })
      const answer = yield* Effect.forkChild(post(runId, "cancel", { reason: "enough" }))
      const request = yield* Queue.take(server.requests)
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.headers["authorization"], "Bearer s3cret")
      assert.match(String(request.headers["content-type"]), /^application\/json/)
      assert.deepStrictEqual(JSON.parse(request.body), { runId, reason: "enough" })
      yield* RuntimeFake.use((fake) => fake.transition(runId, "CANCELLED"))
      const { body, status } = yield* Fiber.join(answer)
      assert.strictEqual(status, 201)
      assert.strictEqual(body.status, "cancelled")
      assert.deepStrictEqual(yield* auditOf(runId), ["run.create", "run.cancel"])
    })
  )

  it.effect("answers with the unchanged run when the runtime does not report in time", () =>
    Effect.gen(function* () {
      const server = yield* callbackServer(200)
      const runId = yield* runningRun({ cancelCallback: { url: server.url } })
      const { body, status } = yield* post(runId, "cancel")
      assert.strictEqual(status, 201)
      assert.strictEqual(body.status, "running")
      const request = yield* Queue.take(server.requests)
      assert.isUndefined(request.headers["authorization"])
      assert.deepStrictEqual(JSON.parse(request.body), { runId, reason: null })
    })
  )

  for (const [answered, text] of [
    [500, "returned 500"],
    [302, "returned 302"],
    ["hang", "failed: no answer within 1000 ms"]
  ] as const) {
    it.effect(`answers 502 when the callback ${text}`, () =>
      Effect.gen(function* () {
        const server = yield* callbackServer(answered)
        const runId = yield* runningRun({ cancelCallback: { url: server.url } })
        const { body, status } = yield* post(runId, "cancel")
        assert.strictEqual(status, 502)
        assert.strictEqual(body.errorCode, "INTERNAL_ERROR")
        assert.strictEqual(body.message, `cancel callback ${server.url} ${text}`)
        assert.strictEqual(yield* statusOf(runId), "running")
      })
    )
  }

  for (const [what, cancelCallback, text] of [
    ["there is no listener", { url: "http://127.0.0.1:9/" }, /failed: no answer within 1000 ms$/],
    ["the name is unknown", { url: "http://unknown.invalid/" }, /failed: no answer within 1000 ms$/],
    ["the bearer fits no header", { url: "http://127.0.0.1:9/", bearer: "a\nb" }, /failed: the request cannot be made/]
  ] as const) {
    it.effect(`answers 502 when ${what}`, () =>
      Effect.gen(function* () {
        const runId = yield* unboundRun({ cancelCallback })
        const { body, status, text: answer } = yield* post(runId, "cancel")
        assert.strictEqual(status, 502, answer)
        assert.match(body.message, text)
      })
    )
  }

  for (const [what, url, why] of [
    ["is none", "nonsense", "not a URL"],
    ["is a file's", "file:///etc/passwd", "not an http or https URL"],
    ["has credentials in it", "http://user:hunter2@agent.example/", "a URL with credentials in it"],
    ["points to the cloud's metadata", "http://169.254.169.254/latest", "a link-local or metadata address"],
    ["hides that", "http://[::ffff:a9fe:a9fe]/", "a link-local or metadata address"]
  ] as const) {
    it.effect(`creates no run whose callback ${what}`, () =>
      Effect.gen(function* () {
        const body = descriptor({ session: { metadata: { cancelCallback: { url } } } })
        const created = yield* call("POST", "/runs", { body })
        const message = `session.metadata.cancelCallback.url is ${why}`
        assert.deepInclude(created.body, { statusCode: 400, errorCode: "VALIDATION_ERROR", message })
        const validated = yield* call("POST", "/runs/validate", { body })
        assert.include(validated.body.errors, message)
        assert.notInclude(created.text + validated.text, "hunter2")
      })
    )
  }

  for (const [cancelCallback, message] of [
    ["http://user:hunter2@agent.example/", "session.metadata.cancelCallback must be an object"],
    [{ url: ["http://127.0.0.1:9/"] }, "session.metadata.cancelCallback.url must be a string"],
    [{ url: "http://127.0.0.1:9/", bearer: 5 }, "session.metadata.cancelCallback.bearer must be a string"]
  ] as const) {
    it.effect(`creates no run whose callback could not be called: ${message}`, () =>
      Effect.gen(function* () {
        const body = descriptor({ session: { metadata: { cancelCallback } } })
        const created = yield* call("POST", "/runs", { body })
        assert.deepInclude(created.body, { statusCode: 400, errorCode: "VALIDATION_ERROR", message })
        assert.include((yield* call("POST", "/runs/validate", { body })).body.errors, message)
      })
    )
  }

  it.effect("answers 400 when there is neither a callback nor delegation", () =>
    Effect.gen(function* () {
      const runId = yield* unboundRun({ cancelCallback: { url: "" }, cancellationDelegated: false })
      const { body, status } = yield* post(runId, "cancel")
      assert.strictEqual(status, 400)
      assert.strictEqual(
        body.message,
        "run has no cancelCallback in metadata and no policy delegation - cannot cancel from control-plane"
      )
    })
  )
})

// docs/reference/runs.md#abandon
layer(layerTestService(options), { excludeTestServices: true })("a run whose session will not be opened", (it) => {
  it.effect("fails with the reason, once", () =>
    Effect.gen(function* () {
      const runId = yield* unboundRun()
      const reason = "agent lead exited (code=1): policy is unknown"
      const answer = yield* post(runId, "abandon", { reason })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepInclude(answer.body, {
        status: "failed",
        errorCode: "RUNTIME_TIMEOUT",
        errorMessage: `the session was not opened: ${reason}`
      })
      const again = yield* post(runId, "abandon", { reason })
      assert.strictEqual(again.status, 409)
      assert.lengthOf(yield* eventsOf(runId, "run.failed"), 1)
      assert.deepStrictEqual(yield* auditOf(runId), ["run.create", "run.abandon"])
    })
  )

  it.effect("continues when the session exists", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun()
      assert.strictEqual((yield* post(runId, "abandon", { reason: "no" })).status, 409)
      assert.strictEqual(yield* statusOf(runId), "running")
    })
  )

  it.effect("continues when the session has just been opened", () =>
    Effect.gen(function* () {
      const runId = yield* unboundRun()
      yield* RuntimeFake.use((fake) => fake.openSession({ sessionId: runId, initiator: "agent://lead" }))
      assert.strictEqual((yield* post(runId, "abandon", { reason: "no" })).status, 409)
      yield* awaitStatus(runId, "running")
    })
  )

  it.effect.each([{}, { reason: "" }, { reason: 7 }, { reason: "x".repeat(4_001) }])("wants a reason (%#)", (body) =>
    Effect.gen(function* () {
      const answer = yield* post(yield* unboundRun(), "abandon", body)
      assert.strictEqual(answer.status, 400, answer.text)
      assert.include(answer.text, "reason")
    })
  )
})
