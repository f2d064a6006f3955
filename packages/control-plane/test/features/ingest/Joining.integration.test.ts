import { createHmac, randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { exportOf, post, span, toolSpan, traceIdOf } from "./support/Exports.ts"

const keys = {
  AUTH_API_KEYS: "agents-key,others-key,operator-key,admin-key",
  AUTH_API_KEY_NAMES: "agents,others,operator,admin",
  AUTH_API_KEY_ROLES: "ingest,ingest,operator,admin"
}
const settings = { ...keys, OTLP_SETTLE_MS: "200" }
const by = (key: string, headers: Readonly<Record<string, string>> = {}) => ({
  headers: { "content-type": "application/json", "x-api-key": `${key}-key`, ...headers }
})
const operator = by("operator")

const launch = Effect.fnUntraced(function* (sources?: ReadonlyArray<string>) {
  const sessionId = randomUUID()
  const body = descriptor({ session: { sessionId }, ...(sources !== undefined && { telemetry: { sources } }) })
  const answer = yield* call("POST", "/runs", { body, ...operator })
  assert.strictEqual(answer.status, 202, answer.text)
  const runId: string = answer.body.runId
  return { runId, sessionId }
})

const sendTools = (trace: number, sessionId: string, options: ReturnType<typeof by>) =>
  post(exportOf([toolSpan(trace, 2), span({ trace, span: 1, attributes: { "macp.session.id": sessionId } })]), options)

const toolsOf = (runId: string) =>
  Effect.map(call("GET", `/runs/${runId}/events?type=tool.called`, operator), ({ body }) => body.data.length)

/** The own run of a trace, once it is there. */
const ownRun = (source: string, trace: number) =>
  Effect.map(
    until(call("GET", `/runs/${runOfKey(source, traceIdOf(trace))}`, operator), ({ status }) => status === 200),
    ({ body }) => body
  )

const metric = (line: string) =>
  Effect.map(call("GET", "/metrics", operator), ({ text }) => {
    const found = text.split("\n").find((one) => one.startsWith(`${line} `))
    assert.isDefined(found, line)
    return Number(found.split(" ")[1])
  })

layer(layerTestService({ settings }), { excludeTestServices: true })("telemetry of a service with keys", (it) => {
  it.effect("makes a linked run of its own where the run does not name its source", () =>
    Effect.gen(function* () {
      const { runId, sessionId } = yield* launch()
      const refused = 'otlp_join_refused_total{reason="not_named"}'
      const before = yield* metric(refused)
      yield* sendTools(1, sessionId, by("others"))
      const own = yield* ownRun("others", 1)
      assert.strictEqual(own.metadata.linkedSession, sessionId)
      assert.notStrictEqual(own.runtimeSessionId, sessionId)
      assert.strictEqual(yield* toolsOf(runId), 0)
      assert.strictEqual(yield* metric(refused), before + 1)
      const found = yield* call("GET", `/runs?q=${encodeURIComponent(`metadata.linkedSession:${sessionId}`)}`, operator)
      assert.deepStrictEqual(
        found.body.data.map(({ id }: { readonly id: string }) => id),
        [own.id]
      )
    })
  )

  it.effect("lets no rule that acts on telemetry cancel the live run", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { runId, sessionId } = yield* launch(["agents"])
      const id = `j-${randomUUID()}`
      const rule = {
        ...{ id, name: "Joined", per: "run", window: "run", measure: "toolCalls", telemetry: "act" },
        match: `id:${runId} OR id:${runOfKey("others", traceIdOf(2))}`,
        levels: [{ at: 1, severity: "critical", actions: [{ type: "cancel", allowCancel: true }] }]
      }
      const added = yield* call("POST", "/alerts/rules", { body: rule, ...by("admin") })
      assert.strictEqual(added.status, 201, added.text)
      yield* sendTools(2, sessionId, by("others"))
      yield* ownRun("others", 2)
      const firings = call("GET", `/alerts?rule=${id}`, operator)
      yield* until(firings, ({ body }) => body.data.length > 0)
      const commands = yield* sql<{ readonly run_id: string }>`
        SELECT c.* FROM alert_commands c JOIN alert_firings f ON f.id = c.firing_id WHERE f.run_id = ${runId}::uuid`
      assert.lengthOf(commands, 0)
      assert.strictEqual(yield* toolsOf(runId), 0)
    })
  )

  it.effect("is not appended to an ended run", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sessionId = randomUUID()
      const runId = yield* createRun({ status: "completed", createdAt: new Date().toISOString() })
      yield* sql`
        UPDATE runs SET runtime_session_id = ${sessionId}, runtime_kind = 'rust-runtime' WHERE id = ${runId}::uuid`
      const before = yield* call("GET", `/runs/${runId}`, operator)
      yield* sendTools(3, sessionId, by("others"))
      assert.strictEqual((yield* ownRun("others", 3)).metadata.linkedSession, sessionId)
      assert.strictEqual(yield* toolsOf(runId), 0)
      assert.deepStrictEqual((yield* call("GET", `/runs/${runId}`, operator)).body, before.body)
    })
  )

  it.effect("joins where the run names its source, and a clone names it too", () =>
    Effect.gen(function* () {
      const { runId, sessionId } = yield* launch(["someone", "agents"])
      yield* sendTools(4, sessionId, by("agents"))
      yield* until(toolsOf(runId), (tools) => tools === 1)
      assert.strictEqual((yield* call("GET", `/runs/${runOfKey("agents", traceIdOf(4))}`, operator)).status, 404)
      const clone = yield* call("POST", `/runs/${runId}/clone`, { body: {}, ...operator })
      const { body } = yield* call("GET", `/runs/${clone.body.runId}`, operator)
      assert.deepStrictEqual(body.metadata.executionRequest.telemetry, { sources: ["someone", "agents"] })
    })
  )

  it.effect("does not join by a link to a trace that a token has let join", () =>
    Effect.gen(function* () {
      const { runId, sessionId } = yield* launch(["agents"])
      yield* sendTools(5, sessionId, by("agents"))
      yield* until(toolsOf(runId), (tools) => tools === 1)
      const sql = yield* PgClient.PgClient
      // As after a token: the trace has joined, and its source is not named.
      yield* sql`
        UPDATE runs SET metadata = (metadata::jsonb #- '{executionRequest,telemetry}')::json WHERE id = ${runId}::uuid`
      yield* post(exportOf([toolSpan(6, 2), span({ trace: 6, span: 1, links: [5] })]), by("agents"))
      assert.strictEqual((yield* ownRun("agents", 6)).metadata.linkedSession, sessionId)
      assert.strictEqual(yield* toolsOf(runId), 1)
    })
  )

  it.effect("refuses sources of another form, and names the field", () =>
    Effect.gen(function* () {
      const wrong = [
        { sources: "agents" },
        { sources: [""] },
        { sources: ["a\nb"] },
        { sources: Array.from({ length: 33 }, (_, index) => `s${index}`) },
        { sources: ["x".repeat(513)] },
        { sources: [], more: true },
        []
      ]
      for (const telemetry of wrong) {
        const answer = yield* call("POST", "/runs", { body: descriptor({ telemetry }), ...operator })
        assert.strictEqual(answer.status, 400, JSON.stringify(telemetry).slice(0, 80))
        assert.include(answer.text, "telemetry")
      }
    })
  )
})

