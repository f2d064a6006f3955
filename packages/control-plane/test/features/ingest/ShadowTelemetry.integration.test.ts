import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { exportOf, post, span, toolSpan } from "./support/Exports.ts"

const settings = {
  AUTH_API_KEYS: "agents-key,operator-key",
  AUTH_API_KEY_NAMES: "agents,operator",
  AUTH_API_KEY_ROLES: "ingest,operator",
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
