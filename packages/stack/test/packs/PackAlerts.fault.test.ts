import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { ControlPlaneClient, LauncherClient } from "@runplane/api"
import { listening, until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Running, reached, runningWith, runOf, startServing } from "../support/StackRuns.ts"
import { packsWith, SPECIALISTS } from "../support/TestPacks.ts"

/** The notifications that a receiver on the loopback has taken. */
class Notices extends Context.Service<
  Notices,
  { readonly url: string; readonly taken: ReadonlyArray<typeof Notice.Type> }
>()("runplane/stack/test/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function* () {
      const taken: Array<typeof Notice.Type> = []
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8")
        request.on("data", (chunk: string) => {
          body += chunk
        })
        request.on("end", () => {
          taken.push(decodeNotice(body))
          response.writeHead(204).end()
        })
      })
      return Notices.of({ url: `http://127.0.0.1:${yield* listening(server)}/alerts`, taken })
    })
  )
}

const Notice = Schema.Struct({
  type: Schema.String,
  data: Schema.Struct({
    firing: Schema.Struct({
      ruleId: Schema.String,
      measure: Schema.String,
      value: Schema.Finite,
      key: Schema.String,
      runId: Schema.optionalKey(Schema.String),
      telemetry: Schema.optionalKey(Schema.Struct({ mode: Schema.String }))
    })
  })
})
const decodeNotice = Schema.decodeUnknownSync(Schema.fromJsonString(Notice))

/** The rules of the pack `incident`, as a person writes them. */
const alertsFile = (url: string) => `
- id: incident-proposals
  name: An incident has its first proposal
  match: tags:watch-me
  per: run
  window: run
  measure: events
  levels:
    - at: 3
      severity: info
      actions:
        - { type: webhook, format: generic, url: "${url}" }
        - { type: tag, tag: noticed }
- id: incident-pause
  name: Pause a busy incident
  match: tags:pause-me
  per: run
  window: run
  measure: events
  levels:
    - at: 5
      severity: critical
      actions:
        - { type: suspend }
        - { type: webhook, format: generic, url: "${url}" }
- id: incident-stop
  name: Stop a busy incident
  match: tags:stop-me
  per: run
  window: run
  measure: events
  levels:
    - at: 5
      severity: critical
      actions:
        - { type: cancel, allowCancel: true }
        - { type: webhook, format: generic, url: "${url}" }
- id: incident-telemetry
  name: Tokens of the applications
  match: environment:apps
  per: environment
  window: day
  measure: tokens
  telemetry: act
  levels:
    - at: 100
      severity: warning
      actions:
        - { type: webhook, format: generic, url: "${url}" }
- id: incident-telemetry-apart
  name: Tokens of the applications, apart
  match: environment:apps
  per: environment
  window: day
  measure: tokens
  levels:
    - at: 150
      severity: warning
      actions:
        - { type: webhook, format: generic, url: "${url}" }
`
const RULES = [...alertsFile("").matchAll(/^- id: (.+)$/gm)].map(([, id]) => id)

/** A stack whose pack has alert rules, agents that never vote, and a policy under which the service may pause. */
const stackWithAlerts = Effect.fnUntraced(function* (url: string) {
  const packs = yield* packsWith(Object.fromEntries(SPECIALISTS.map((agentRef) => [agentRef, { idle: [] }])))
  writeFileSync(join(packs, "incident/alerts.yaml"), alertsFile(url))
  const policy = join(packs, "_policies/policy.incident.balanced.json")
  const roles = '"authority": "designated_role", "designated_roles": ["incident-commander", "macp-control-plane"]'
  const text = readFileSync(policy, "utf8")
    .replace('"authority": "initiator_only"', roles)
    .replace(', "designated_roles": []', "")
  assert.include(text, roles)
  writeFileSync(policy, text)
  return yield* startServing({ PACKS_DIR: packs, WEBHOOK_ALLOW_PRIVATE_TARGETS: "true", OTLP_SETTLE_MS: "300" })
})

const launch = Effect.fnUntraced(function* (tag: string) {
  const launcher = yield* LauncherClient
  const { controlPlaneRun } = yield* launcher.launch.runExample({
    payload: { scenarioRef: "incident/region-failover@1.0.0", inputs: {}, bootstrapAgents: true, tags: [tag] }
  })
  return controlPlaneRun?.runId ?? assert.fail("no run")
})

/** The notifications of a rule, as soon as there is one. */
const noticesOf = (rule: string) =>
  Effect.flatMap(Notices, ({ taken }) =>
    until(
      Effect.sync(() => taken.filter(({ data }) => data.firing.ruleId === rule)),
      (found) => found.length > 0
    )
  )

const auditOf = Effect.fnUntraced(function* (id: string) {
  const { api } = yield* ControlPlaneClient
  const { data } = yield* api.audit.list({ query: { resourceId: id, limit: 50, offset: 0 } })
  return data.map(({ action, actor }) => `${actor} ${action}`)
})

