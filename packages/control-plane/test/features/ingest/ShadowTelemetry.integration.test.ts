import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { spends } from "../alerts/Spending.ts"
import { exportOf, post, span, toolSpan } from "./support/Exports.ts"

const settings = {
  AUTH_API_KEYS: "agents-key,operator-key,admin-key",
  AUTH_API_KEY_NAMES: "agents,operator,admin",
  AUTH_API_KEY_ROLES: "ingest,operator,admin",
  OTLP_SETTLE_MS: "200"
}
const by = (key: string, headers: Readonly<Record<string, string>> = {}) => ({
  headers: { "content-type": "application/json", "x-api-key": `${key}-key`, ...headers }
})
const operator = by("operator")
const SHADOW = "risk-officer~new agent"

const called = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "gpt-4o",
  "gen_ai.usage.input_tokens": "1000",
  "gen_ai.usage.output_tokens": "10"
}

layer(layerTestService({ settings }), { excludeTestServices: true })("telemetry with the token of a shadow", (it) => {
  it.effect("is under the name of the shadow, whatever it states, and adds no token and no cost to the run", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const launched = yield* call("POST", "/runs", { body: descriptor({ session: { sessionId } }), ...operator })
      const runId: string = launched.body.runId
      const metrics = Effect.map(call("GET", `/runs/${runId}/metrics`, operator), ({ body }) => body)
      const before = yield* metrics
      const body = { sessionId, ttlMs: 60_000, shadow: SHADOW }
      const issued = yield* call("POST", "/ingest/tokens", { body, ...operator })
      assert.strictEqual(issued.status, 201, issued.text)
      const ofShadow = by("agents", { "x-runplane-join": issued.body.token })
      const calls = Effect.map(
        call("GET", `/runs/${runId}/events?type=llm.call.completed`, operator),
        ({ body }) => body.data
      )
      const sent = yield* post(
        exportOf([
          toolSpan(41, 2),
          span({ trace: 41, span: 1, attributes: { ...called, "macp.session.id": sessionId } })
        ]),
        ofShadow
      )
      assert.strictEqual(sent.text, "{}")
      const [event] = yield* until(calls, (found) => found.length === 1)
      assert.deepInclude(event.data, {
        sender: SHADOW,
        countedReason: "an agent made it that is tried beside a participant"
      })
      assert.deepInclude(event.data.shadow, { calls: 1, totalTokens: 1_010 })
      assert.isAbove(event.data.shadow.estimatedCostUsd, 0)
      const tools = yield* call("GET", `/runs/${runId}/events?type=tool.called`, operator)
      assert.lengthOf(tools.body.data, 0)
      const after = yield* metrics
      for (const figure of ["promptTokens", "completionTokens", "totalTokens", "estimatedCostUsd"]) {
        assert.deepStrictEqual(after[figure], before[figure], figure)
      }
    })
  )

  it.effect("moves no budget and raises no alert, which calls of the run do", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const launched = yield* call("POST", "/runs", { body: descriptor({ session: { sessionId } }), ...operator })
      const runId: string = launched.body.runId
      const body = { sessionId, ttlMs: 60_000, shadow: SHADOW }
      const { body: issued } = yield* call("POST", "/ingest/tokens", { body, ...operator })
      const addRule = (over: object) =>
        Effect.gen(function* () {
          const id = `r-${randomUUID()}`
          const levels = [{ at: 0.000_1, severity: "warning", actions: [] }]
          const rule = {
            id,
            name: "Costs",
            match: `id:${runId}`,
            measure: "costUsd",
            telemetry: "act",
            levels,
            ...over
          }
          const added = yield* call("POST", "/alerts/rules", { body: rule, ...by("admin") })
          assert.strictEqual(added.status, 201, added.text)
          return id
        })
      const budget = yield* addRule({ per: "all", window: "day" })
      const alert = yield* addRule({ per: "run", window: "run" })
      const alerts = Effect.map(call("GET", `/alerts?rule=${alert}`, operator), ({ body }) => body.data)
      const spent = Effect.map(
        call("GET", "/alerts/budgets", operator),
        ({ body }): number => body.find(({ ruleId }: { readonly ruleId: string }) => ruleId === budget)?.spent ?? 0
      )
      yield* post(
        exportOf([span({ trace: 51, span: 1, attributes: { ...called, "macp.session.id": sessionId } })]),
        by("agents", { "x-runplane-join": issued.token })
      )
      const calls = Effect.map(
        call("GET", `/runs/${runId}/events?type=llm.call.completed`, operator),
        ({ body }) => body.data
      )
      const [event] = yield* until(calls, (found) => found.length === 1)
      assert.isAbove(event.data.shadow.estimatedCostUsd, 0.001)
      // The evaluator reads the log in order, so it has read the call of the shadow before this one.
      yield* spends(RunId.make(runId), 0.5)
      const [fired] = yield* until(alerts, (found) => found.length === 1)
      assert.strictEqual(fired.value, 0.5)
      assert.strictEqual(yield* until(spent, (usd) => usd > 0), 0.5)
    })
  )

  it.effect("is not joined by an altered name", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const body = { sessionId, ttlMs: 60_000, shadow: SHADOW }
      const { body: issued } = yield* call("POST", "/ingest/tokens", { body, ...operator })
      const token: string = issued.token
      const renamed = token.replace(/\.s[^.]+\./, `.s${Buffer.from("another").toString("base64url")}.`)
      assert.notStrictEqual(renamed, token)
      for (const altered of [renamed, token.replace(/\.s[^.]+\./, ".")]) {
        const answer = yield* post(exportOf([toolSpan(43, 2)]), by("agents", { "x-runplane-join": altered }))
        assert.include(answer.text, "not valid")
      }
      for (const shadow of ["", "a\nb", 7]) {
        const refused = yield* call("POST", "/ingest/tokens", { body: { ...body, shadow }, ...operator })
        assert.strictEqual(refused.status, 400, String(shadow))
        assert.include(refused.text, "shadow")
      }
    })
  )
})
