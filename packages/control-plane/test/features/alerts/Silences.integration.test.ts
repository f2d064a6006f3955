import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { addRule, alertsOf, level, record, runningRun, spends } from "../../support/AlertRules.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { type ReceivedWebhook, webhookReceiver } from "../../support/WebhookReceiver.ts"

const silence = Effect.fnUntraced(function* (match: string, ms = 3_600_000) {
  const until = new Date(Date.now() + ms).toISOString()
  const made = yield* call("POST", "/alerts/silences", { body: { match, until, reason: "planned" } })
  assert.strictEqual(made.status, 201, made.text)
  return call("DELETE", `/alerts/silences/${made.body.id}`)
})

const eventOf = ({ body, headers }: ReceivedWebhook) =>
  body.startsWith("[") ? `${headers["x-macp-event"]} alertmanager` : `${headers["x-macp-event"]}`

/** A rule over a run, whose notifications arrive at a receiver of its own. */
const ringing = Effect.fnUntraced(function* (
  runId: RunId,
  over: Readonly<Record<string, unknown>> = {},
  formats: ReadonlyArray<string> = ["generic"]
) {
  const hooks = yield* webhookReceiver()
  const webhooks = formats.map((format) => ({ type: "webhook", format, url: hooks.url }))
  const rule = yield* addRule({ match: `id:${runId}`, levels: [level(1, ...webhooks)], ...over })
  const sql = yield* PgClient.PgClient
  return {
    rule,
    received: Effect.map(Queue.take(hooks.requests), eventOf),
    unread: Queue.size(hooks.requests),
    makeDue: (column: "repeat_at" | "resend_at" | "period_ends_at" | "check_at") => sql`
      UPDATE alert_firings SET ${sql(column)} = now() - interval '1 second' WHERE rule_id = ${rule.id}`,
    isHandled: until(
      sql<{ readonly at: Date | null }>`SELECT check_at AS at FROM alert_firings WHERE rule_id = ${rule.id}`,
      ([row]) => row?.at != null && row.at.getTime() > Date.now()
    )
  }
})

