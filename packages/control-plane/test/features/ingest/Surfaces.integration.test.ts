import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId, verifyExport } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExpiredRuns } from "../../../src/admin/retention/ExpiredRuns.ts"
import { Retention } from "../../../src/admin/retention/Retention.ts"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { layerExpiries } from "../../../src/Reactions.ts"
import { MAJORITY } from "../../support/Committee.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { publishedKeys } from "../../support/SealTests.ts"
import { exportOf, post, span, toolSpan, traceIdOf } from "./support/Exports.ts"

const settings = { OTLP_SETTLE_MS: "400", OTLP_IDLE_MS: "2000", OTLP_PARENT_WAIT_MS: "2000" }
const runOf = (trace: number) => runOfKey("anonymous", traceIdOf(trace))

const ended = (trace: number) =>
  until(call("GET", `/runs/${runOf(trace)}`), ({ body }) => ["completed", "failed"].includes(body.status))

const drained = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* until(sql`SELECT FROM otlp_inbox LIMIT 1`, (rows) => rows.length === 0)
})

const decision = (trace: number, policy: string) =>
  exportOf([
    span({ trace, span: 1, endMs: 500, attributes: { "runplane.policy": policy } }),
    span({
      trace,
      span: 2,
      parent: 1,
      endMs: 400,
      attributes: { "gen_ai.agent.name": "sre" },
      events: [
        { name: "runplane.proposal", attributes: { "proposal.id": "p1", option: "ship" } },
        { name: "runplane.vote", attributes: { "proposal.id": "p1", vote: "APPROVE" } }
      ]
    })
  ])

