import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { subscribe } from "../../support/Webhooks.ts"
import { postItem, SEAT, TIME, votedRun } from "./PeopleRuns.ts"

const service = layerTestService({ settings: { LAUNCHER_PUBLIC_URL: "https://launch.example.org/" } })

layer(service, { excludeTestServices: true })("events of questions", (it) => {
  it.effect("notifies webhooks of questions that open and close, without a text of the proposal", () =>
    Effect.gen(function* () {
      const { id } = yield* subscribe("https://example.org/hook", ["item.opened", "item.closed"])
      const runId = yield* votedRun
      yield* postItem(runId, {}, "k1")
      yield* postItem(runId, {}, "k1")
      yield* postItem(runId, {
        ...{
          event: "closed",
          state: "withdrawn",
          reason: "the session is RESOLVED",
          unanswered: true,
          closedAt: TIME
        }
      })
      const { body } = yield* call("GET", `/webhooks/${id}/deliveries`)
      const sent: ReadonlyArray<{ timestamp: string }> = body.data
        .map((delivery: { payload: object }) => delivery.payload)
        .toReversed()
      const data = {
        ...{ item: "i1", seat: SEAT, scenario: "payments/limit@1.0.0", hash: "1a2b3c4d" },
        ...{ deadline: "2026-11-30T14:04:00.000Z", link: "https://launch.example.org/inbox/i1" }
      }
      assert.deepStrictEqual(
        sent.map(({ timestamp, ...rest }) => rest),
        [
          { event: "item.opened", runId, data: { ...data, state: "open", unanswered: false } },
          { event: "item.closed", runId, data: { ...data, state: "withdrawn", unanswered: true } }
        ]
      )
    })
  )

  it.effect("sends what becomes of questions to chats in their format, and to others as JSON", () =>
    Effect.gen(function* () {
      const add = (body: object) =>
        call("POST", "/webhooks", { body: { url: "https://example.org/chat", secret: "s", ...body } })
      const slack = yield* add({ format: "slack", events: ["item.reminded", "item.undelivered"] })
      assert.strictEqual(slack.body.format, "slack", slack.text)
      const teams = yield* add({ format: "teams" })
      const generic = yield* add({ events: ["item.reminded"] })
      assert.isUndefined(generic.body.format)
      const runId = yield* votedRun
      yield* postItem(runId)
      yield* postItem(runId, { event: "reminded" })
      yield* postItem(runId, { event: "undelivered" })
      const sent = (of: { body: { id: string } }) =>
        Effect.map(call("GET", `/webhooks/${of.body.id}/deliveries`), ({ body }) =>
          body.data.map(({ event, payload }: { event: string; payload: object }) => [event, payload]).toReversed()
        )
      const [reminded, undelivered, ...more] = yield* sent(slack)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(reminded[1], { text: `Reminder: question for ${SEAT}` })
      assert.include(JSON.stringify(reminded[1]), "<https://launch.example.org/inbox/i1|Open in Runplane>")
      assert.deepInclude(undelivered[1], { text: `No person was notified: question for ${SEAT}` })
      const cards = yield* sent(teams)
      assert.deepStrictEqual(
        cards.map(([event]: [string]) => event),
        ["item.opened", "item.reminded", "item.undelivered"],
        "no event of a run"
      )
      assert.isTrue(cards.every(([, body]: [string, { type: string }]) => body.type === "message"))
      const [json] = yield* sent(generic)
      assert.deepInclude(json[1], { event: "item.reminded", runId })
      const tested = yield* call("POST", `/webhooks/${slack.body.id}/test`)
      assert.strictEqual(tested.body.payload.text, "Test of a subscription", tested.text)
      const refused = yield* add({ format: "slack", events: ["item.opened", "run.failed"] })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.body.message, /^events: the format slack has messages of item events alone, got run\.failed/)
      const changed = yield* call("PATCH", `/webhooks/${teams.body.id}`, { body: { events: ["run.failed"] } })
      assert.strictEqual(changed.status, 400, changed.text)
    })
  )

  it.effect("notifies webhooks of each escalation, and fires an alert for one without a person", () =>
    Effect.gen(function* () {
      const { id } = yield* subscribe("https://example.org/steps", ["item.escalated", "item.unreachable"])
      // The rule of the reference.
      const rule = yield* call("POST", "/alerts/rules", {
        body: {
          ...{
            id: "person.unreached",
            name: "person.unreached",
            measure: "personUnreached",
            per: "run",
            window: "run"
          },
          levels: [{ at: 1, severity: "warning", actions: [] }]
        }
      })
      assert.strictEqual(rule.status, 201, rule.text)
      const runId = yield* votedRun
      const escalation = { step: 1, to: ["group:leads"], cause: "time", reach: "persons" }
      const firings = Effect.map(call("GET", `/runs/${runId}/alerts`), ({ body }) => body.data)
      yield* postItem(runId, { event: "escalated", escalation }, "e1")
      yield* postItem(runId, { event: "escalated", escalation }, "e1")
      assert.deepStrictEqual(yield* firings, [], "a step that reaches a person fires nothing")
      const none = { ...escalation, step: 2, to: ["person:rita"], reach: "none", why: "rita is the requester" }
      yield* postItem(runId, { event: "unreachable", escalation: none }, "u2")
      const fired = yield* until(firings, (found) => found.length > 0)
      assert.deepStrictEqual(
        fired.map(({ ruleId, value }: { ruleId: string; value: number }) => [ruleId, value]),
        [["person.unreached", 1]]
      )
      const refused = yield* postItem(runId, { event: "escalated" }, "e3")
      assert.strictEqual(refused.status, 400, refused.text)
      assert.include(refused.text, "escalation")
      const { body } = yield* call("GET", `/webhooks/${id}/deliveries`)
      assert.deepStrictEqual(
        body.data
          .map(({ payload: { data, event } }: { payload: { data: object; event: string } }) => ({ event, ...data }))
          .map(({ event, reach, step, to }: Record<string, unknown>) => ({ event, step, to, reach }))
          .toReversed(),
        [
          { event: "item.escalated", step: 1, to: ["group:leads"], reach: "persons" },
          { event: "item.unreachable", step: 2, to: ["person:rita"], reach: "none" }
        ]
      )
    })
  )
})
