import { randomUUID } from "node:crypto"
import type * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it, layer } from "@effect/vitest"
import { ControlPlaneApi } from "@runplane/api"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import type * as HttpServer from "effect/http/HttpServer"
import * as HttpApi from "effect/http-api/HttpApi"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { AppendError } from "../../../src/event-log/append/AppendRequest.ts"
import type { EventLog } from "../../../src/event-log/EventLog.ts"
import type { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import type { AuditOutcome } from "../../../src/platform/audit/AuditTrail.ts"
import { SAMPLED_PER_CLIENT } from "../../../src/platform/audit/RefusalSample.ts"
import { callbackServer } from "../../support/CallbackServer.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"
import { allEnded } from "../../support/Webhooks.ts"

const KEY = "a-key-of-the-tests"
const VIEWER = "another-key-of-the-tests"
const SETTINGS = {
  AUTH_API_KEYS: `${KEY},${VIEWER}`,
  AUTH_API_KEY_NAMES: ",reader",
  AUTH_API_KEY_ROLES: "admin,viewer",
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true"
}
const headers = { authorization: `Bearer ${KEY}` }
const as = (requestId: string) => ({ ...headers, "x-request-id": requestId })

/** A run whose session is open and observed. */
const runningRun = Effect.fnUntraced(function* (metadata: Readonly<Record<string, unknown>> = {}) {
  const runId = RunId.make(randomUUID())
  yield* RuntimeFake.use((fake) =>
    fake.openSession({ sessionId: runId, participants: ["agent://lead"], initiator: "agent://lead" })
  )
  yield* call("POST", "/runs", { body: descriptor({ session: { sessionId: runId, metadata } }), headers })
  yield* awaitStatus(runId, "running")
  return runId
})

const waitingRun = Effect.map(call("POST", "/runs", { body: descriptor(), headers }), ({ body }): string => body.runId)

const endedRun = Effect.gen(function* () {
  const { body } = yield* call("POST", "/runs", { body: descriptor(), headers })
  const runId = RunId.make(body.runId)
  yield* endRun(runId)
  return runId
})

interface Target {
  readonly path: string
  readonly body?: unknown
}

const onRun = <E, R>(run: Effect.Effect<string, E, R>, action: string, body: unknown = {}) =>
  Effect.map(run, (runId): Target => ({ path: `/runs/${runId}/${action}`, body }))

const suspendedRun = Effect.tap(runningRun(), (runId) => call("POST", `/runs/${runId}/suspend`, { headers }))

const webhook = Effect.gen(function* () {
  const { requests, url } = yield* webhookReceiver()
  const { body } = yield* call("POST", "/webhooks", { body: { url, secret: "secret" }, headers })
  return { id: body.id, requests }
})

const deliveredWebhook = Effect.gen(function* () {
  const { id, requests } = yield* webhook
  yield* runningRun()
  yield* Queue.take(requests)
  while (true) {
    const { body } = yield* call("GET", `/webhooks/${id}/deliveries`, { headers })
    if (allEnded(body.data)) return { id, deliveryId: body.data[0].id }
  }
})

const view = (name: string) =>
  Effect.map(call("POST", "/views", { body: { name, resource: "runs" }, headers }), ({ body }) => body.id)

const newMark = { target: { kind: "run" }, name: "quality", value: 1, source: "human" }
const mark = Effect.gen(function* () {
  const runId = yield* endedRun
  const { body } = yield* call("POST", `/runs/${runId}/marks`, { body: newMark, headers })
  return { path: `/runs/${runId}/marks/${body.id}` }
})
const definition = (name: string) =>
  Effect.as(call("PUT", `/marks/definitions/${name}`, { body: { kind: "flag" }, headers }), {
    path: `/marks/definitions/${name}`
  })

const alertRule = (id: string) => ({
  ...{ id, name: "Audited", per: "run", window: "run", measure: "events" },
  levels: [{ at: 1, severity: "info", actions: [] }]
})
const addedRule = (id: string) =>
  Effect.as(call("POST", "/alerts/rules", { body: alertRule(id), headers }), `/alerts/rules/${id}`)
const silence = { match: "", until: new Date(Date.now() + 86_400_000).toISOString(), reason: "planned" }
const openAlert = Effect.gen(function* () {
  yield* addedRule("acknowledged")
  yield* endedRun
  const alerts = call("GET", "/alerts?rule=acknowledged", { headers })
  const { body } = yield* until(alerts, ({ body }) => body.data.length > 0)
  return { path: `/alerts/${body.data[0].id}/ack`, body: { note: "seen" } }
})

const ERASED = "no agent came"
const dryErasure = { find: ERASED, reason: "request 4711", dryRun: true }
const erasedRun = Effect.gen(function* () {
  const runId = yield* waitingRun
  yield* call("POST", `/runs/${runId}/abandon`, { body: { reason: ERASED }, headers })
  const path = `/runs/${runId}/erasures`
  const { body } = yield* call("POST", path, { body: dryErasure, headers })
  return { path, body: { ...dryErasure, dryRun: false, plan: body.plan } }
})

const policy = { policyId: "policy.audited", rules: {} }
const policyPath = `/runtime/policies/${policy.policyId}`
const registered = Effect.as(call("POST", "/runtime/policies", { body: policy, headers }), { path: policyPath })

type Services = EventLog | HttpServer.HttpServer | LiveEvents | PgClient.PgClient | RuntimeFake | Scope.Scope
type Audited = readonly [
  target: Effect.Effect<Target, AppendError | SqlError, Services>,
  action: string,
  outcome: AuditOutcome
]

const tooFewRuns = Effect.succeed({ path: "/committees/search", body: { q: "status:completed" } })
const newRule = Effect.succeed({ path: "/alerts/rules", body: alertRule("added") })

/** Every endpoint that changes something or hands out a run, how it is called here, and what the audit log says. */
const audited: Readonly<Record<string, Audited>> = {
  "POST /runs": [Effect.sync(() => ({ path: "/runs", body: descriptor() })), "run.create", "succeeded"],
  "POST /ingest/tokens": [
    Effect.succeed({ path: "/ingest/tokens", body: { sessionId: randomUUID(), ttlMs: 1_000 } }),
    "telemetry.token",
    "succeeded"
  ],
  "POST /runs/:id/cancel": [
    Effect.flatMap(callbackServer(204), ({ url }) =>
      onRun(runningRun({ cancelCallback: { url } }), "cancel", { reason: "enough" })
    ),
    "run.cancel",
    "accepted"
  ],
  "POST /runs/:id/abandon": [onRun(waitingRun, "abandon", { reason: "no agent" }), "run.abandon", "succeeded"],
  "POST /runs/:id/suspend": [onRun(runningRun(), "suspend"), "run.suspend", "succeeded"],
  "POST /runs/:id/resume": [onRun(suspendedRun, "resume"), "run.resume", "succeeded"],
  "POST /runs/:id/clone": [onRun(endedRun, "clone"), "run.create", "succeeded"],
  "POST /runs/:id/archive": [onRun(endedRun, "archive"), "run.archive", "succeeded"],
  "POST /runs/:id/unarchive": [onRun(endedRun, "unarchive"), "run.unarchive", "succeeded"],
  "DELETE /runs/:id": [Effect.map(endedRun, (runId) => ({ path: `/runs/${runId}` })), "run.delete", "succeeded"],
  "POST /runs/:id/erasures": [erasedRun, "run.erase", "succeeded"],
  "POST /erasures": [Effect.succeed({ path: "/erasures", body: dryErasure }), "erasure.create", "succeeded"],
  "POST /runs/:id/artifacts": [
    onRun(endedRun, "artifacts", { kind: "json", label: "notes", inline: { a: 1 } }),
    "artifact.create",
    "succeeded"
  ],
  "POST /runs/:id/projection/rebuild": [onRun(endedRun, "projection/rebuild"), "run.rebuild", "succeeded"],
  "POST /runs/batch/cancel": [
    Effect.map(runningRun({ cancellationDelegated: true }), (runId) => ({
      path: "/runs/batch/cancel",
      body: { runIds: [runId] }
    })),
    "run.cancel",
    "succeeded"
  ],
  "POST /runs/batch/archive": [
    Effect.map(endedRun, (runId) => ({ path: "/runs/batch/archive", body: { runIds: [runId] } })),
    "run.archive",
    "succeeded"
  ],
  "POST /runs/batch/unarchive": [
    Effect.map(endedRun, (runId) => ({ path: "/runs/batch/unarchive", body: { runIds: [runId] } })),
    "run.unarchive",
    "succeeded"
  ],
  "POST /runs/batch/delete": [
    Effect.map(endedRun, (runId) => ({ path: "/runs/batch/delete", body: { runIds: [runId] } })),
    "run.delete",
    "succeeded"
  ],
  "POST /runs/batch/export": [
    Effect.map(endedRun, (runId) => ({ path: "/runs/batch/export", body: { runIds: [runId] } })),
    "run.export",
    "succeeded"
  ],
  "GET /runs/:id/export": [
    Effect.map(endedRun, (runId) => ({ path: `/runs/${runId}/export?includeRaw=true` })),
    "run.export",
    "succeeded"
  ],
  "POST /runs/:id/stream-tickets": [
    Effect.map(waitingRun, (runId) => ({ path: `/runs/${runId}/stream-tickets` })),
    "stream_ticket.create",
    "succeeded"
  ],
  "POST /runtime/policies": [
    Effect.succeed({ path: "/runtime/policies", body: policy }),
    "policy.register",
    "succeeded"
  ],
  "DELETE /runtime/policies/:policyId": [registered, "policy.delete", "succeeded"],
  "POST /views": [
    Effect.succeed({ path: "/views", body: { name: "Mine", resource: "runs" } }),
    "view.create",
    "succeeded"
  ],
  "PATCH /views/:id": [
    Effect.map(view("Yours"), (id) => ({ path: `/views/${id}`, body: { q: "status:failed" } })),
    "view.update",
    "succeeded"
  ],
  "DELETE /views/:id": [Effect.map(view("Theirs"), (id) => ({ path: `/views/${id}` })), "view.delete", "succeeded"],
  "POST /runs/:id/marks": [onRun(endedRun, "marks", newMark), "mark.add", "succeeded"],
  "DELETE /runs/:id/marks/:markId": [mark, "mark.delete", "succeeded"],
  "PUT /marks/definitions/:name": [
    Effect.succeed({ path: "/marks/definitions/tone", body: { kind: "flag" } }),
    "mark.definition.put",
    "succeeded"
  ],
  "DELETE /marks/definitions/:name": [definition("mood"), "mark.definition.delete", "succeeded"],
  "POST /committees/search": [tooFewRuns, "committee.search", "refused"],
  "POST /alerts/rules": [newRule, "alert_rule.create", "succeeded"],
  "PUT /alerts/rules/:id": [
    Effect.map(addedRule("changed"), (path) => {
      const { id: _, ...body } = alertRule("changed")
      return { path, body: { ...body, enabled: false } }
    }),
    "alert_rule.update",
    "succeeded"
  ],
  "DELETE /alerts/rules/:id": [
    Effect.map(addedRule("removed"), (path) => ({ path })),
    "alert_rule.delete",
    "succeeded"
  ],
  "POST /alerts/silences": [Effect.succeed({ path: "/alerts/silences", body: silence }), "alert.silence", "succeeded"],
  "DELETE /alerts/silences/:id": [
    Effect.map(call("POST", "/alerts/silences", { body: silence, headers }), ({ body }) => ({
      path: `/alerts/silences/${body.id}`
    })),
    "alert.unsilence",
    "succeeded"
  ],
  "POST /alerts/:id/ack": [openAlert, "alert.acknowledge", "succeeded"],
  "POST /webhooks": [
    Effect.succeed({ path: "/webhooks", body: { url: "https://192.0.2.1/", secret: "secret" } }),
    "webhook.create",
    "succeeded"
  ],
  "PATCH /webhooks/:id": [
    Effect.map(webhook, ({ id }) => ({ path: `/webhooks/${id}`, body: { active: false } })),
    "webhook.update",
    "succeeded"
  ],
  "DELETE /webhooks/:id": [
    Effect.map(webhook, ({ id }) => ({ path: `/webhooks/${id}` })),
    "webhook.delete",
    "succeeded"
  ],
  "POST /webhooks/:id/test": [
    Effect.map(webhook, ({ id }) => ({ path: `/webhooks/${id}/test` })),
    "webhook.test",
    "succeeded"
  ],
  "POST /webhooks/:id/deliveries/:deliveryId/redeliver": [
    Effect.map(deliveredWebhook, ({ deliveryId, id }) => ({
      path: `/webhooks/${id}/deliveries/${deliveryId}/redeliver`
    })),
    "webhook.redeliver",
    "succeeded"
  ],
  "POST /admin/circuit-breaker/reset": [
    Effect.succeed({ path: "/admin/circuit-breaker/reset" }),
    "circuit_breaker.reset",
    "succeeded"
  ],
  "PUT /admin/log-level": [
    Effect.succeed({ path: "/admin/log-level", body: { level: "info" } }),
    "log_level.changed",
    "succeeded"
  ]
}

/**
 * Endpoints with the form of a change that change nothing, and those for the events of applications, which the log
 * itself records.
 */
const readOnly = [
  "POST /v1/traces",
  "POST /v1/logs",
  "POST /v1/metrics",
  "POST /runs/validate",
  "POST /runs/compare",
  "POST /runs/:id/what-if",
  "POST /policies/backtest",
  "POST /alerts/rules/test",
  "POST /alerts/rules/:id/test",
  "POST /runs/:id/replay",
  "POST /runs/:id/ag-ui",
  "POST /runs/:id/messages",
  "POST /runs/:id/signal",
  "POST /runs/:id/context"
]

it("every endpoint other than GET is known to be audited, or to change nothing", () => {
  const endpoints: Array<string> = []
  HttpApi.reflect(ControlPlaneApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => endpoints.push(`${endpoint.method} ${endpoint.path}`)
  })
  const changing = endpoints.filter((endpoint) => !endpoint.startsWith("GET "))
  assert.includeMembers([...Object.keys(audited), ...readOnly], changing)
})

