import { randomBytes, randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { endRun } from "../support/EndedRuns.ts"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"

const create = (over: Parameters<typeof descriptor>[0] = {}) => call("POST", "/runs", { body: descriptor(over) })

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

layer(layerTestService(), { excludeTestServices: true })("runs over HTTP", (it) => {
  it.effect("accepts a descriptor with 202, a session id and a trace id", () =>
    Effect.gen(function* () {
      const { body, status } = yield* create()
      assert.strictEqual(status, 202)
      assert.deepStrictEqual(Object.keys(body), ["runId", "sessionId", "status", "traceId"])
      assert.match(body.sessionId, UUID_V4)
      assert.strictEqual(body.runId, body.sessionId)
      assert.strictEqual(body.status, "queued")
      assert.match(body.traceId, /^[0-9a-f]{32}$/)
    })
  )

  it.effect("uses a UUID session id as the run id and echoes it", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const { body } = yield* create({ session: { sessionId } })
      assert.strictEqual(body.sessionId, sessionId)
      assert.strictEqual(body.runId, sessionId)
    })
  )

  it.effect("finds a run by a session id that is not a UUID", () =>
    Effect.gen(function* () {
      const sessionId = randomBytes(18).toString("base64url")
      const { body } = yield* create({ session: { sessionId } })
      assert.match(body.runId, UUID_V4)
      for (const path of ["", "/state", "/metrics", "/events", "/messages", "/artifacts"]) {
        const answer = yield* call("GET", `/runs/${sessionId}${path}`)
        assert.strictEqual(answer.status, 200, `${path}: ${answer.text}`)
      }
      const shown = yield* call("GET", `/runs/${sessionId}`)
      assert.strictEqual(shown.body.id, body.runId)
    })
  )

  for (const [what, sessionId] of [
    ["is too short", "abc"],
    ["is a UUID of version 1", "c232ab00-9414-11ec-b3c8-9f6bdeced846"],
    ["has other characters", "####################################"]
  ] as const) {
    it.effect(`refuses a session id that ${what}`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* create({ session: { sessionId } })
        assert.strictEqual(status, 400)
        assert.strictEqual(body.errorCode, "INVALID_SESSION_ID")
        assert.strictEqual(body.message, "session.sessionId must be a UUID v4/v7 or base64url 22+ chars")
      })
    )
  }

  it.effect("refuses an unknown runtime kind", () =>
    Effect.gen(function* () {
      const { body, status } = yield* create({ runtime: { kind: "cobol" } })
      assert.strictEqual(status, 400)
      assert.strictEqual(body.errorCode, "VALIDATION_ERROR")
    })
  )

  it.effect("refuses the scenario-specific fields", () =>
    Effect.gen(function* () {
      const { body, status } = yield* create({ kickoff: [], session: { policyHints: {} } })
      assert.strictEqual(status, 400)
      assert.includeMembers(body.message, [
        "property kickoff should not exist",
        "session.property policyHints should not exist"
      ])
    })
  )

  it.effect("refuses a second run of one session with 409", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      yield* create({ session: { sessionId } })
      const { body, status } = yield* create({ session: { sessionId } })
      assert.strictEqual(status, 409)
      assert.strictEqual(body.errorCode, "SESSION_ALREADY_EXISTS")
    })
  )

  it.effect("answers a known idempotency key with the original run, untouched", () =>
    Effect.gen(function* () {
      const execution = { idempotencyKey: randomUUID() }
      const first = yield* create({ execution })
      const before = yield* call("GET", `/runs/${first.body.runId}/events`)
      const second = yield* create({ execution: { ...execution, tags: ["other"] }, mode: "sandbox" })
      assert.strictEqual(second.status, 202)
      assert.strictEqual(second.body.runId, first.body.runId)
      assert.strictEqual(second.body.sessionId, first.body.sessionId)
      assert.strictEqual(second.body.traceId, first.body.traceId)
      const created = before.body.filter((event: { type: string }) => event.type === "run.created")
      assert.strictEqual(created.length, 1)
      const shown = yield* call("GET", `/runs/${first.body.runId}`)
      assert.deepStrictEqual(shown.body.tags, [])
    })
  )

  it.effect("makes one run of many simultaneous posts with one key", () =>
    Effect.gen(function* () {
      const execution = { idempotencyKey: randomUUID() }
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, () => create({ execution })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(answers.map((answer) => answer.status))], [202])
      assert.strictEqual(new Set(answers.map((answer) => answer.body.runId)).size, 1)
      const sql = yield* PgClient.PgClient
      const [row] = yield* sql<{ readonly runs: number }>`
        SELECT count(*)::int AS runs FROM runs WHERE idempotency_key = ${execution.idempotencyKey}`
      assert.strictEqual(row?.runs, 1)
    })
  )

  it.effect("makes one run of many simultaneous posts with one session id", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => create({ session: { sessionId } })),
        { concurrency: "unbounded" }
      )
      const statuses = answers.map((answer) => answer.status).sort()
      assert.deepStrictEqual(statuses, [202, ...Array.from({ length: 19 }, () => 409)])
    })
  )

  it.effect("keeps the submitted descriptor and copies the session metadata", () =>
    Effect.gen(function* () {
      const metadata = { environment: "staging", scenarioRef: "loans/fast@1.0.0", source: "launch", sourceRef: "ref-1" }
      const { body } = yield* create({
        session: { metadata },
        execution: { tags: ["nightly"], requester: { actorId: "u1", actorType: "user" } }
      })
      const { body: run } = yield* call("GET", `/runs/${body.runId}`)
      assert.strictEqual(run.id, run.runId)
      assert.strictEqual(run.sourceKind, "launch")
      assert.strictEqual(run.sourceRef, "ref-1")
      assert.deepStrictEqual(run.source, { kind: "launch", ref: "ref-1" })
      assert.deepStrictEqual(run.tags, ["nightly"])
      assert.strictEqual(run.archivedAt, null)
      assert.include(run.metadata, metadata)
      assert.deepStrictEqual(run.metadata.requester, { actorId: "u1", actorType: "user" })
      assert.deepStrictEqual(run.metadata.executionRequest.session.metadata, metadata)
      assert.strictEqual(run.metadata.executionRequest.session.sessionId, body.sessionId)
      assert.notProperty(run, "errorCode")
      assert.notProperty(run, "endedAt")
    })
  )

  it.effect("never shows the bearer of a cancel callback", () =>
    Effect.gen(function* () {
      const cancelCallback = { url: "http://127.0.0.1:9/cancel", bearer: "very-secret" }
      const { body } = yield* create({ session: { metadata: { cancelCallback, environment: "bearer-test" } } })
      const shown = yield* call("GET", `/runs/${body.runId}`)
      assert.notInclude(shown.text, "very-secret")
      assert.strictEqual(shown.body.metadata.cancelCallback.bearer, "[REDACTED]")
      assert.strictEqual(shown.body.metadata.executionRequest.session.metadata.cancelCallback.bearer, "[REDACTED]")
      const listed = yield* call("GET", "/runs?environment=bearer-test")
      assert.strictEqual(listed.body.total, 1)
      assert.notInclude(listed.text, "very-secret")
    })
  )

  it.effect("tags sandbox runs", () =>
    Effect.gen(function* () {
      const { body } = yield* create({ mode: "sandbox" })
      const shown = yield* call("GET", `/runs/${body.runId}`)
      assert.deepStrictEqual(shown.body.tags, ["sandbox"])
    })
  )

  it.effect("writes the creation into the audit log", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { body } = yield* call("POST", "/runs", { body: descriptor(), headers: { "x-request-id": "req-7" } })
      const rows = yield* sql`
        SELECT actor, actor_type, action, resource, request_id FROM audit_log WHERE resource_id = ${body.runId}`
      assert.deepStrictEqual(
        [...rows],
        [{ actor: "anonymous", actor_type: "anonymous", action: "run.create", resource: "run", request_id: "req-7" }]
      )
    })
  )

  for (const path of ["", "/state", "/events", "/metrics", "/messages", "/artifacts", "/stream"]) {
    it.effect(`answers 404 for an unknown run on GET /runs/:id${path}`, () =>
      Effect.gen(function* () {
        const id = randomUUID()
        const { body, status } = yield* call("GET", `/runs/${id}${path}`)
        assert.strictEqual(status, 404)
        assert.strictEqual(body.errorCode, "RUN_NOT_FOUND")
        assert.strictEqual(body.message, `run ${id} not found`)
      })
    )
    it.effect(`answers 400 for a malformed id on GET /runs/:id${path}`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("GET", `/runs/not-an-id${path}`)
        assert.strictEqual(status, 400)
        assert.strictEqual(body.message, "Validation failed (uuid is expected)")
      })
    )
  }
  for (const path of ["cancel", "suspend", "resume"]) {
    it.effect(`answers 404 for an unknown run on POST /runs/:id/${path}`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("POST", `/runs/${randomUUID()}/${path}`)
        assert.strictEqual(status, 404)
        assert.strictEqual(body.errorCode, "RUN_NOT_FOUND")
      })
    )
  }
})