layer(layerTestService({ settings }), { excludeTestServices: true })("an ingested run", (it) => {
  it.effect("is recorded with the times of its root, and its export can be verified, also after a late span", () =>
    Effect.gen(function* () {
      // A child that begins before the root arrives, and one that ends after it.
      yield* post(exportOf([toolSpan(1, 2), span({ trace: 1, span: 3, parent: 1, startMs: 5, endMs: 900 })]))
      yield* post(exportOf([span({ trace: 1, span: 1, startMs: 1, endMs: 800 })]))
      const { body } = yield* ended(1)
      assert.strictEqual(Date.parse(body.endedAt) - Date.parse(body.startedAt), 799)
      assert.isBelow(Date.parse(body.metadata.firstSpanAt), Date.parse(body.createdAt))
      const state = yield* call("GET", `/runs/${runOf(1)}/state`)
      assert.deepInclude(state.body.run, { startedAt: body.startedAt, endedAt: body.endedAt })
      const overview = yield* call("GET", "/dashboard/overview?window=24h")
      assert.isBelow(overview.body.kpis.avgDurationMs ?? 0, 800)
      const check = yield* publishedKeys
      const verified = Effect.forEach(["json", "jsonl"], (format) =>
        Effect.map(call("GET", `/runs/${runOf(1)}/export?format=${format}`), ({ text }) =>
          verifyExport(sha256, check, Buffer.from(text))
        )
      )
      for (const found of yield* verified) assert.deepInclude(found, { ok: true }, JSON.stringify(found))
      const before = yield* call("GET", `/runs/${runOf(1)}/seal`)
      yield* post(exportOf([toolSpan(1, 9)]))
      yield* drained
      const after = yield* call("GET", `/runs/${runOf(1)}/seal`)
      assert.isAbove(after.body.events, before.body.events)
      for (const found of yield* verified) assert.deepInclude(found, { ok: true }, JSON.stringify(found))
    })
  )

  it.effect("lists its spans by pages, also those without an event", () =>
    Effect.gen(function* () {
      const framework = { "gen_ai.operation.name": "turn" }
      yield* post(
        exportOf([
          span({ trace: 2, span: 1, status: 2 }),
          span({ trace: 2, span: 2, parent: 1, name: "turn", attributes: { ...framework, "gen_ai.agent.name": "" } }),
          span({ trace: 2, span: 3, parent: 2, name: "execute_tool lookup", startMs: 3, endMs: 5 })
        ])
      )
      yield* ended(2)
      const first = yield* call("GET", `/runs/${runOf(2)}/spans?limit=2`)
      assert.isTrue(first.body.hasMore)
      const { body } = yield* call("GET", `/runs/${runOf(2)}/spans?limit=2&after=${first.body.nextCursor}`)
      assert.isFalse(body.hasMore)
      const spans = [...first.body.data, ...body.data]
      assert.sameMembers(
        spans.map(({ name }: { name: string }) => name),
        ["invoke_agent coordinator", "turn", "execute_tool lookup"]
      )
      const root = spans.find(({ parentSpanId }: { parentSpanId?: string }) => parentSpanId === undefined)
      assert.deepInclude(root, { kind: "agent", agent: "coordinator", ok: false, durationMs: 10 })
      assert.strictEqual((yield* call("GET", `/runs/${randomUUID()}/spans`)).status, 404)
      assert.strictEqual((yield* call("GET", `/runs/${runOf(2)}/spans?limit=5001`)).status, 400)
    })
  )

  it.effect("is forecast by the registered policy that its root names, and says when there is none", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.ingested" })
      yield* post(decision(3, "p.ingested"))
      yield* ended(3)
      for (const path of ["forecast", "decision/why"]) {
        const { body } = yield* call("GET", `/runs/${runOf(3)}/${path}`)
        assert.deepInclude(body, { policyVersion: "p.ingested", policySource: "registry" }, path)
      }
      const changed = { votes: [{ participantId: "sre", proposalId: "p1", vote: "REJECT" }] }
      assert.strictEqual((yield* call("POST", `/runs/${runOf(3)}/what-if`, { body: changed })).status, 201)
      yield* post(decision(4, "p.nowhere"))
      const run = yield* ended(4)
      assert.deepInclude(run.body, { status: "completed", policyVersion: "p.nowhere" })
      const { body, status } = yield* call("GET", `/runs/${runOf(4)}/forecast`)
      assert.strictEqual(status, 200)
      assert.deepInclude(body, { policyVersion: "p.nowhere", policySource: "unknown", outcomes: [] })
      assert.include(body.note, "the registry does not have them")
    })
  )

  it.effect("is delivered to webhooks, replayed and searched like any other run", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const hook = { url: "https://192.0.2.1/", secret: "s", events: ["run.started", "run.completed"] }
      const { body: created } = yield* call("POST", "/webhooks", { body: hook })
      yield* post(exportOf([span({ trace: 7, span: 1 }), toolSpan(7, 2)]))
      yield* ended(7)
      const deliveries = yield* sql<{ readonly event: string }>`
        SELECT event FROM webhook_deliveries WHERE webhook_id = ${created.id}::uuid AND run_id = ${runOf(7)}::uuid
        ORDER BY ordinal`
      assert.deepStrictEqual(
        deliveries.map(({ event }) => event),
        ["run.started", "run.completed"]
      )
      const [written] = yield* sql<{ readonly transactions: number }>`
        SELECT count(DISTINCT xmin::text)::int AS transactions FROM canonical_events
        WHERE run_id = ${runOf(7)}::uuid`
      assert.strictEqual(written?.transactions, 1, "a run that has ended is stored with its end at once")
      const state = yield* call("GET", `/runs/${runOf(7)}/state`)
      const { body } = yield* call("GET", `/runs/${runOf(7)}/replay/state`)
      assert.deepStrictEqual(body, state.body)
      const found = yield* call("GET", `/runs?q=participant:coordinator id:${runOf(7)}`)
      assert.strictEqual(found.body.data.length, 1)
    })
  )

  it.effect("counts in the stability of decisions, with the causes of its flips", () =>
    Effect.gen(function* () {
      const voted = (trace: number, vote: string, action: string) => {
        const attributes = { "gen_ai.conversation.id": "stable" }
        const votes = { name: "runplane.vote", attributes: { "proposal.id": "p1", vote } }
        return [
          span({
            trace,
            span: 1,
            endMs: 500,
            attributes,
            events: [{ name: "runplane.decision", attributes: { action } }]
          }),
          span({ trace, span: 2, parent: 1, endMs: 400, attributes: { "gen_ai.agent.name": "sre" }, events: [votes] })
        ]
      }
      const ships = [21, 22, 23]
      yield* post(
        exportOf([...ships.flatMap((trace) => voted(trace, "APPROVE", "ship")), ...voted(24, "REJECT", "hold")])
      )
      yield* Effect.forEach([...ships, 24], ended, { discard: true })
      const { body, text } = yield* call("GET", "/stability?q=conversation:stable&by=source")
      assert.deepStrictEqual(
        body.outcomes?.map(({ action, count }: { action: string; count: number }) => [action, count]),
        [
          ["ship", 3],
          ["hold", 1]
        ],
        text
      )
      assert.deepInclude(body.agreement, { rate: 0.75 })
      assert.strictEqual(body.flips.length, 1)
      assert.match(body.flips[0].text, /^sre voted REJECT/)
      assert.strictEqual(body.flips[0].exampleRight, runOf(24))
      assert.strictEqual(body.by[0].n, 4)
    })
  )

  it.effect("can be compared, archived and deleted, and not be made again", () =>
    Effect.gen(function* () {
      yield* post(exportOf([span({ trace: 5, span: 1 }), toolSpan(5, 2), span({ trace: 6, span: 1 })]))
      yield* ended(5)
      yield* ended(6)
      const body = { leftRunId: runOf(5), rightRunId: runOf(6) }
      const compared = yield* call("POST", "/runs/compare", { body })
      assert.deepInclude(compared.body, { statusMatch: true, durationDeltaMs: 0 })
      assert.strictEqual((yield* call("GET", `/runs/${runOf(5)}/divergence?with=${runOf(6)}`)).status, 200)
      const cloned = yield* call("POST", `/runs/${runOf(5)}/clone`, { body: {} })
      assert.deepInclude(cloned.body, { statusCode: 409, errorCode: "CONFLICT" })
      assert.include(cloned.body.message, "OpenTelemetry")
      assert.isString((yield* call("POST", `/runs/${runOf(5)}/archive`)).body.archivedAt)
      assert.strictEqual((yield* call("DELETE", `/runs/${runOf(5)}`)).status, 204)
      assert.strictEqual((yield* call("GET", `/runs/${runOf(5)}/spans`)).status, 404)
    })
  )

  it.effect("is archived, exported and deleted in batches", () =>
    Effect.gen(function* () {
      const traces = [8, 9]
      yield* post(exportOf(traces.flatMap((trace) => [span({ trace, span: 1 }), toolSpan(trace, 2)])))
      yield* Effect.forEach(traces, ended, { discard: true })
      const body = { runIds: traces.map(runOf) }
      const archived = yield* call("POST", "/runs/batch/archive", { body })
      assert.deepStrictEqual(
        archived.body.map((entry: { readonly status: string }) => entry.status),
        ["archived", "archived"]
      )
      const exported = yield* call("POST", "/runs/batch/export", { body })
      assert.include(exported.text, "tool.completed")
      const deleted = yield* call("POST", "/runs/batch/delete", { body })
      assert.strictEqual(deleted.status, 201)
      for (const trace of traces) assert.strictEqual((yield* call("GET", `/runs/${runOf(trace)}`)).status, 404)
    })
  )

  it.effect("is deleted by a retention sweep with its spans, and a late span does not make it again", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* post(exportOf([span({ trace: 10, span: 1 }), toolSpan(10, 2)]))
      yield* ended(10)
      yield* drained
      yield* sql`UPDATE runs SET ended_at = now() - interval '31 days' WHERE id = ${runOf(10)}::uuid`
      const swept = Retention.use(({ sweep }) => sweep).pipe(
        Effect.provide(
          Retention.layer({ enabled: true, ttlDays: 30, intervalHours: 24, batchSize: 2, onlyFiled: false }).pipe(
            Layer.provide([ExpiredRuns.layer, layerExpiries, layerTestLog, Metrics.layer])
          )
        )
      )
      // A sweep leaves out a run that a consumer of the log works on.
      yield* until(Effect.andThen(swept, call("GET", `/runs/${runOf(10)}`)), ({ status }) => status === 404)
      assert.deepStrictEqual(yield* sql`SELECT FROM otlp_seen WHERE run_id = ${runOf(10)}::uuid`, [])
      yield* post(exportOf([toolSpan(10, 3)]))
      yield* drained
      assert.strictEqual((yield* call("GET", `/runs/${runOf(10)}`)).status, 404)
    })
  )
})