layer(layerTestService({ settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" } }), { excludeTestServices: true })(
  "a silence of alerts",
  (it) => {
    it.effect("has a longest time, and says when it covers all alerts", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const send = (body: Readonly<Record<string, unknown>>) =>
          call("POST", "/alerts/silences", { body: { reason: "planned", ...body } })
        const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
        for (const until of [inDays(90.1), "9999-12-31T23:59:59.999Z"]) {
          const refused = yield* send({ match: "environment:x", until })
          assert.strictEqual(refused.status, 400)
          assert.include(refused.text, "until must be at most 90 days ahead")
        }
        for (const match of ["", "  ", undefined, "environment:x"]) {
          const { body, status, text } = yield* send({ match, until: inDays(89.9) })
          assert.strictEqual(status, 201, text)
          const covers = match === "environment:x" ? undefined : "all alerts"
          assert.strictEqual(body.covers, covers)
          const listed: ReadonlyArray<{ readonly id: string }> = (yield* call("GET", "/alerts/silences")).body
          assert.deepStrictEqual(
            listed.find(({ id }) => id === body.id),
            body
          )
          const [entry] = yield* sql<{ readonly covers: string | null }>`
            SELECT details->>'covers' AS covers FROM audit_log WHERE action = 'alert.silence' AND resource_id = ${body.id}`
          assert.strictEqual(entry?.covers ?? undefined, covers)
          assert.strictEqual((yield* call("DELETE", `/alerts/silences/${body.id}`)).status, 204)
        }
      })
    )

    const repeating = { per: "all", window: "month", repeatEveryMs: 3_600_000 }

    it.effect("stops the repetitions of an alert that rings already, until it is lifted", () =>
      Effect.gen(function* () {
        const runId = yield* runningRun
        const { isHandled, makeDue, received, rule, unread } = yield* ringing(runId, repeating, [
          "generic",
          "alertmanager"
        ])
        yield* record(runId, spends(2))
        assert.deepStrictEqual([yield* received, yield* received], ["alert.fired", "alert.fired alertmanager"])
        const lift = yield* silence(`id:${runId}`)
        yield* alertsOf(rule, ([one]) => one?.silenced === true)
        yield* makeDue("repeat_at")
        yield* makeDue("resend_at")
        yield* makeDue("check_at")
        yield* isHandled
        assert.strictEqual(yield* unread, 0)
        yield* lift
        assert.deepStrictEqual([yield* received, yield* received], ["alert.repeated", "alert.repeated alertmanager"])
        const [one] = yield* alertsOf(rule, ([first]) => first?.silenced === false)
        assert.strictEqual(one?.status, "open")
      })
    )

    it.effect("that is short delays the alarm of a month, and does not swallow it", () =>
      Effect.gen(function* () {
        const runId = yield* runningRun
        yield* silence(`id:${runId}`, 2_500)
        const { received, rule, unread } = yield* ringing(runId, repeating)
        yield* record(runId, spends(2))
        const [fired] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
        assert.isTrue(fired?.silenced)
        assert.strictEqual(yield* unread, 0)
        assert.strictEqual(yield* received, "alert.fired")
        const [after] = yield* alertsOf(rule, ([one]) => one?.silenced === false)
        assert.strictEqual(after?.id, fired?.id)
        const entries = (yield* call("GET", `/audit?resourceId=${fired?.id}`)).body.data
        assert.deepStrictEqual(
          entries.map(({ action }: { readonly action: string }) => action),
          ["alert.fired"]
        )
      })
    )

    it.effect("lasts until the last of those that overlap", () =>
      Effect.gen(function* () {
        const runId = yield* runningRun
        const liftFirst = yield* silence(`id:${runId}`)
        const liftSecond = yield* silence("status:running", 1_800_000)
        const { isHandled, received, rule, unread } = yield* ringing(runId, repeating)
        yield* record(runId, spends(2))
        yield* alertsOf(rule, ([one]) => one?.silenced === true)
        yield* liftFirst
        yield* isHandled
        assert.strictEqual(yield* unread, 0)
        yield* liftSecond
        assert.strictEqual(yield* received, "alert.fired")
      })
    )

    it.effect("keeps the end of an alert from receivers that do not have its beginning", () =>
      Effect.gen(function* () {
        const [quiet, loud] = [yield* runningRun, yield* runningRun]
        const silent = yield* ringing(quiet)
        const audible = yield* ringing(loud)
        yield* silence(`id:${quiet}`)
        yield* record(quiet, spends(2))
        yield* record(loud, spends(2))
        assert.strictEqual(yield* audible.received, "alert.fired")
        yield* alertsOf(silent.rule, ([one]) => one?.silenced === true)
        const lift = yield* silence(`id:${loud}`)
        yield* endRun(quiet)
        yield* endRun(loud)
        assert.strictEqual(yield* audible.received, "alert.resolved")
        const [ended] = yield* alertsOf(silent.rule, ([one]) => one?.status === "resolved")
        assert.isTrue(ended?.silenced)
        yield* lift
        assert.strictEqual(yield* silent.unread, 0)
      })
    )

    it.effect("leaves an alert quiet that was acknowledged meanwhile", () =>
      Effect.gen(function* () {
        const runId = yield* runningRun
        const { makeDue, rule, unread } = yield* ringing(runId, repeating, ["generic", "alertmanager"])
        const lift = yield* silence(`id:${runId}`)
        yield* record(runId, spends(2))
        const [fired] = yield* alertsOf(rule, ([one]) => one?.silenced === true)
        yield* call("POST", `/alerts/${fired?.id}/ack`, { body: {} })
        yield* lift
        yield* alertsOf(rule, ([one]) => one?.silenced === false)
        yield* makeDue("period_ends_at")
        yield* alertsOf(rule, ([one]) => one?.status === "resolved")
        assert.strictEqual(yield* unread, 0)
      })
    )

    it.effect("ends also for an alert that an older program has silenced", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const runId = yield* runningRun
        const { received, rule } = yield* ringing(runId, repeating)
        const lift = yield* silence(`id:${runId}`)
        yield* record(runId, spends(2))
        yield* alertsOf(rule, ([one]) => one?.silenced === true)
        // As the migration leaves a row of the version before.
        yield* sql`UPDATE alert_firings SET is_notified = NULL, check_at = now() WHERE rule_id = ${rule.id}`
        yield* lift
        assert.strictEqual(yield* received, "alert.fired")
      })
    )
  }
)
