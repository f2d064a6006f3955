import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { AlertBudget } from "@runplane/api"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import {
  addRule,
  alertsOf,
  type Firing,
  level,
  putRule,
  record,
  ruleOf,
  runningRun,
  spends
} from "../../support/AlertRules.ts"
import { call, layerTestService } from "../../support/HttpService.ts"

const budgetsOf = (ids: ReadonlyArray<string>) =>
  Effect.map(
    call("GET", "/alerts/budgets"),
    ({ body }): ReadonlyArray<AlertBudget> => body.filter(({ ruleId }: AlertBudget) => ids.includes(ruleId))
  )

layer(layerTestService(), { excludeTestServices: true })("the handling of alerts", (it) => {
  it.effect("gives a budget the pace of the time that it counts, and lists the worst one first", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const ofMonth = { per: "all", window: "month" }
      const calm = yield* addRule({ ...ofMonth, id: "a-calm", levels: [level(1_000_000)] })
      const fast = yield* addRule({ ...ofMonth, id: "b-fast", levels: [level(1_000)] })
      const runId = yield* runningRun
      yield* record(runId, spends(500), spends(306))
      yield* until(budgetsOf([fast.id]), ([one]) => one?.spent === 806)
      // A quarter of an hour later, at a service that has kept parts of time for long.
      yield* sql`UPDATE alert_cursor SET paced_since = now() - interval '30 days'`
      yield* sql`UPDATE alert_rules SET counted_since = now() - interval '15 minutes'`
      const budgets = yield* budgetsOf([calm.id, fast.id])
      assert.deepStrictEqual(
        budgets.map(({ ruleId }) => ruleId),
        [fast.id, calm.id]
      )
      const [worst] = budgets
      assert.strictEqual(worst?.pace?.of, "hour")
      assert.closeTo(worst?.pace?.perHour ?? 0, 4 * 806, 20)
      assert.closeTo(Date.now() - Date.parse(worst?.countedSince ?? ""), 900_000, 30_000)
      // The counts of a rule that measures something else begin again.
      yield* putRule(fast, { measure: "tokens" })
      const [again] = yield* until(budgetsOf([fast.id]), ([one]) => one?.measure === "tokens")
      assert.isBelow(Date.now() - Date.parse(again?.countedSince ?? ""), 60_000)
      assert.deepStrictEqual(yield* sql`SELECT FROM alert_paces WHERE rule_id = ${fast.id}`, [])
      const { body: past } = yield* call("GET", "/alerts/budgets?at=2026-01-01")
      assert.isTrue(past.every((one: AlertBudget) => one.pace === undefined))
    })
  )

  it.effect("tries a rule before it is added, and stores nothing", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      yield* record(runId, spends(3))
      const draft = { ...ruleOf({ match: `id:${runId}`, levels: [level(2), level(5)] }), id: undefined, name: "Draft" }
      const { body } = yield* until(
        call("POST", "/alerts/rules/test", { body: draft }),
        (answer) => answer.body.firings?.length === 1
      )
      assert.deepInclude(body.firings[0], { at: 2, value: 3, runId, status: "open" })
      assert.isTrue(body.complete)
      const { body: rules } = yield* call("GET", "/alerts/rules")
      assert.isFalse(rules.some(({ name }: { readonly name: string }) => name === "Draft"))
      const refused = yield* call("POST", "/alerts/rules/test", { body: { ...draft, match: "colour:red" } })
      assert.strictEqual(refused.status, 400)
      const wrong = yield* call("POST", "/alerts/rules/test", { body: { ...draft, levels: [level(2), level(1)] } })
      assert.deepStrictEqual([wrong.status, wrong.body.message], [400, "levels.1.at must be greater than levels.0.at"])
    })
  )

  it.effect("lists the alerts first that wait for a decision, and resolved ones by their end", () =>
    Effect.gen(function* () {
      const severe = (at: number, severity: string) => ({ at, severity, actions: [] })
      const rule = yield* addRule({ levels: [severe(1, "info"), severe(2, "critical"), severe(3, "critical")] })
      const runId = yield* runningRun
      for (const _ of [1, 2, 3]) yield* record(runId, spends(1))
      const alerts = yield* alertsOf(rule, ({ length }) => length === 3)
      const levelsBy = (query: string) =>
        Effect.map(call("GET", `/alerts?rule=${rule.id}&${query}`), ({ body }) =>
          body.data.map(({ level }: Firing) => level)
        )
      assert.deepStrictEqual(yield* levelsBy("order=urgent"), [1, 2, 0])
      assert.deepStrictEqual(yield* levelsBy("status=open"), [2, 1, 0])
      const second = alerts.find(({ level }) => level === 1)
      yield* call("POST", `/alerts/${second?.id}/ack`, { body: {} })
      assert.deepStrictEqual(yield* levelsBy("order=urgent"), [2, 0, 1])
      // The first level ends last.
      const sql = yield* PgClient.PgClient
      yield* sql`
        UPDATE alert_firings SET resolved_by = 'value', resolved_at = now() + (3 - level) * interval '1 second'
        WHERE rule_id = ${rule.id}`
      assert.deepStrictEqual(yield* levelsBy("status=resolved"), [0, 1, 2])
    })
  )
})
