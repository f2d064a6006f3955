import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { OTLP_RUNTIME_KIND } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { exportOf, post, span, toolSpan, traceIdOf } from "../ingest/support/Exports.ts"

const runOf = (trace: number) => runOfKey("anonymous", traceIdOf(trace))

const addRule = Effect.fnUntraced(function* (over: Readonly<Record<string, unknown>>) {
  const body = {
    ...{ id: `t-${randomUUID()}`, name: "Telemetry", per: "all", window: "month", measure: "costUsd" },
    ...{ levels: [{ at: 10, severity: "critical", actions: [] }] },
    ...over
  }
  const answer = yield* call("POST", "/alerts/rules", { body })
  assert.strictEqual(answer.status, 201, answer.text)
  return body.id
})

const budgetsOf = (id: string) =>
  Effect.map(call("GET", "/alerts/budgets"), ({ body }) =>
    body.filter(({ ruleId }: { readonly ruleId: string }) => ruleId === id)
  )
const firingsOf = (id: string) => Effect.map(call("GET", `/alerts?rule=${id}`), ({ body }) => body.data)

/** A run of telemetry that claims a scenario and a cost. */
const claims = (trace: number, scenario: string, costUsd: string) =>
  post(
    exportOf([
      span({ trace, span: 1, attributes: { "runplane.scenario": scenario } }),
      span({
        ...{ trace, span: 2, parent: 1, name: "chat m" },
        attributes: {
          ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.cost": costUsd },
          ...{ "gen_ai.usage.input_tokens": "10", "gen_ai.usage.output_tokens": "2" }
        }
      })
    ])
  )

const launch = (scenarioRef: string) =>
  call("POST", "/runs", { body: descriptor({ session: { metadata: { scenarioRef } } }) })

