import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { addRule, alertsOf, level, putRule, record, ruleOf, runningRun, spends } from "../../support/AlertRules.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"

const hook = (url: string) => ({ type: "webhook", format: "generic", url })

interface Hook {
  readonly id: string
  readonly url: string
  readonly madeForRules?: boolean
}

/** The subscriptions of an address. */
const hooksOf = (url: string) =>
  Effect.map(call("GET", "/webhooks"), ({ body }) => (body as ReadonlyArray<Hook>).filter((one) => one.url === url))

const remove = (rule: { readonly id: string }) =>
  Effect.map(call("DELETE", `/alerts/rules/${rule.id}`), ({ status }) => assert.strictEqual(status, 204))

layer(layerTestService({ settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" } }), { excludeTestServices: true })(
  "the webhook of a rule",
  (it) => {
    it.effect("goes with the last rule that uses it, and stays while another one does", () =>
      Effect.gen(function* () {
        const url = "http://127.0.0.1:9/shared"
        const [first, second] = [
          yield* addRule({ levels: [level(1, hook(url))] }),
          yield* addRule({ levels: [level(1), level(2, hook(url))] })
        ]
        const [made, ...others] = yield* hooksOf(url)
        assert.lengthOf(others, 0)
        assert.isTrue(made?.madeForRules)
        yield* remove(first)
        assert.lengthOf(yield* hooksOf(url), 1)
        // A change of the target counts as well.
        yield* putRule(second, { levels: [level(1, hook("http://127.0.0.1:9/other"))] })
        assert.lengthOf(yield* hooksOf(url), 0)
        assert.lengthOf(yield* hooksOf("http://127.0.0.1:9/other"), 1)
        yield* remove(second)
        assert.lengthOf(yield* hooksOf("http://127.0.0.1:9/other"), 0)
        const entries = (yield* call("GET", `/audit?resourceId=${made?.id}`)).body.data
        assert.sameMembers(
          entries.map(({ action }: { readonly action: string }) => action),
          ["webhook.create", "webhook.delete"]
        )
      })
    )

    it.effect("stays when a caller has made it, or given it other events", () =>
      Effect.gen(function* () {
        const own = "http://127.0.0.1:9/own"
        const shared = "http://127.0.0.1:9/adopted"
        const all = "http://127.0.0.1:9/all"
        const made = yield* call("POST", "/webhooks", { body: { url: all, events: [], secret: "s" } })
        assert.strictEqual(made.status, 201, made.text)
        const byId = yield* addRule({
          levels: [level(1, { type: "webhook", format: "generic", subscription: made.body.id })]
        })
        const rule = yield* addRule({ levels: [level(1, hook(own), hook(shared))] })
        const [adopted] = yield* hooksOf(shared)
        const changed = yield* call("PATCH", `/webhooks/${adopted?.id}`, { body: { events: ["run.failed"] } })
        assert.strictEqual(changed.status, 200, changed.text)
        yield* remove(rule)
        yield* remove(byId)
        assert.lengthOf(yield* hooksOf(own), 0)
        const [kept] = yield* hooksOf(shared)
        assert.strictEqual(kept?.id, adopted?.id)
        assert.isUndefined(kept?.madeForRules)
        assert.lengthOf(yield* hooksOf(all), 1)
      })
    )

    it.effect("notifies the end of an open alert before it goes", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const receiver = yield* webhookReceiver()
        const runId = yield* runningRun
        const rule = yield* addRule({ match: `id:${runId}`, levels: [level(1, hook(receiver.url))] })
        yield* record(runId, spends(2))
        yield* alertsOf(rule, (alerts) => alerts.length === 1)
        yield* remove(rule)
        const events = (yield* Queue.takeN(receiver.requests, 2)).map(({ headers }) => headers["x-macp-event"])
        assert.deepStrictEqual(events, ["alert.fired", "alert.resolved"])
        // Another change removes it; without one, the evaluator does within a minute.
        yield* until(sql`SELECT FROM webhook_deliveries WHERE status = 'pending'`, (pending) => pending.length === 0)
        yield* remove(yield* addRule())
        assert.lengthOf(yield* hooksOf(receiver.url), 0)
      })
    )

    it.effect("keeps its key at a level that has moved, and refuses a masked key of no level", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const pager = (routingKey: string) => ({
          ...{ type: "webhook", format: "pagerduty", url: "http://127.0.0.1:9/pager" },
          routingKey
        })
        const rule = yield* addRule({ levels: [level(80), level(100, pager("0123456789abcdef"))] })
        const read = (yield* call("GET", `/alerts/rules/${rule.id}`)).body
        assert.strictEqual(read.levels[1].actions[0].routingKey, "****cdef")
        yield* putRule(rule, { levels: [read.levels[1]] })
        const [row] = yield* sql<{ readonly text: string }>`
          SELECT rule ->> 'levels' AS text FROM alert_rules WHERE id = ${rule.id}`
        assert.include(row?.text, "0123456789abcdef")
        const body = ruleOf({ levels: [level(1, pager("****cdef"))] })
        const refused = yield* call("POST", "/alerts/rules", { body })
        assert.strictEqual(refused.status, 400)
        assert.include(refused.text, "levels.0.actions.0.routingKey")
      })
    )
  }
)
