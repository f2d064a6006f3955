import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { CircuitBreaker, collectSessions, RuntimeClient, RuntimeError } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import { LogLevelSwitch } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DriftReport } from "../../src/admin/DriftReport.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

const path = "/admin/runtime/sessions"
const sessionId = (number: number) => `5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a${String(number).padStart(2, "0")}`

/** A run that has found its session, without an observer. */
const boundRun = Effect.fnUntraced(function* (id: string, status = "running") {
  const sql = yield* PgClient.PgClient
  yield* createRun({ id })
  yield* sql`UPDATE runs SET status = ${status} WHERE id = ${id}::uuid`
  yield* sql`
    INSERT INTO sessions (run_id, runtime_kind, runtime_session_id, mode_name, mode_version, configuration_version,
                          policy_version, initiator_participant_id, session_state, capabilities, participants,
                          created_at, updated_at)
    VALUES (${id}::uuid, 'fake', ${id}, 'm', '1', '1', 'p', 'a', 'OPEN', '{}', '{}', now(), now())`
})

/** The listing of the fake runtime within limits of the test's own. */
const withLimits = (maxPages: number, timeoutMs: number) =>
  DriftReport.use((drift) => drift.make).pipe(
    Effect.provide(
      Layer.fresh(DriftReport.layer).pipe(
        Layer.provide(
          Layer.effect(
            RuntimeClient,
            Effect.map(RuntimeFake, ({ client }) => ({
              ...client,
              listSessions: collectSessions(client.listSessionsPage, { pageSize: 1, maxPages, timeoutMs })
            }))
          )
        )
      )
    )
  )