const rulesAreStored = Effect.flatMap(ControlPlaneClient, ({ api }) =>
  until(api.alerts.rules({}), (rules) => rules.length === RULES.length)
)

const running = Layer.unwrap(Effect.map(Notices, ({ url }) => runningWith(stackWithAlerts(url))))

layer(running.pipe(Layer.provideMerge(Notices.layer)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the alert rules of a pack", (it) => {
  it.effect("are stored by the start of the stack, as the file has them", () =>
    Effect.gen(function* () {
      const rules = yield* rulesAreStored
      assert.sameMembers(
        rules.map(({ id }) => id),
        RULES
      )
      const telemetry = rules.find(({ id }) => id === "incident-telemetry")
      assert.include(telemetry, { telemetry: "act", window: "day", enabled: true })
      assert.isUndefined(telemetry?.error)
    })
  )

  it.effect("fire for a launched run, notify and tag it", () =>
    Effect.gen(function* () {
      yield* rulesAreStored
      const id = yield* launch("watch-me")
      const [notice, ...others] = yield* noticesOf("incident-proposals")
      assert.lengthOf(others, 0)
      assert.strictEqual(notice?.type, "alert.fired")
      assert.deepInclude(notice?.data.firing, { runId: id, measure: "events", value: 3 })
      yield* until(runOf(id), ({ tags }) => tags.includes("noticed"))
      assert.include(yield* auditOf(id), "rule:An incident has its first proposal run.tag")
    })
  )

  it.effect("suspend the session of a run whose policy lets the service", () =>
    Effect.gen(function* () {
      yield* rulesAreStored
      const id = yield* launch("pause-me")
      yield* reached(id, "run.suspended")
      const run = yield* until(runOf(id), ({ status }) => status === "suspended")
      assert.strictEqual(run.status, "suspended")
      const { api } = yield* ControlPlaneClient
      const events = yield* api.events.list({ params: { id }, query: { afterSeq: 0, limit: 500 } })
      const suspended = [...("data" in events ? events.data : events)].find(({ type }) => type === "run.suspended")
      assert.match(
        String(suspended?.recorded.data["reason"]),
        /^alert rule Pause a busy incident: events is 5, the threshold is 5$/
      )
      assert.include(yield* auditOf(id), "rule:Pause a busy incident run.suspend")
      const notices = yield* noticesOf("incident-pause")
      assert.deepStrictEqual(
        notices.map(({ type }) => type),
        ["alert.fired"]
      )
    })
  )

  it.effect("cancel a run through its initiator, and end with it", () =>
    Effect.gen(function* () {
      yield* rulesAreStored
      const id = yield* launch("stop-me")
      yield* reached(id, "run.cancelled")
      yield* until(runOf(id), ({ status }) => status === "cancelled")
      assert.include(yield* auditOf(id), "rule:Stop a busy incident run.cancel")
      const { taken } = yield* Notices
      const types = () => taken.flatMap(({ data, type }) => (data.firing.ruleId === "incident-stop" ? [type] : []))
      yield* until(Effect.sync(types), (found) => found.length === 2)
      assert.sameMembers(types(), ["alert.fired", "alert.resolved"])
    })
  )

  it.effect("count telemetry as the file says: as one value, or apart", () =>
    Effect.gen(function* () {
      yield* rulesAreStored
      const { ports } = yield* Running
      const exported = yield* Effect.promise(() =>
        fetch(`http://127.0.0.1:${ports.controlPlane}/v1/traces`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(chatOf(200, Date.now()))
        })
      )
      assert.strictEqual(exported.status, 200)
      const [act] = yield* noticesOf("incident-telemetry")
      assert.deepInclude(act?.data.firing, { key: "apps", value: 200, telemetry: { mode: "act" } })
      const [apart] = yield* noticesOf("incident-telemetry-apart")
      assert.deepInclude(apart?.data.firing, { key: "apps", value: 200, telemetry: { mode: "count" } })
    })
  )
})

const attribute = (key: string, value: object) => ({ key, value })

/** A call of a model by an application that reports by OpenTelemetry alone, in the JSON of OTLP. */
const chatOf = (tokens: number, now: number) => {
  const span = {
    traceId: "a".repeat(32),
    spanId: "b".repeat(16),
    name: "chat m-1",
    kind: 3,
    startTimeUnixNano: `${now - 2_000}000000`,
    endTimeUnixNano: `${now - 1_000}000000`,
    attributes: [
      attribute("gen_ai.operation.name", { stringValue: "chat" }),
      attribute("gen_ai.request.model", { stringValue: "m-1" }),
      attribute("gen_ai.agent.name", { stringValue: "writer" }),
      attribute("gen_ai.usage.input_tokens", { intValue: String(tokens - 50) }),
      attribute("gen_ai.usage.output_tokens", { intValue: "50" })
    ],
    status: {}
  }
  const resource = [
    attribute("service.name", { stringValue: "writers" }),
    attribute("deployment.environment.name", { stringValue: "apps" })
  ]
  return {
    resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: { name: "test" }, spans: [span] }] }]
  }
}