layer(layerTestService({ settings: SETTINGS }), {
  excludeTestServices: true
})("the audit log", (it) => {
  for (const [endpoint, [target, action, outcome]] of Object.entries(audited)) {
    it.effect(`says who did ${endpoint}, in which request and with what outcome`, () =>
      Effect.gen(function* () {
        const { path, body: sent } = yield* target
        const [method = ""] = endpoint.split(" ")
        const requestId = `of-${endpoint.replace(/[^A-Za-z]+/g, "-")}`
        const answer = yield* call(method, path, { body: sent, headers: as(requestId) })
        const isExpected = outcome === "refused" ? answer.status === 409 : answer.status >= 200 && answer.status < 300
        assert.isTrue(isExpected, answer.text)
        const { body } = yield* call("GET", `/audit?action=${action}&limit=200`, { headers })
        const entries = body.data.filter((entry: { requestId?: string }) => entry.requestId === requestId)
        assert.lengthOf(entries, 1)
        assert.match(entries[0].actor, /^key:[0-9a-f]{8}$/)
        assert.strictEqual(entries[0].actorType, "api-key")
        assert.strictEqual(entries[0].clientAddress, "127.0.0.1")
        assert.strictEqual(entries[0].details.outcome, outcome)
        assert.notInclude(JSON.stringify(body), KEY)
      })
    )
  }

  it.effect("holds the refusals of callers without the right, and a sample of a flood of them", () =>
    Effect.gen(function* () {
      const entries = Effect.map(call("GET", "/audit?action=access.refused&limit=200", { headers }), ({ body }) =>
        body.data.map(({ actor, actorType, clientAddress, details, resourceId }: Record<string, unknown>) => ({
          ...{ actor, actorType, clientAddress, details, resourceId }
        }))
      )
      const runId = yield* waitingRun
      const reader = { "x-api-key": VIEWER }
      assert.strictEqual((yield* call("POST", `/runs/${runId}/cancel`, { body: {}, headers: reader })).status, 403)
      for (let again = 0; again < 2 * SAMPLED_PER_CLIENT; again++) {
        assert.strictEqual((yield* call("DELETE", "/runs/a-secret?key=b", { headers: {} })).status, 401)
      }
      const found = yield* until(entries, (all) => all.length === 1 + SAMPLED_PER_CLIENT)
      const from = { clientAddress: "127.0.0.1" }
      assert.deepStrictEqual(found.at(-1), {
        ...{ ...from, actor: "reader", actorType: "api-key", resourceId: "POST /runs/:id/cancel" },
        details: { outcome: "refused", status: 403, id: runId }
      })
      assert.deepStrictEqual(found[0], {
        ...{ ...from, actor: "anonymous", actorType: "anonymous", resourceId: "DELETE /runs/:id" },
        details: { outcome: "refused", status: 401 }
      })
      const { text } = yield* call("GET", "/metrics")
      assert.include(text, 'access_refusals_total{status_code="403",caller="known"} 1')
      assert.include(text, `access_refusals_total{status_code="401",caller="unknown"} ${2 * SAMPLED_PER_CLIENT}`)
    })
  )

  it.effect("holds nothing of requests that were turned down for what they say", () =>
    Effect.gen(function* () {
      const running = yield* runningRun()
      // The alert rules of an earlier test fire for the run at any time, and mark and tag it.
      const entries = Effect.map(call("GET", "/audit?limit=1&q=-actorType:rule", { headers }), ({ body }) => body.total)
      const before = yield* entries
      assert.isNumber(before)
      for (const [method, path, body] of [
        ["POST", "/runs", {}],
        ["POST", `/runs/${running}/resume`, {}],
        ["POST", `/runs/${running}/cancel`, {}],
        ["DELETE", `/runs/${running}`, undefined],
        ["POST", `/runs/${randomUUID()}/archive`, undefined],
        ["POST", "/webhooks", { url: "http://169.254.169.254/", secret: "s" }],
        ["PATCH", `/webhooks/${randomUUID()}`, { active: false }],
        ["DELETE", `/webhooks/${randomUUID()}`, undefined],
        ["POST", "/runtime/policies", { policyId: "policy.default", rules: {} }]
      ] as const) {
        yield* call(method, path, { body, headers })
      }
      assert.strictEqual(yield* entries, before)
    })
  )
})
