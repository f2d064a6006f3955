import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { runStarted } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { addRule, alertsOf, level, putRule, record, runningRun, spends } from "../../support/AlertRules.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"

const SETTINGS = { WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" }

layer(layerTestService({ settings: SETTINGS }), { excludeTestServices: true })("a changed alert rule", (it) => {
  const month = { per: "all", window: "month" }
  const shown = (
    alerts: ReadonlyArray<{ readonly at: number; readonly status: string; readonly resolvedBy?: string }>
  ) => alerts.map(({ at, resolvedBy, status }) => `${at} ${resolvedBy ?? status}`).toSorted()

  it.effect("fires at its new levels in the same month, when a budget is raised", () =>
    Effect.gen(function* () {
      const hooks = yield* webhookReceiver()
      const webhook = { type: "webhook", format: "generic", url: hooks.url }
      const runId = yield* runningRun
      const rule = yield* addRule({ match: `id:${runId}`, ...month, levels: [level(80, webhook), level(100, webhook)] })
      yield* record(runId, spends(105))
      yield* alertsOf(rule, (alerts) => alerts.length === 2)
      yield* putRule(rule, { levels: [level(400, webhook), level(500, webhook)] })
      yield* record(runId, spends(420))
      const alerts = yield* alertsOf(rule, (all) => all.length === 4)
      assert.deepStrictEqual(shown(alerts), ["100 rule", "400 open", "500 open", "80 rule"])
      const received = (yield* Queue.takeN(hooks.requests, 6)).map(({ body }) => {
        const { data, type } = JSON.parse(body)
        return `${type} ${data.firing.at}`
      })
      assert.deepStrictEqual(received, [
        ...["alert.fired 80", "alert.fired 100", "alert.resolved 80", "alert.resolved 100"],
        ...["alert.fired 400", "alert.fired 500"]
      ])
    })
  )

  it.effect("fires at once when a budget is lowered below what is spent, without a run", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      const rule = yield* addRule({ match: `id:${runId}`, ...month, levels: [level(100)] })
      yield* record(runId, spends(60))
      const sql = yield* PgClient.PgClient
      yield* until(sql`SELECT FROM alert_counters WHERE rule_id = ${rule.id}`, (rows) => rows.length > 0)
      yield* putRule(rule, { levels: [level(40), level(50), level(90)] })
      const alerts = yield* alertsOf(rule, (all) => all.length === 2)
      assert.deepStrictEqual(shown(alerts), ["40 open", "50 open"])
      assert.isTrue(alerts.every(({ runId: of, value }) => of === undefined && value === 60))
    })
  )

  it.effect("keeps the firing of a threshold that stays, under its new number", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      const rule = yield* addRule({ match: `id:${runId}`, ...month, levels: [level(80), level(100)] })
      yield* record(runId, spends(105))
      const before = yield* alertsOf(rule, (alerts) => alerts.length === 2)
      yield* putRule(rule, { levels: [level(50), level(80), level(100), level(200)] })
      const alerts = yield* alertsOf(rule, (all) => all.length === 3)
      assert.deepStrictEqual(shown(alerts), ["100 open", "50 open", "80 open"])
      assert.includeMembers(
        alerts.map(({ id }) => id),
        before.map(({ id }) => id)
      )
      assert.deepStrictEqual(
        alerts.map(({ at, level: number }) => [at, number]).toSorted(([a = 0], [b = 0]) => a - b),
        [
          [50, 0],
          [80, 1],
          [100, 2]
        ]
      )
      yield* record(runId, spends(100))
      yield* alertsOf(rule, (all) => all.length === 4)
      // Back to the first levels: 50 and 200 end, the others stay.
      yield* putRule(rule, { levels: [level(80), level(100)] })
      yield* record(runId, spends(1))
      const after = yield* alertsOf(rule, (all) => all.filter(({ status }) => status === "open").length === 2)
      assert.deepStrictEqual(shown(after), ["100 open", "200 rule", "50 rule", "80 open"])
    })
  )

  it.effect("compares runs, rolling windows and marks again", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      const other = yield* runningRun
      const match = `id:${runId} OR id:${other}`
      const run = yield* addRule({ match, levels: [level(100)] })
      const hour = yield* addRule({ match, per: "all", window: "1h", levels: [level(100)] })
      const below = yield* addRule({ match, ...month, measure: "markBelow:care", minRuns: 5, levels: [level(0.5)] })
      yield* record(runId, spends(60))
      yield* record(other, spends(60))
      yield* endRun(other)
      const mark = { target: { kind: "run" }, name: "care", value: 0.1, source: "judge", judge: { name: "a" } }
      yield* call("POST", `/runs/${runId}/marks`, { body: mark })
      yield* alertsOf(hour, (all) => all.length === 1)
      const sql = yield* PgClient.PgClient
      yield* until(sql`SELECT FROM alert_counters WHERE rule_id = ${below.id}`, (rows) => rows.length > 0)
      yield* putRule(run, { levels: [level(50)] })
      yield* putRule(hour, { levels: [level(90), level(100)] })
      yield* putRule(below, { minRuns: 1 })
      const [fired, ...rest] = yield* alertsOf(run, (all) => all.length > 0)
      // The other run has ended.
      assert.deepInclude(fired, { key: runId, runId, value: 60 })
      assert.lengthOf(rest, 0)
      assert.deepStrictEqual(shown(yield* alertsOf(hour, (all) => all.length === 2)), ["100 open", "90 open"])
      yield* alertsOf(below, ([one]) => one?.value === 0.1)
    })
  )

  it.effect("looks at silent runs again that have passed all its levels", () =>
    Effect.gen(function* () {
      const silent = yield* runningRun
      const rule = yield* addRule({ match: `id:${silent}`, measure: "durationMs", levels: [level(100)] })
      const ts = new Date().toISOString()
      const { createdAt: _, ...run } = (yield* call("GET", `/runs/${silent}`)).body
      yield* record(silent, runStarted({ ...run, runId: silent, startedAt: ts, ts }))
      yield* alertsOf(rule, (alerts) => alerts.length === 1)
      yield* putRule(rule, { levels: [level(700)] })
      const alerts = yield* alertsOf(rule, (all) => all.length === 2)
      assert.deepStrictEqual(shown(alerts), ["100 rule", "700 open"])
      assert.isTrue(alerts.every(({ runId }) => runId === silent))
      yield* endRun(silent)
      const ended = yield* alertsOf(rule, (all) => all.every(({ status }) => status === "resolved"))
      assert.deepStrictEqual(shown(ended), ["100 rule", "700 run"])
    })
  )

  it.effect("fires again after it was disabled", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      const rule = yield* addRule({ match: `id:${runId}`, ...month, levels: [level(10)] })
      yield* record(runId, spends(11))
      yield* alertsOf(rule, (alerts) => alerts.length === 1)
      yield* putRule(rule, { enabled: false })
      yield* alertsOf(rule, ([one]) => one?.resolvedBy === "rule")
      yield* putRule(rule, { enabled: true })
      assert.deepStrictEqual(shown(yield* alertsOf(rule, (all) => all.length === 2)), ["10 open", "10 rule"])
    })
  )

  it.effect("counts from its change on when its period, its key or its measure changes", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      for (const change of [{ window: "week" }, { per: "agent" }, { measure: "tokens" }, { match: "" }]) {
        const rule = yield* addRule({ match: `id:${runId}`, ...month, levels: [level(1)] })
        yield* record(runId, spends(2))
        yield* alertsOf(rule, (alerts) => alerts.length === 1)
        yield* putRule(rule, change)
        yield* record(runId, spends(3))
        const alerts = yield* alertsOf(rule, (all) => all.length === 2)
        assert.deepStrictEqual(shown(alerts), ["1 open", "1 rule"])
        yield* call("DELETE", `/alerts/rules/${rule.id}`)
      }
    })
  )
})
