import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { OTLP_RUNTIME_KIND, scenarioOf } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../src/features/ingest/TraceRuns.ts"
import { exportOf, post, span, traceIdOf } from "../features/ingest/support/Exports.ts"
import { CURRENT, connect } from "../features/mcp/Clients.ts"
import { baseUrl, call, descriptor, layerTestService } from "../support/HttpService.ts"

const SETTINGS = { OTLP_SETTLE_MS: "300", OTLP_IDLE_MS: "2000" }
const KINDS = [OTLP_RUNTIME_KIND, "rust", "OTLP", ""]
const REFERENCES = [
  null,
  "",
  " ",
  "a",
  "A",
  " a",
  "a/b@1.0.0",
  "null",
  "'",
  "\\",
  "\u00e9",
  "e\u0301",
  "\u{1F600}",
  "x".repeat(512)
]

const failed = (trace: number, service: string, scenario: string) =>
  exportOf([span({ trace, span: 1, status: 2, attributes: { "runplane.scenario": scenario } })], {
    "service.name": service
  })

// docs/reference/runs.md#scenario
layer(layerTestService({ settings: SETTINGS }), { excludeTestServices: true })("the scenario of a run", (it) => {
  it.effect("is the same text in the database and in the program", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const rows = yield* sql<
        { readonly kind: string; readonly ref: string | null } & Record<"source" | "scenario", string | null>
      >`
        SELECT kind, ref, source, scenario_of(kind, ref, source) AS scenario
        FROM unnest(${KINDS}::text[]) AS kind, unnest(${REFERENCES}::text[]) AS ref, unnest(${REFERENCES}::text[]) AS source`
      assert.strictEqual(rows.length, KINDS.length * REFERENCES.length ** 2)
      for (const { kind, ref, scenario, source } of rows) {
        const run = { runtimeKind: kind, scenarioRef: ref ?? undefined, sourceRef: source ?? undefined }
        assert.strictEqual(scenario ?? undefined, scenarioOf(run), JSON.stringify(run))
      }
    })
  )

  it.effect("is one name for alerts, the dashboard, searches, facets and tools, not the service of its spans", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const rule = { id: `r-${randomUUID()}`, name: "Failures", per: "scenario", window: "24h", measure: "failedRuns" }
      const levels = [{ at: 1, severity: "warning", actions: [] }]
      assert.strictEqual((yield* call("POST", "/alerts/rules", { body: { ...rule, levels } })).status, 201)
      yield* post(failed(1, "shop", "refund"))
      yield* post(failed(2, "shop", "ship"))
      const runId = runOfKey("anonymous", traceIdOf(1))
      const other = runOfKey("anonymous", traceIdOf(2))
      const metadata = { sourceRef: "refund", scenarioRef: "other" }
      const { body: created } = yield* call("POST", "/runs", { body: descriptor({ session: { metadata } }) })
      for (const id of [runId, other]) yield* until(call("GET", `/runs/${id}`), ({ body }) => body.status === "failed")

      const alerts = yield* until(call("GET", `/alerts?rule=${rule.id}`), ({ body }) => body.data.length >= 2)
      assert.sameMembers(
        alerts.body.data.map(({ key }: { readonly key: string }) => key),
        ["refund", "ship"]
      )
      const labels = Effect.map(call("GET", "/dashboard/overview?window=24h"), ({ body }) => [
        body.charts.perScenario,
        body.scenarios.map(({ runs, scenario }: { readonly scenario: string; readonly runs: number }) => [
          scenario,
          runs
        ])
      ])
      const expected = [
        { labels: ["refund", "ship"], data: [2, 1] },
        [
          ["refund", 2],
          ["ship", 1]
        ]
      ]
      assert.deepStrictEqual(yield* labels, expected)
      yield* until(sql`SELECT FROM tally_changes LIMIT 1`, (rows) => rows.length === 0)
      assert.deepStrictEqual(yield* labels, expected)

      const found = yield* call("GET", `/runs?q=${encodeURIComponent("scenario:refund")}`)
      assert.sameMembers(
        found.body.data.map(({ id }: { readonly id: string }) => id),
        [runId, created.runId]
      )
      const none = yield* call("GET", `/runs?q=${encodeURIComponent("scenario:(shop,other)")}`)
      assert.strictEqual(none.body.total, 0)
      const facets = yield* call("GET", "/runs/facets?fields=scenario")
      assert.deepStrictEqual(facets.body.facets, [
        {
          field: "scenario",
          values: [
            { value: "refund", count: 2 },
            { value: "ship", count: 1 }
          ]
        }
      ])
      const events = yield* call("GET", `/events?q=${encodeURIComponent("scenario:ship type:run.failed")}`)
      assert.deepStrictEqual(
        events.body.data.map((event: { readonly runId: string }) => event.runId),
        [other]
      )
      const record = yield* call("GET", `/runs/${runId}/decision/why`, { headers: { accept: "text/markdown" } })
      assert.include(record.text, "scenario refund")

      const client = yield* connect(yield* baseUrl, { revision: CURRENT })
      const rows = yield* client.call("runs_search", { q: `id:${runId}` })
      assert.strictEqual(rows.content.rows[0].scenario, "refund")
      const costs = yield* client.call("cost_summary", { groupBy: "scenario" })
      assert.sameMembers(
        costs.content.rows.map(({ scenario }: { readonly scenario: string }) => scenario),
        ["refund", "ship"]
      )
    })
  )

  it.effect("is not that of a launch when spans made the run", () =>
    Effect.gen(function* () {
      yield* post(failed(3, "shop", "refund"))
      const runId = runOfKey("anonymous", traceIdOf(3))
      yield* until(call("GET", `/runs/${runId}`), ({ body }) => body.status === "failed")
      const { body, status } = yield* call("GET", `/runs/${runId}/traces`)
      assert.strictEqual(status, 200)
      assert.notProperty(body, "scenarioRef")
    })
  )
})