layer(layerTestService(), { excludeTestServices: true })("POST /runs/validate", (it) => {
  const validate = (over: Parameters<typeof descriptor>[0] = {}) =>
    call("POST", "/runs/validate", { body: descriptor(over) })

  it.effect("reports the features of the runtime, and writes nothing", () =>
    Effect.gen(function* () {
      const { body, status } = yield* validate()
      assert.strictEqual(status, 201)
      assert.strictEqual(body.valid, true, JSON.stringify(body))
      assert.deepStrictEqual(body.errors, [])
      assert.strictEqual(body.runtime.reachable, true)
      assert.strictEqual(body.runtime.capabilities.sessions.stream, true)
      const sql = yield* PgClient.PgClient
      const [row] =
        yield* sql`SELECT (SELECT count(*) FROM runs)::int AS runs, (SELECT count(*) FROM audit_log)::int AS audit`
      assert.deepStrictEqual(row, { runs: 0, audit: 0 })
    })
  )

  it.effect("finds a mode that the runtime does not have", () =>
    Effect.gen(function* () {
      const { body } = yield* validate({ session: { modeName: "x.mode.nope.v1" } })
      assert.strictEqual(body.valid, false)
      assert.match(body.errors[0], /^Runtime does not support mode 'x.mode.nope.v1'. Supported: /)
    })
  )

  it.effect("finds a bad session id", () =>
    Effect.gen(function* () {
      const { body } = yield* validate({ session: { sessionId: "short" } })
      assert.strictEqual(body.valid, false)
      assert.deepStrictEqual(body.errors, ["session.sessionId must be a UUID v4/v7 or base64url 22+ chars"])
    })
  )

  it.effect("warns of a runtime that cannot be reached, and of an unknown kind", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.fail({ method: "Initialize" }, "UNAVAILABLE", "no route to runtime")
      const unreachable = yield* validate()
      assert.deepStrictEqual(unreachable.body, {
        valid: true,
        errors: [],
        warnings: ["Runtime not reachable: no route to runtime"],
        runtime: { reachable: false, supportedModes: [] }
      })
      const unknown = yield* validate({ runtime: { kind: "cobol" } })
      assert.strictEqual(unknown.body.valid, true)
      assert.strictEqual(unknown.body.runtime.reachable, false)
    })
  )

  it.effect("answers 400 for a descriptor that breaks the field rules", () =>
    Effect.gen(function* () {
      const { status } = yield* validate({ session: { participants: [] } })
      assert.strictEqual(status, 400)
    })
  )

  it.effect("lists runs without large metadata, and shows all of it alone", () =>
    Effect.gen(function* () {
      const small = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`part${at}`, "y".repeat(3_900)]))
      const metadata = { environment: "fat", session_context: { text: "x".repeat(600_000) }, ...small, last: 1 }
      const created = yield* call("POST", "/runs", {
        body: descriptor({ session: { metadata, policyVersion: "policy.fat" } })
      })
      assert.strictEqual(created.status, 202, created.text)
      const listed = yield* call("GET", "/runs?environment=fat")
      assert.isBelow(listed.text.length, 80_000)
      const [run] = listed.body.data
      assert.deepInclude(run, { modeName: "macp.mode.decision.v1", policyVersion: "policy.fat" })
      assert.strictEqual(run.metadata.environment, "fat")
      assert.notProperty(run.metadata, "executionRequest")
      assert.notProperty(run.metadata, "session_context")
      assert.strictEqual(run.metadata.part0, small["part0"])
      assert.include(run.metadataOmitted, "session_context")
      assert.include(run.metadataOmitted, "part19")
      const alone = yield* call("GET", `/runs/${created.body.runId}`)
      assert.strictEqual(alone.body.metadata.session_context.text.length, 600_000)
      assert.property(alone.body.metadata, "executionRequest")
      assert.notProperty(alone.body, "metadataOmitted")
    })
  )

  it.effect("takes 100 tags of 200 characters, and no more", () =>
    Effect.gen(function* () {
      const post = (tags: ReadonlyArray<string>) => call("POST", "/runs", { body: descriptor({ execution: { tags } }) })
      const most = Array.from({ length: 100 }, (_, at) => String(at).padEnd(200, "t"))
      assert.strictEqual((yield* post(most)).status, 202)
      assert.strictEqual((yield* post([...most, "one more"])).status, 400)
      assert.strictEqual((yield* post(["t".repeat(201)])).status, 400)
    })
  )

  const addBudget = Effect.fnUntraced(function* (id: string, environment: string, at: number) {
    const sql = yield* PgClient.PgClient
    const rule = {
      ...{ id, name: "Budget", enabled: true, match: `environment:${environment}`, per: "scenario", window: "month" },
      ...{ zone: "UTC", measure: "costUsd", admission: true, expectedCostUsd: 1 },
      levels: [{ at, severity: "critical", actions: [] }]
    }
    yield* sql`INSERT INTO alert_rules (id, rule, enabled, from_seq, created_at, updated_at)
               VALUES (${id}, ${JSON.stringify(rule)}::json, true, 0, now(), now())`
  })

  const createIn = (environment: string, scenarioRef = "a/b@1.0.0") =>
    create({ session: { metadata: { environment, scenarioRef } } })

  it.effect("admits 10 of 200 simultaneous runs on a budget for 10, and one more when a counted run has ended", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* addBudget("closed", "closed", 0)
      yield* until(createIn("closed"), ({ status }) => status === 409)
      yield* addBudget("ten", "limited", 10.5)

      const answers = yield* Effect.all(
        Array.from({ length: 200 }, () => createIn("limited")),
        { concurrency: "unbounded" }
      )
      const admitted = answers.filter(({ status }) => status === 202)
      const refused = answers.filter(({ status }) => status === 409)
      assert.deepStrictEqual([admitted.length, refused.length], [10, 190])
      for (const { body, headers } of refused) {
        assert.strictEqual(body.errorCode, "BUDGET_EXHAUSTED")
        const retryAfter = Number(headers.get("retry-after"))
        const left = (Date.parse(body.metadata.endsAt) - Date.now()) / 1_000
        assert.isAtLeast(retryAfter, Math.floor(left))
        assert.isBelow(retryAfter, left + 120)
        const { endsAt, period, ...figures } = body.metadata
        assert.match(`${period} ${endsAt}`, /^\d{4}-\d\d \d{4}-\d\d-01T00:00:00\.000Z$/)
        assert.deepStrictEqual(figures, {
          ...{ rule: "ten", key: "a/b@1.0.0", spentUsd: 0, reservedUsd: 10, expectedUsd: 1, limitUsd: 10.5 }
        })
        assert.match(
          body.message,
          /^budget ten \(Budget\) of a\/b@1\.0\.0 admits no more runs: \$0\.00 spent, \$10\.00 reserved, \$1\.00 expected would reach the limit of \$10\.50; the period \d{4}-\d\d ends at \d{4}-\d\d-01T00:00:00\.000Z$/
        )
      }
      const [stored] = yield* sql`SELECT (SELECT count(*)::int FROM runs WHERE environment = 'limited') AS runs,
        (SELECT count(*)::int FROM alert_reservations WHERE rule_id = 'ten') AS reservations`
      assert.deepStrictEqual(stored, { runs: 10, reservations: 10 })
      // Runs of another scenario, and runs that the rule does not match, have other budgets.
      assert.strictEqual((yield* createIn("limited", "a/c@1.0.0")).status, 202)
      assert.strictEqual((yield* createIn("elsewhere")).status, 202)

      yield* endRun(RunId.make(admitted[0]?.body.runId))
      assert.strictEqual((yield* createIn("limited")).status, 409)
      // The evaluator has counted the log of the run up to its end.
      yield* sql`UPDATE alert_cursor SET seq = 1000000`
      assert.strictEqual((yield* createIn("limited")).status, 202)
      assert.strictEqual((yield* createIn("limited")).status, 409)
      // In the next period the budget would admit no run of this expected cost either.
      yield* addBudget("small", "small", 0.5)
      const never = yield* until(createIn("small"), ({ status }) => status === 409)
      assert.strictEqual(never.headers.get("retry-after"), null)
      yield* sql`DELETE FROM alert_rules`
    })
  )
})