const tokenOf = Effect.fnUntraced(function* (sessionId: string, ttlMs = 60_000) {
  const answer = yield* call("POST", "/ingest/tokens", { body: { sessionId, ttlMs }, ...operator })
  assert.strictEqual(answer.status, 201, answer.text)
  const { expiresAt, header, token }: Readonly<Record<"expiresAt" | "header" | "token", string>> = answer.body
  return { expiresAt, header, token }
})
const withToken = (token: string) => by("agents", { "x-runplane-join": token })

layer(layerTestService({ settings }), { excludeTestServices: true })("a token of a session", (it) => {
  it.effect("lets spans of any source join the run, and no trace that links to them without it", () =>
    Effect.gen(function* () {
      const { runId, sessionId } = yield* launch()
      const { expiresAt, header, token } = yield* tokenOf(sessionId)
      assert.strictEqual(header, `x-runplane-join=${token}`)
      // Exporters decode the setting by percent, and split it by commas.
      assert.strictEqual(decodeURIComponent(token), token)
      assert.notInclude(token, ",")
      const lifeMs = new Date(expiresAt).getTime() - Date.now()
      assert.isTrue(lifeMs > 60_000 && lifeMs < 20 * 60_000, expiresAt)
      const sent = yield* sendTools(21, sessionId, withToken(token))
      assert.strictEqual(sent.text, "{}")
      yield* until(toolsOf(runId), (tools) => tools === 1)
      yield* post(exportOf([toolSpan(22, 2), span({ trace: 22, span: 1, links: [21] })]), by("agents"))
      assert.strictEqual((yield* ownRun("agents", 22)).metadata.linkedSession, sessionId)
      assert.strictEqual(yield* toolsOf(runId), 1)
      const sql = yield* PgClient.PgClient
      assert.lengthOf(yield* sql`SELECT FROM audit_log a WHERE a::text LIKE ${`%${token.slice(-20)}%`}`, 0)
      const audit = yield* call("GET", `/audit?action=telemetry.token&resourceId=${sessionId}`, by("admin"))
      assert.deepInclude(audit.body.data[0], { actor: "operator", resource: "session" })
    })
  )

  it.effect("of another session, altered or expired, lets none join", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { runId, sessionId } = yield* launch()
      const { token: foreign } = yield* tokenOf(randomUUID())
      const { token } = yield* tokenOf(sessionId)
      const [row] = yield* sql<{ readonly secret: Uint8Array }>`SELECT secret FROM telemetry_token_key`
      const signed = (text: string) =>
        `${text}.${createHmac("sha256", row?.secret ?? "")
          .update(`runplane-telemetry-join-v1\n${text}`)
          .digest("base64url")}`
      const [prefix, , endsAt = "", mac] = token.split(".")
      assert.strictEqual(signed(`rj1.${sessionId}.${endsAt}`), token)
      const flipped = (text: string) => `${text.slice(0, -1)}${text.endsWith("A") ? "Q" : "A"}`
      const refused: ReadonlyArray<readonly [string, string | undefined]> = [
        [foreign, undefined],
        [foreign.replace(/^(rj1\.)[^.]+/, `$1${sessionId}`), "not valid"],
        [`${prefix}.${sessionId}.${Number(endsAt) + 1}.${mac}`, "not valid"],
        [flipped(token), "not valid"],
        [token.slice(0, -1), "not valid"],
        [`${token}.x`, "not valid"],
        ["x".repeat(5_000), "not valid"],
        ["", "not valid"],
        [signed(`rj1.${sessionId}.1700000000`), "expired"]
      ]
      for (const [index, [one, says]] of refused.entries()) {
        const answer = yield* sendTools(30 + index, sessionId, withToken(one))
        assert.strictEqual(answer.status, 200)
        if (says === undefined) assert.strictEqual(answer.text, "{}")
        else assert.include(JSON.parse(answer.text).partialSuccess.errorMessage, says)
        assert.strictEqual((yield* ownRun("agents", 30 + index)).metadata.linkedSession, sessionId)
      }
      assert.strictEqual(yield* toolsOf(runId), 0)
      assert.strictEqual(yield* metric('otlp_join_refused_total{reason="other_session"}'), 1)
      assert.strictEqual(yield* metric('otlp_join_refused_total{reason="token_expired"}'), 1)
      assert.strictEqual(yield* metric('otlp_join_refused_total{reason="token_invalid"}'), 7)
    })
  )

  it.effect("is issued to operators, for a session and a bounded time", () =>
    Effect.gen(function* () {
      const body = { sessionId: randomUUID(), ttlMs: 1_000 }
      assert.strictEqual((yield* call("POST", "/ingest/tokens", { body, ...by("agents") })).status, 403)
      for (const [field, value] of [
        ["sessionId", "short"],
        ["sessionId", "x.y".repeat(20)],
        ["ttlMs", 0],
        ["ttlMs", 7 * 86_400_000 + 1],
        ["ttlMs", "1"],
        ["more", 1]
      ] as const) {
        const answer = yield* call("POST", "/ingest/tokens", { body: { ...body, [field]: value }, ...operator })
        assert.strictEqual(answer.status, 400, field)
        assert.include(answer.text, field)
      }
    })
  )
})

layer(layerTestService({ settings: { OTLP_SETTLE_MS: "200" } }), { excludeTestServices: true })(
  "telemetry of a service without keys",
  (it) => {
    it.effect("joins the run of its session", () =>
      Effect.gen(function* () {
        const { runId, sessionId } = yield* launch([])
        yield* sendTools(7, sessionId, { headers: { "content-type": "application/json", "x-api-key": "any" } })
        yield* until(toolsOf(runId), (tools) => tools === 1)
      })
    )
  }
)
