import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { runStarted } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { addRule, alertsOf, type Firing, level, record, ruleOf, runningRun, spends } from "../../support/AlertRules.ts"
import { LEAD, opened, RISK, recordedAs, votes } from "../../support/Committee.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { type ReceivedWebhook, webhookReceiver } from "../../support/WebhookReceiver.ts"
import { exportOf, post, span, toolSpan, traceIdOf } from "../ingest/support/Exports.ts"

const SETTINGS = {
  OTLP_SETTLE_MS: "300",
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
  CONTROL_PLANE_PUBLIC_URL: "https://runs.example.org/"
}

layer(layerTestService({ settings: SETTINGS }), { excludeTestServices: true })("alert rules", (it) => {
  it.effect("are added, read, changed and removed, with their audit entries", () =>
    Effect.gen(function* () {
      const rule = yield* addRule()
      const path = `/alerts/rules/${rule.id}`
      const read = (yield* call("GET", path)).body
      assert.include(read, { name: "Costs", enabled: true, match: "", zone: "UTC" })
      assert.strictEqual((yield* call("POST", "/alerts/rules", { body: rule })).status, 409)
      const { id: _, ...body } = { ...rule, name: "Spending" }
      assert.strictEqual((yield* call("PUT", path, { body })).body.name, "Spending")
      const served = (yield* call("GET", path)).body
      const again = yield* call("PUT", path, { body: served })
      assert.deepStrictEqual([again.status, again.body], [200, { ...served, updatedAt: again.body.updatedAt }])
      const other = yield* call("PUT", path, { body: { ...served, id: "other" } })
      assert.deepStrictEqual([other.status, other.body.message], [400, `id must be ${rule.id}, as in the path`])
      assert.strictEqual((yield* call("DELETE", path)).status, 204)
      assert.strictEqual((yield* call("GET", path)).status, 404)
      assert.strictEqual((yield* call("PUT", path, { body })).status, 404)
      const audit = (yield* call("GET", `/audit?resourceId=${rule.id}`)).body.data
      assert.sameMembers(
        audit.map(({ action }: { readonly action: string }) => action),
        ["alert_rule.create", "alert_rule.update", "alert_rule.update", "alert_rule.delete"]
      )
    })
  )

  it.effect("are refused with the name of the field", () =>
    Effect.gen(function* () {
      const refusals: ReadonlyArray<readonly [field: string, over: Readonly<Record<string, unknown>>]> = [
        ["match", { match: "colour:red" }],
        ["measure", { measure: "speed" }],
        ["zone", { zone: "Mars/Olympus" }],
        ["levels.1.at", { levels: [level(2), level(1)] }],
        ["levels.0.severity", { levels: [{ at: 1, severity: "fatal", actions: [] }] }],
        ["levels.0.actions.0.allowCancel", { levels: [level(1, { type: "cancel" })] }],
        [
          "levels.0.actions.0.subscription",
          { levels: [level(1, { type: "webhook", format: "generic", subscription: randomUUID() })] }
        ],
        ["unknown", { unknown: 1 }]
      ]
      for (const [field, over] of refusals) {
        const { body, status } = yield* call("POST", "/alerts/rules", { body: ruleOf(over) })
        assert.strictEqual(status, 400, field)
        assert.include(JSON.stringify(body.message), field)
      }
    })
  )

  it.effect("fire once for each level, notify a webhook, and end with the run", () =>
    Effect.gen(function* () {
      const hooks = yield* webhookReceiver()
      const runId = yield* runningRun
      const webhook = { type: "webhook", format: "generic", url: hooks.url }
      const rule = yield* addRule({ match: `id:${runId}`, levels: [level(1, webhook), level(2, webhook)] })
      // The answer shows the subscription in place of the URL.
      const [{ actions }] = (yield* call("GET", `/alerts/rules/${rule.id}`)).body.levels
      assert.notProperty(actions[0], "url")
      yield* record(runId, spends(0.4), spends(0.4))
      yield* record(runId, spends(0.4))
      const [first] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
      assert.include(first, { level: 0, key: runId, status: "open", value: 1.2 })
      yield* record(runId, spends(0.1), spends(1), spends(1))
      yield* alertsOf(rule, (alerts) => alerts.length === 2)
      assert.strictEqual((yield* call("GET", `/runs/${runId}/alerts`)).body.total, 2)
      yield* endRun(runId)
      const ended = yield* alertsOf(rule, (alerts) => alerts.every(({ status }) => status === "resolved"))
      assert.isTrue(ended.every(({ resolvedBy }) => resolvedBy === "run"))
      const bodies = [yield* Queue.take(hooks.requests), ...(yield* Queue.takeN(hooks.requests, 3))].map(
        ({ body }) => JSON.parse(body) as { readonly type: string }
      )
      assert.deepStrictEqual(
        bodies.map(({ type }) => type),
        ["alert.fired", "alert.fired", "alert.resolved", "alert.resolved"]
      )
      const entries = (yield* call("GET", `/audit?resourceId=${first?.id}`)).body.data
      assert.sameMembers(
        entries.map(({ action, actor }: { readonly action: string; readonly actor: string }) => `${action} ${actor}`),
        ["alert.fired rule:Costs", "alert.resolved rule:Costs"]
      )
    })
  )

  it.effect("mark and tag the run, and report an action that is refused", () =>
    Effect.gen(function* () {
      const hooks = yield* webhookReceiver()
      const runId = yield* runningRun
      const rule = yield* addRule({
        match: `id:${runId}`,
        levels: [
          level(
            1,
            { type: "mark", name: "budget", value: false },
            { type: "tag", tag: "over-budget" },
            { type: "suspend" },
            { type: "webhook", format: "generic", url: hooks.url }
          )
        ]
      })
      yield* record(runId, spends(3))
      yield* alertsOf(rule, (alerts) => alerts.length === 1)
      const read = Effect.all([call("GET", `/runs/${runId}`), call("GET", `/runs/${runId}/marks`)])
      const [run, marks] = yield* until(read, ([one, page]) => page.body.total === 1 && one.body.tags.length > 0)
      assert.deepStrictEqual(run.body.tags, ["over-budget"])
      assert.include(marks.body.data[0], { name: "budget", value: false, source: "rule", author: "rule:Costs" })
      // The runtime does not know the session of this run.
      yield* Queue.take(hooks.requests)
      const failed = JSON.parse((yield* Queue.take(hooks.requests)).body)
      assert.strictEqual(failed.type, "alert.action_failed")
      assert.include(JSON.stringify(failed), "suspend")
    })
  )

  it.effect("measure marks, and take back those that are replaced", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      const rule = yield* addRule({
        ...{ match: `id:${runId}`, per: "all", window: "day", measure: "markBelow:tone", minRuns: 2 },
        levels: [level(0.5)],
        resolveBelow: 0.6
      })
      const mark = (value: number, judge: string) => ({
        ...{ target: { kind: "run" }, name: "tone", value, source: "judge", judge: { name: judge } }
      })
      const add = (value: number, judge: string) => call("POST", `/runs/${runId}/marks`, { body: mark(value, judge) })
      yield* add(0.9, "a")
      yield* add(0.3, "b")
      yield* add(0.05, "b")
      const [fired] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
      assert.include(fired, { key: "all", status: "open", value: 0.475 })
      yield* add(0.8, "b")
      yield* alertsOf(rule, ([one]) => one?.status === "resolved" && one.resolvedBy === "value")
    })
  )

  it.effect("find silence by the clock", () =>
    Effect.gen(function* () {
      const silent = yield* runningRun
      const rule = yield* addRule({ match: `id:${silent}`, measure: "silenceMs", levels: [level(300)] })
      const ts = new Date().toISOString()
      const { createdAt: _, ...run } = (yield* call("GET", `/runs/${silent}`)).body
      yield* record(silent, runStarted({ ...run, runId: silent, startedAt: ts, ts }))
      const [fired] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
      assert.isAtLeast(fired?.value ?? 0, 300)
      yield* record(silent, spends(0))
      yield* alertsOf(rule, ([one]) => one?.resolvedBy === "value")
    })
  )

  it.effect("find runs whose positive outcome is out of reach", () =>
    Effect.gen(function* () {
      const lost = yield* recordedAs("running", ...opened)
      const reach = yield* addRule({ match: `id:${lost}`, measure: "outOfReach" })
      yield* record(lost, votes(RISK, "REJECT"))
      yield* record(lost, votes(LEAD, "REJECT"))
      yield* alertsOf(reach, (alerts) => alerts.length === 1)
    })
  )

  it.effect("count received telemetry like other runs", () =>
    Effect.gen(function* () {
      const runId = runOfKey("anonymous", traceIdOf(7))
      const rule = yield* addRule({ match: `id:${runId}`, measure: "toolCalls", levels: [level(2)] })
      yield* post(exportOf([span({ trace: 7, span: 1 }), toolSpan(7, 2), toolSpan(7, 3)]))
      const [fired] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
      assert.include(fired, { key: runId, value: 2 })
    })
  )

  it.effect("that cannot be evaluated show their error, and delay no other rule", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* runningRun
      const good = yield* addRule({ match: `id:${runId}` })
      const bad = yield* addRule({ match: "" })
      const broken = yield* addRule({ match: "" })
      const failing = yield* addRule({ match: `id:${runId}` })
      yield* sql`
        UPDATE alert_rules SET rule = jsonb_set(rule::jsonb, '{match}', '"colour:red"')::json WHERE id = ${bad.id}`
      yield* sql`
        UPDATE alert_rules SET rule = jsonb_set(rule::jsonb, '{measure}', '"speed"')::json WHERE id = ${broken.id}`
      // Its notification cannot be stored.
      const levels = JSON.stringify([level(1, { type: "webhook", format: "generic", subscription: "nowhere" })])
      yield* sql`
        UPDATE alert_rules SET rule = jsonb_set(rule::jsonb, '{levels}', ${levels}::text::jsonb)::json
        WHERE id = ${failing.id}`
      yield* sql`UPDATE alert_cursor SET rules_version = rules_version + 1`
      yield* record(runId, spends(2))
      yield* alertsOf(good, (alerts) => alerts.length === 1)
      const read = yield* until(call("GET", `/alerts/rules/${bad.id}`), ({ body }) => body.error !== undefined)
      assert.include(read.body.error, "colour")
      const [row] = yield* sql<{ readonly error: string }>`SELECT error FROM alert_rules WHERE id = ${broken.id}`
      assert.include(row?.error, "measure")
      const { error } = (yield* call("GET", `/alerts/rules/${failing.id}`)).body
      assert.include(error, "uuid")
      for (const { id } of [bad, broken, failing]) yield* call("DELETE", `/alerts/rules/${id}`)
    })
  )

  it.effect("are tested over the last days, and count older events with backfill, silently", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      yield* record(runId, spends(2), spends(2))
      const rule = yield* addRule({ match: `id:${runId}`, levels: [level(1), level(3), level(5)] })
      const { body } = yield* call("POST", `/alerts/rules/${rule.id}/test`)
      assert.deepStrictEqual(
        body.firings.map((firing: Firing) => [firing.level, firing.key]),
        [
          [0, runId],
          [1, runId]
        ]
      )
      assert.isTrue(body.complete)
      assert.strictEqual((yield* call("GET", `/alerts?rule=${rule.id}`)).body.total, 0)

      const hooks = yield* webhookReceiver()
      const webhook = { type: "webhook", format: "generic", url: hooks.url }
      const older = yield* addRule({
        ...{ match: `id:${runId}`, per: "all", window: "month", backfill: true },
        levels: [level(3, webhook), level(5, webhook)]
      })
      yield* until(call("GET", `/alerts/rules/${older.id}`), ({ body: state }) => state.backfilling === undefined)
      yield* alertsOf(older, (alerts) => alerts.length === 1)
      yield* record(runId, spends(2))
      yield* alertsOf(older, (alerts) => alerts.length === 2)
      assert.include(JSON.parse((yield* Queue.take(hooks.requests)).body).data.firing, { level: 1, value: 6 })
    })
  )

  it.effect("repeat their notification until it is acknowledged, and end with their period", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const hooks = yield* webhookReceiver()
      const runId = yield* runningRun
      const formats = ["generic", "alertmanager"].map((format) => ({ type: "webhook", format, url: hooks.url }))
      const rule = yield* addRule({
        ...{ match: `id:${runId}`, per: "all", window: "day", repeatEveryMs: 3_600_000 },
        levels: [level(1, ...formats)]
      })
      const eventOf = ({ body, headers }: ReceivedWebhook) =>
        `${headers["x-macp-event"]} ${body.startsWith("[") ? "alertmanager" : "generic"}`
      const received = Effect.map(Queue.take(hooks.requests), eventOf)
      const isDue = (column: "repeat_at" | "resend_at" | "period_ends_at") => sql`
        UPDATE alert_firings SET ${sql(column)} = now() - interval '1 second' WHERE rule_id = ${rule.id}`
      yield* record(runId, spends(1))
      assert.deepStrictEqual([yield* received, yield* received], ["alert.fired generic", "alert.fired alertmanager"])
      yield* isDue("resend_at")
      assert.strictEqual(yield* received, "alert.repeated alertmanager")
      yield* isDue("repeat_at")
      assert.deepStrictEqual(
        [yield* received, yield* received],
        ["alert.repeated generic", "alert.repeated alertmanager"]
      )
      const [open] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
      yield* call("POST", `/alerts/${open?.id}/ack`, { body: {} })
      yield* isDue("repeat_at")
      yield* isDue("period_ends_at")
      yield* alertsOf(rule, ([one]) => one?.resolvedBy === "period")
      assert.deepStrictEqual(
        [yield* received, yield* received],
        ["alert.resolved generic", "alert.resolved alertmanager"]
      )
    })
  )

  it.effect("are acknowledged and silenced", () =>
    Effect.gen(function* () {
      const hooks = yield* webhookReceiver()
      const runId = yield* runningRun
      const webhook = { type: "webhook", format: "generic", url: hooks.url }
      const rule = yield* addRule({ match: `id:${runId}`, levels: [level(1, webhook), level(2, webhook)] })
      const silence = {
        match: `id:${runId}`,
        until: new Date(Date.now() + 89 * 86_400_000).toISOString(),
        reason: "planned"
      }
      const made = yield* call("POST", "/alerts/silences", { body: silence })
      assert.strictEqual(made.status, 201, made.text)
      yield* record(runId, spends(1))
      const [first] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
      assert.include(first, { silenced: true })
      assert.strictEqual((yield* call("DELETE", `/alerts/silences/${made.body.id}`)).status, 204)
      assert.deepStrictEqual((yield* call("GET", "/alerts/silences")).body, [])
      yield* record(runId, spends(1))
      yield* alertsOf(rule, (alerts) => alerts.length === 2)
      const notified = (yield* Queue.takeN(hooks.requests, 2)).map(({ body }) => JSON.parse(body).data.firing.level)
      assert.sameMembers(notified, [0, 1])
      const { body } = yield* call("POST", `/alerts/${first?.id}/ack`, { body: { note: "seen" } })
      assert.include(body, { id: first?.id, note: "seen", acknowledgedBy: "anonymous" })
      assert.strictEqual((yield* call("POST", `/alerts/${randomUUID()}/ack`, { body: {} })).status, 404)
      const metrics = (yield* call("GET", "/metrics")).text
      assert.match(metrics, /runplane_alerts_open\{severity="warning"[^}]*\} [1-9]/)
    })
  )
})
