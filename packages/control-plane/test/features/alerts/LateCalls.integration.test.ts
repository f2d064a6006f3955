import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { foldText } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { exportOf, post, span, traceIdOf } from "../ingest/support/Exports.ts"
import { spends } from "./Spending.ts"

const DAY_MS = 86_400_000
/** The spans of a test begin a minute before it. */
const DAYS_AGO = 3
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

interface Budget {
  readonly ruleId: string
  readonly key: string
  readonly period: string
  readonly spent: number
  readonly reserved: number
}

const addBudget = Effect.fnUntraced(function* (over: Readonly<Record<string, unknown>>) {
  const body = {
    ...{ id: `b-${randomUUID()}`, name: "Budget", per: "all", window: "day", measure: "costUsd" },
    ...{ levels: [{ at: 1, severity: "warning", actions: [] }] },
    ...over
  }
  const answer = yield* call("POST", "/alerts/rules", { body })
  assert.strictEqual(answer.status, 201, answer.text)
  return body.id
})

const budgetOf = (id: string, at?: string) =>
  Effect.map(
    call("GET", `/alerts/budgets${at === undefined ? "" : `?at=${at}`}`),
    ({ body }): ReadonlyArray<Budget> => body.filter(({ ruleId }: Budget) => ruleId === id)
  )

/** A running run with an environment and tags. */
const runOf = Effect.fnUntraced(function* (environment: string, tags: ReadonlyArray<string> = []) {
  const sql = yield* PgClient.PgClient
  const runId = yield* createRun({ status: "running", createdAt: new Date().toISOString() })
  yield* sql`UPDATE runs SET environment = ${environment}, tags = ${tags}::text[] WHERE id = ${runId}::uuid`
  return runId
})

const modelSpan = (trace: number, number: number, startMs: number, costUsd: string) =>
  span({
    ...{ trace, span: number, parent: 1, startMs, endMs: startMs + 10 },
    name: "chat m",
    attributes: {
      ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.cost": costUsd },
      ...{ "gen_ai.usage.input_tokens": "10", "gen_ai.usage.output_tokens": "2" }
    }
  })

layer(layerTestService({ settings: { OTLP_SETTLE_MS: "300" } }), { excludeTestServices: true })(
  "the books of a budget",
  (it) => {
    it.effect("have calls of an earlier day in its period, and no alarm of today", () =>
      Effect.gen(function* () {
        const now = Date.now()
        const runId = runOfKey("anonymous", traceIdOf(701))
        const rule = yield* addBudget({ match: `id:${runId}`, telemetry: "act" })
        const started = -DAYS_AGO * DAY_MS
        yield* post(
          exportOf([
            span({ trace: 701, span: 1, startMs: started, endMs: started + 100 }),
            modelSpan(701, 2, started + 1, "5"),
            modelSpan(701, 3, started + 20, "0.25")
          ])
        )
        const day = dayOf(now - 60_000 + started)
        const [past] = yield* until(budgetOf(rule, day), ([one]) => one?.spent === 5.25)
        assert.include(past, { period: day, key: "all", reserved: 0 })
        assert.include((yield* budgetOf(rule))[0], { period: dayOf(now), spent: 0 })
        assert.strictEqual((yield* call("GET", `/alerts?rule=${rule}`)).body.total, 0)
        const window = (from: number, to: number) =>
          `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`
        const costOf = (from: number, to: number) =>
          Effect.map(
            call("GET", `/dashboard/overview?${window(from, to)}`),
            ({ body }): number => body.kpis.totalCostUsdExact
          )
        // The whole run counts when its first span began.
        assert.strictEqual(yield* costOf(now - DAY_MS, now + DAY_MS), 0)
        yield* until(costOf(now + started - DAY_MS, now - DAY_MS), (cost) => cost === 5.25)
        const calls = (from: number, to: number) =>
          Effect.map(
            call(
              "GET",
              `/pricing/models?since=${new Date(from).toISOString()}&until=${new Date(to).toISOString()}&q=id:${runId}`
            ),
            ({ body }): number => body.models.reduce((sum: number, one: { calls: number }) => sum + one.calls, 0)
          )
        assert.strictEqual(yield* calls(now - DAY_MS, now + DAY_MS), 0)
        assert.strictEqual(yield* calls(now + started - DAY_MS, now - DAY_MS), 2)
        // A call of today counts today.
        yield* post(exportOf([modelSpan(701, 4, 30_000, "2")]))
        const [today] = yield* until(budgetOf(rule), ([one]) => (one?.spent ?? 0) > 0)
        assert.strictEqual(today?.spent, 2)
        assert.strictEqual((yield* budgetOf(rule, day))[0]?.spent, 5.25)
      })
    )

    it.effect("have one key for a text however it is written", () =>
      Effect.gen(function* () {
        const environment = randomUUID()
        const rule = yield* addBudget({ match: `environment:${environment}`, per: "tag" })
        const tags = ["Cafe\u0301", "caf\u00e9"]
        for (const tag of [...tags, ...tags]) {
          const run = yield* runOf(environment, [tag])
          yield* spends(run, 1)
        }
        const both = yield* runOf(environment, tags)
        yield* spends(both, 1)
        const budgets = yield* until(budgetOf(rule), ([one]) => one?.spent === 5)
        assert.deepStrictEqual(
          budgets.map(({ key, spent }) => [key, spent]),
          [["Cafe\u0301", 5]]
        )
        const { body } = yield* call("GET", `/alerts?rule=${rule}`)
        assert.deepStrictEqual([body.total, body.data[0]?.key], [1, "Cafe\u0301"])
      })
    )

    it.effect("have nothing reserved for a run that has ended", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const environment = randomUUID()
        const rule = yield* addBudget({ match: `environment:${environment}`, admission: true, expectedCostUsd: 0.25 })
        const runId = yield* runOf(environment)
        yield* sql`
          INSERT INTO alert_reservations (rule_id, run_id, key, period, amount, created_at)
          VALUES (${rule}, ${runId}::uuid, 'all', ${dayOf(Date.now())}, 250000000, now())`
        assert.include((yield* budgetOf(rule))[0], { spent: 0, reserved: 0.25 })
        yield* spends(runId, 0.125)
        yield* until(budgetOf(rule), ([one]) => one?.spent === 0.125)
        assert.strictEqual((yield* budgetOf(rule))[0]?.reserved, 0.25)
        yield* endRun(runId)
        // No other run is created.
        const [ended] = yield* until(budgetOf(rule), ([one]) => one?.reserved === 0)
        assert.strictEqual(ended?.spent, 0.125)
        yield* until(sql`SELECT FROM alert_reservations WHERE rule_id = ${rule}`, (rows) => rows.length === 0)
      })
    )

    it.effect("fold texts as the database does", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        for (const text of [
          "Cafe\u0301",
          "ÜBERPRÜFUNG",
          "STRASSE",
          "Straße",
          "ΣΟΦΟΣ",
          "КРЕДИТ",
          "a/B@1.0.0",
          "İ",
          "ŉ",
          "K"
        ]) {
          const [row] = yield* sql<{ readonly folded: string }>`SELECT fold_text(${text}::text) AS folded`
          assert.strictEqual(foldText(text), row?.folded.normalize("NFC"), text)
        }
      })
    )
  }
)