layer(layerTestService({ settings: { OTLP_SETTLE_MS: "300" } }), { excludeTestServices: true })(
  "what telemetry claims",
  (it) => {
    it.effect("exhausts no budget with admission, and is shown beside it", () =>
      Effect.gen(function* () {
        const scenario = `fraud/case-${randomUUID().slice(0, 8)}@1.0.0`
        const rule = yield* addRule({ per: "scenario", match: `scenario:"${scenario}"`, admission: true })
        yield* claims(901, scenario, "40")
        const [budget] = yield* until(budgetsOf(rule), ([one]) => one?.telemetry === 40)
        assert.deepInclude(budget, { key: scenario, spent: 0 })
        const [firing] = yield* until(firingsOf(rule), ({ length }) => length > 0)
        assert.deepInclude(firing, { key: scenario, value: 40, telemetry: { mode: "count", source: "anonymous" } })
        yield* until(call("GET", `/runs/${runOf(901)}`), ({ body }) => body.status === "completed")
        assert.strictEqual((yield* launch(scenario)).status, 202)
      })
    )

    it.effect("exhausts a budget that acts on telemetry", () =>
      Effect.gen(function* () {
        const scenario = `fraud/case-${randomUUID().slice(0, 8)}@1.0.0`
        const rule = yield* addRule({
          ...{ per: "scenario", match: `scenario:"${scenario}"`, admission: true, telemetry: "act" }
        })
        yield* claims(902, scenario, "40")
        const [budget] = yield* until(budgetsOf(rule), ([one]) => one?.spent === 40)
        assert.notProperty(budget, "telemetry")
        const [firing] = yield* until(firingsOf(rule), ({ length }) => length > 0)
        assert.deepInclude(firing, { telemetry: { mode: "act", source: "anonymous" } })
        assert.strictEqual((yield* launch(scenario)).body.errorCode, "BUDGET_EXHAUSTED")
        const { body } = yield* call("GET", `/audit?action=alert.fired&resourceId=${firing.id}`)
        assert.deepInclude(body.data[0]?.details, { telemetry: { mode: "act", source: "anonymous" } })
      })
    )

    it.effect("cancels no live run by tool spans or evaluations, where the rule counts it apart", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const sessionId = randomUUID()
        const runId = yield* createRun({ status: "running", createdAt: new Date().toISOString() })
        yield* sql`
          UPDATE runs SET runtime_session_id = ${sessionId}, runtime_kind = 'rust-runtime' WHERE id = ${runId}::uuid`
        const ruleOf = (over: Readonly<Record<string, unknown>>) =>
          addRule({
            ...{ per: "run", window: "run", match: `id:${runId}` },
            levels: [{ at: 2, severity: "critical", actions: [{ type: "cancel", allowCancel: true }] }],
            ...over
          })
        const tools = yield* ruleOf({ measure: "toolCalls" })
        const marks = yield* ruleOf({ measure: "markBelow:tone" })
        const acting = yield* ruleOf({ measure: "toolCalls", telemetry: "act" })
        const tone = {
          name: "gen_ai.evaluation.result",
          attributes: { "gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": "1" }
        }
        const root = span({ trace: 903, span: 1, events: [tone], attributes: { "macp.session.id": sessionId } })
        yield* post(exportOf([root, toolSpan(903, 2), toolSpan(903, 3), toolSpan(903, 4)]))
        for (const rule of [tools, marks]) {
          const [firing] = yield* until(firingsOf(rule), ({ length }) => length > 0)
          assert.deepInclude(firing, { runId, telemetry: { mode: "count", source: "anonymous", withheld: ["cancel"] } })
          assert.lengthOf(yield* sql`SELECT FROM alert_commands WHERE firing_id = ${firing.id}::uuid`, 0)
        }
        const [act] = yield* until(firingsOf(acting), ({ length }) => length > 0)
        assert.deepInclude(act, { runId, telemetry: { mode: "act", source: "anonymous" } })
        assert.lengthOf(yield* sql`SELECT FROM alert_commands WHERE firing_id = ${act.id}::uuid`, 1)
        const { body } = yield* call("GET", `/runs/${runId}/events?type=tool.called`)
        for (const { data } of body.data) assert.strictEqual(data.telemetrySource, "anonymous")
      })
    )

    it.effect("is counted apart by a rule of an earlier release, and a change of that starts its counts again", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const scenario = `fraud/case-${randomUUID().slice(0, 8)}@1.0.0`
        const rule = yield* addRule({ per: "scenario", match: `scenario:"${scenario}"` })
        yield* sql`UPDATE alert_rules SET rule = (rule::jsonb - 'telemetry')::json WHERE id = ${rule}`
        yield* sql`UPDATE alert_cursor SET rules_version = rules_version + 1`
        const { body: read } = yield* call("GET", `/alerts/rules/${rule}`)
        assert.strictEqual(read.telemetry, "count")
        yield* claims(904, scenario, "4")
        yield* until(budgetsOf(rule), ([one]) => one?.telemetry === 4)
        const { createdAt: _c, id: _i, updatedAt: _u, ...fields } = read
        assert.strictEqual((yield* call("PUT", `/alerts/rules/${rule}`, { body: fields })).status, 200)
        assert.deepInclude((yield* budgetsOf(rule))[0], { telemetry: 4, spent: 0 })
        const acting = { ...fields, telemetry: "act", backfill: true }
        assert.strictEqual((yield* call("PUT", `/alerts/rules/${rule}`, { body: acting })).status, 200)
        yield* until(budgetsOf(rule), ([one]) => one?.spent === 4 && one?.telemetry === undefined)
        const wrong = yield* call("PUT", `/alerts/rules/${rule}`, { body: { ...fields, telemetry: "never" } })
        assert.strictEqual(wrong.status, 400)
        assert.include(wrong.text, "telemetry")
      })
    )

    it.effect("is in the test of a rule as in the evaluation", () =>
      Effect.gen(function* () {
        const scenario = `fraud/case-${randomUUID().slice(0, 8)}@1.0.0`
        const rule = yield* addRule({
          ...{ per: "scenario", match: `scenario:"${scenario}"` },
          levels: [{ at: 10, severity: "critical", actions: [{ type: "suspend" }] }]
        })
        yield* claims(905, scenario, "12")
        yield* until(firingsOf(rule), ({ length }) => length > 0)
        const { body } = yield* call("POST", `/alerts/rules/${rule}/test`)
        assert.deepInclude(body.firings[0], {
          ...{ key: scenario, value: 12 },
          telemetry: { mode: "count", source: "anonymous", withheld: ["suspend"] }
        })
      })
    )

    it.effect("leaves the budgets when its run is deleted, which then admit runs and fire again", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const scenario = `fraud/case-${randomUUID().slice(0, 8)}@1.0.0`
        const of = { per: "scenario", match: `scenario:"${scenario}"` }
        const acting = yield* addRule({ ...of, admission: true, telemetry: "act", expectedCostUsd: 0 })
        const counting = yield* addRule(of)
        yield* claims(906, scenario, "40")
        yield* claims(907, scenario, "4")
        yield* until(budgetsOf(acting), ([one]) => one?.spent === 44)
        yield* until(budgetsOf(counting), ([one]) => one?.telemetry === 44)
        for (const trace of [906, 907]) {
          yield* until(call("GET", `/runs/${runOf(trace)}`), ({ body }) => body.status === "completed")
        }
        assert.strictEqual((yield* launch(scenario)).body.errorCode, "BUDGET_EXHAUSTED")
        assert.strictEqual((yield* call("DELETE", `/runs/${runOf(906)}`)).status, 204)
        yield* until(budgetsOf(acting), ([one]) => one?.spent === 4)
        yield* until(budgetsOf(counting), ([one]) => one?.telemetry === 4)
        assert.strictEqual((yield* launch(scenario)).status, 202)
        const [ended] = yield* firingsOf(acting)
        assert.deepInclude(ended, { status: "resolved", resolvedBy: "value" })
        const { body } = yield* call("GET", `/audit?action=alert_rule.take_out&resourceId=${acting}`)
        assert.deepInclude(body.data[0]?.details, { key: scenario, value: 40e9, runs: 1, runIds: [runOf(906)] })
        yield* claims(908, scenario, "20")
        yield* until(firingsOf(acting), ({ length }) => length === 2)
        // What retention deletes stays spent.
        yield* until(call("GET", `/runs/${runOf(908)}`), ({ body }) => body.status === "completed")
        const upkeep = yield* RunAdministration
        const deletion = { reason: "expired", by: "retention", at: new Date().toISOString() } as const
        yield* sql.withTransaction(upkeep.remove([runOf(908)], deletion))
        assert.lengthOf(yield* sql`SELECT FROM alert_deleted_runs WHERE run_id = ${runOf(908)}::uuid`, 0)
        assert.deepInclude((yield* budgetsOf(acting))[0], { spent: 24 })
      })
    )

    it.effect("has the kind of runtime that only received runs have", () =>
      Effect.gen(function* () {
        const answer = yield* call("POST", "/runs", { body: descriptor({ runtime: { kind: OTLP_RUNTIME_KIND } }) })
        assert.strictEqual(answer.status, 400, answer.text)
      })
    )
  }
)
