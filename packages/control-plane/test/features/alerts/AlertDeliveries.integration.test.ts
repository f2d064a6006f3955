import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { addRule, alertsOf, level, putRule, record, runningRun, spends } from "../../support/AlertRules.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"

const hook = (url: string) => ({ type: "webhook", format: "generic", url })

interface Delivery {
  readonly event: string
  readonly status: string
  readonly runId?: string
  readonly firingId?: string
}

/** The deliveries to an address, the oldest first, when there are so many and all are ended. */
const deliveriesTo = Effect.fnUntraced(function* (url: string, count: number) {
  const { body: webhooks } = yield* call("GET", "/webhooks")
  const { id } = webhooks.find((one: { readonly url: string }) => one.url === url)
  const listed = Effect.map(call("GET", `/webhooks/${id}/deliveries`), ({ body }): ReadonlyArray<Delivery> => body.data)
  const ended = yield* until(
    listed,
    (deliveries) => deliveries.length === count && deliveries.every(({ status }) => status !== "pending")
  )
  return ended.toReversed()
})

layer(layerTestService({ settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" } }), { excludeTestServices: true })(
  "the delivery of an alert",
  (it) => {
    it.effect("names the run whose event reached the level, and the firing", () =>
      Effect.gen(function* () {
        const { url } = yield* webhookReceiver()
        const runId = yield* runningRun
        const rule = yield* addRule({ match: `id:${runId}`, levels: [level(1, hook(url)), level(2, hook(url))] })
        yield* record(runId, spends(3))
        const firings = yield* alertsOf(rule, (alerts) => alerts.length === 2)
        const deliveries = yield* deliveriesTo(url, 2)
        assert.deepStrictEqual(
          deliveries.map(({ runId: run }) => run),
          [runId, runId]
        )
        assert.sameMembers(
          deliveries.map(({ firingId }) => firingId),
          firings.map(({ id }) => id)
        )
      })
    )

    it.effect("has no run when its firing has none, and keeps the order of its firing", () =>
      Effect.gen(function* () {
        // The first attempt is refused: a later event would overtake it without an order.
        const { requests, url } = yield* webhookReceiver((before) => ({ status: before === 0 ? 500 : 204 }))
        const runId = yield* runningRun
        const of = { match: `id:${runId}`, per: "all", window: "month" }
        const rule = yield* addRule({ ...of, levels: [level(100, hook(url))] })
        const evaluated = yield* addRule({ ...of, levels: [level(1)] })
        yield* record(runId, spends(2))
        yield* alertsOf(evaluated, (alerts) => alerts.length === 1)
        // The change of the rule reaches the level, and no event of a run does.
        yield* putRule(rule, { levels: [level(1, hook(url)), level(100, hook(url))] })
        const [firing] = yield* alertsOf(rule, (alerts) => alerts.length === 1)
        assert.notProperty(firing, "runId")
        yield* putRule(rule, { enabled: false, levels: [level(1, hook(url))] })
        const deliveries = yield* deliveriesTo(url, 2)
        for (const { event, firingId, ...delivery } of deliveries) {
          assert.strictEqual(firingId, firing?.id, event)
          assert.notProperty(delivery, "runId", event)
        }
        const events = (yield* Queue.takeN(requests, 3)).map(({ headers }) => headers["x-macp-event"])
        assert.deepStrictEqual(events, ["alert.fired", "alert.fired", "alert.resolved"])
      })
    )
  }
)