for (const joined of ["off", "on"]) {
  layer(layerTestService({ settings: { ...settings, OTLP_JOINED_USAGE: joined } }), { excludeTestServices: true })(
    `spans that join the run of a session, with usage ${joined}`,
    (it) => {
      it.effect("are in its log and among its spans", () =>
        Effect.gen(function* () {
          const sessionId = randomUUID()
          const { body } = yield* call("POST", "/runs", { body: descriptor({ session: { sessionId } }) })
          const runId = RunId.make(body.runId)
          const chat = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.usage.input_tokens": "100",
            "gen_ai.usage.output_tokens": "10"
          }
          yield* post(
            exportOf([
              toolSpan(40, 2),
              span({ trace: 40, span: 3, parent: 1, name: "chat gpt-4o", attributes: chat }),
              span({ trace: 40, span: 1, attributes: { "macp.session.id": sessionId } })
            ])
          )
          yield* drained
          const { decoded } = yield* assertLogIsExact(runId)
          const calls = decoded.filter(({ type }) => type === "llm.call.completed")
          assert.strictEqual(calls.length, 1)
          assert.strictEqual(calls[0]?.source.name, "otlp")
          const metrics = yield* call("GET", `/runs/${runId}/metrics`)
          assert.strictEqual(metrics.body.totalTokens, joined === "on" ? 110 : 0)
          const spans = yield* call("GET", `/runs/${runId}/spans`)
          assert.strictEqual(spans.body.data.length, 3)
        })
      )
    }
  )
}