layer(layerTestService(), { excludeTestServices: true })("the drift report", (it) => {
  it.effect("finds live sessions without a run and bound runs without a live session", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.openSession({ sessionId: sessionId(1) })
      yield* fake.openSession({ sessionId: sessionId(2), state: "SUSPENDED", mode: "macp.mode.task.v1" })
      yield* fake.openSession({ sessionId: sessionId(3) })
      yield* fake.openSession({ sessionId: sessionId(4), state: "RESOLVED" })
      yield* fake.openSession({ sessionId: sessionId(5) })
      yield* boundRun(sessionId(1))
      yield* boundRun(sessionId(4))
      yield* boundRun(sessionId(6), "suspended")
      yield* boundRun(sessionId(7), "completed")
      // Queued: it waits for its session, so neither of the two is missing.
      yield* createRun({ id: sessionId(5) })
      yield* createRun({ id: sessionId(8) })
      const { body, status } = yield* call("GET", path)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body, {
        complete: true,
        runtimeSessionCount: 5,
        liveRuntimeSessionCount: 4,
        trackedRunCount: 3,
        untrackedSessions: [
          { sessionId: sessionId(2), mode: "macp.mode.task.v1", state: "SESSION_STATE_SUSPENDED" },
          { sessionId: sessionId(3), mode: "macp.mode.decision.v1", state: "SESSION_STATE_OPEN" }
        ],
        missingFromRuntime: [
          { runId: sessionId(4), runtimeSessionId: sessionId(4) },
          { runId: sessionId(6), runtimeSessionId: sessionId(6) }
        ]
      })
    })
  )

  it.effect("says nothing of missing runs when the page cap cuts the listing", () =>
    Effect.gen(function* () {
      const report = yield* withLimits(2, 60_000)
      assert.deepInclude(report, { complete: false, runtimeSessionCount: 2, missingFromRuntime: null })
      assert.deepStrictEqual(
        report.untrackedSessions.map((session) => session.sessionId),
        [sessionId(2)]
      )
    })
  )

  it.effect("says nothing of missing runs when the time-out cuts the listing", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.hang({ method: "ListSessions" })
      const report = yield* withLimits(200, 20)
      assert.deepInclude(report, { complete: false, runtimeSessionCount: 0, missingFromRuntime: null })
    })
  )

  // docs/reference/admin.md#drift
  for (const [reason, status, errorCode, metadata] of [
    ["UNAVAILABLE", 503, "SERVICE_UNAVAILABLE", { code: "RUNTIME_UNAVAILABLE" }],
    ["CIRCUIT_BREAKER_OPEN", 503, "SERVICE_UNAVAILABLE", { code: "CIRCUIT_BREAKER_OPEN" }],
    ["DEADLINE_EXCEEDED", 504, "RUNTIME_TIMEOUT", { grpcCode: 4 }],
    ["UNAUTHENTICATED", 401, "UNAUTHENTICATED", { grpcCode: 16 }],
    ["PERMISSION_DENIED", 403, "FORBIDDEN", { grpcCode: 7 }],
    ["DATA_LOSS", 500, "INTERNAL_ERROR", { grpcCode: 15 }]
  ] as const) {
    it.effect(`answers ${status} ${errorCode} when the runtime fails with ${reason}`, () =>
      Effect.gen(function* () {
        const fake = yield* RuntimeFake
        yield* fake.fail({ method: "ListSessions" }, reason, "no luck")
        const answer = yield* call("GET", path)
        assert.strictEqual(answer.status, status)
        const code = "code" in metadata ? `${metadata.code}: ` : ""
        assert.deepStrictEqual(answer.body, { statusCode: status, errorCode, message: `${code}no luck`, metadata })
      })
    )
  }

  it.effect("answers 429 when the runtime's limit holds out against smaller pages", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.fail({ method: "ListSessions", times: 3 }, "RESOURCE_EXHAUSTED", "too many")
      const answer = yield* call("GET", path)
      assert.strictEqual(answer.status, 429)
      assert.strictEqual(answer.body.errorCode, "RATE_LIMITED")
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("the circuit breaker over HTTP", (it) => {
  it.effect("shows its history, is reset by hand, and the reset is audited", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker
      const failure = new RuntimeError({ reason: "UNAVAILABLE", method: "X", message: "x" })
      for (let number = 0; number < 5; number++) yield* Effect.ignore(breaker.guard("X", Effect.fail(failure)))
      const open = yield* call("GET", "/admin/circuit-breaker/history?window=1h")
      assert.strictEqual(open.status, 200)
      assert.strictEqual(open.body.state, "OPEN")

      const reset = yield* call("POST", "/admin/circuit-breaker/reset", { headers: { "x-request-id": "req-1" } })
      assert.strictEqual(reset.status, 200, "docs/reference/http.md#status-codes")
      assert.deepStrictEqual(reset.body, { status: "ok", state: "CLOSED" })
      yield* call("POST", "/admin/circuit-breaker/reset")

      const { body } = yield* call("GET", "/admin/circuit-breaker/history")
      assert.strictEqual(body.state, "CLOSED")
      assert.deepStrictEqual(
        body.history.map(({ reason, state }: { reason: string; state: string }) => [state, reason]),
        [
          ["CLOSED", "initial"],
          ["OPEN", "5 consecutive failures"],
          ["CLOSED", "manual reset"]
        ]
      )
      for (const { enteredAt } of body.history) assert.strictEqual(new Date(enteredAt).toISOString(), enteredAt)

      const sql = yield* PgClient.PgClient
      const audited = yield* sql`
        SELECT action, resource, resource_id, actor, request_id, details->>'before' AS before
        FROM audit_log ORDER BY created_at LIMIT 1`
      assert.deepStrictEqual(audited, [
        {
          action: "circuit_breaker.reset",
          resource: "circuit-breaker",
          resource_id: "runtime",
          actor: "anonymous",
          request_id: "req-1",
          before: "OPEN"
        }
      ])
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("the level of the log over HTTP", (it) => {
  it.effect("is changed at once, the change is audited, and an unknown level is refused", () =>
    Effect.gen(function* () {
      const changed = yield* call("PUT", "/admin/log-level", { body: { level: "error" } })
      assert.strictEqual(changed.status, 200)
      assert.deepStrictEqual(changed.body, { level: "error", previous: "info" })
      assert.strictEqual((yield* LogLevelSwitch).level, "Error")
      const back = yield* call("PUT", "/admin/log-level", { body: { level: "info" } })
      assert.deepStrictEqual(back.body, { level: "info", previous: "error" })

      const refused = yield* call("PUT", "/admin/log-level", { body: { level: "loud" } })
      assert.strictEqual(refused.status, 400)
      assert.match(JSON.stringify(refused.body.message), /level must be one of/)
      const sql = yield* PgClient.PgClient
      const audited = yield* sql`SELECT action, details->>'level' AS level FROM audit_log ORDER BY ordinal`
      assert.deepStrictEqual(audited, [
        { action: "log_level.changed", level: "error" },
        { action: "log_level.changed", level: "info" }
      ])
    })
  )
})

layer(layerTestService({ settings: { AUTH_API_KEYS: "secret" } }), { excludeTestServices: true })("with keys", (it) => {
  for (const [method, route] of [
    ["POST", "/admin/circuit-breaker/reset"],
    ["GET", "/admin/circuit-breaker/history"],
    ["PUT", "/admin/log-level"],
    ["GET", path],
    ["GET", "/runtime/manifest"],
    ["GET", "/runtime/health"]
  ] as const) {
    it.effect(`${method} ${route} wants a key`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* call(method, route)).status, 401)
      })
    )
  }
})
