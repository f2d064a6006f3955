import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { exportOf, post, span, traceIdOf } from "./support/Exports.ts"

const settings = { OTLP_SETTLE_MS: "300" }

const COUNTED = "another trace has counted the call"

/** A model call of the client or of its gateway. */
const chat = (trace: number, responseId: string, tokens: readonly [number, number] = [1_000, 100]) =>
  span({
    ...{ trace, span: 2, parent: 1, name: "chat gpt-4o" },
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.response.id": responseId,
      "gen_ai.usage.input_tokens": String(tokens[0]),
      "gen_ai.usage.output_tokens": String(tokens[1])
    }
  })
const traceOf = (trace: number, responseId: string, tokens?: readonly [number, number]) =>
  exportOf([span({ trace, span: 1, endMs: 100 }), chat(trace, responseId, tokens)])

const runOf = (trace: number, life = 0) => runOfKey("anonymous", traceIdOf(trace), life)

/** Tokens, counting and reason of the calls of a run that has ended. */
const callsOf = Effect.fnUntraced(function* (runId: RunId) {
  yield* until(call("GET", `/runs/${runId}`), ({ body }) => body.status === "completed")
  const { body } = yield* call("GET", `/runs/${runId}/events?limit=200`)
  const events: ReadonlyArray<{ readonly type: string; readonly data: Record<string, unknown> }> = body
  const { body: metrics } = yield* call("GET", `/runs/${runId}/metrics`)
  return {
    tokens: metrics.totalTokens,
    calls: events
      .filter(({ type }) => type === "llm.call.completed")
      .map(({ data }) => [data["counted"], data["countedReason"]])
  }
})

layer(layerTestService({ settings }), { excludeTestServices: true })("the same model call in two traces", (it) => {
  it.effect("counts in the first run alone", () =>
    Effect.gen(function* () {
      yield* post(traceOf(1, "resp-1"))
      assert.deepStrictEqual(yield* callsOf(runOf(1)), { tokens: 1_100, calls: [[true, undefined]] })
      yield* post(traceOf(2, "resp-1"))
      assert.deepStrictEqual(yield* callsOf(runOf(2)), { tokens: 0, calls: [[false, COUNTED]] })
    })
  )

  it.effect("counts once when both traces arrive together", () =>
    Effect.gen(function* () {
      const traces = Array.from({ length: 20 }, (_, nth) => 100 + nth)
      yield* Effect.forEach(traces, (trace) => post(traceOf(trace, `together-${trace % 2}`)), {
        concurrency: "unbounded"
      })
      const calls = yield* Effect.forEach(traces, (trace) => callsOf(runOf(trace)))
      assert.deepStrictEqual(
        calls.map(({ tokens }) => tokens).toSorted((one, other) => one - other),
        [...Array.from({ length: 18 }, () => 0), 1_100, 1_100]
      )
    })
  )

  it.effect("counts twice with other tokens, another id, or after an hour", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* post(traceOf(200, "resp-200"))
      yield* callsOf(runOf(200))
      yield* post(traceOf(201, "resp-200", [1_000, 101]))
      assert.strictEqual((yield* callsOf(runOf(201))).tokens, 1_101)
      yield* post(traceOf(202, "resp-202"))
      assert.strictEqual((yield* callsOf(runOf(202))).tokens, 1_100)
      yield* sql`UPDATE otlp_calls SET counted_at = now() - interval '61 minutes' WHERE run_id = ${runOf(200)}::uuid`
      yield* until(sql`SELECT FROM otlp_calls WHERE run_id = ${runOf(200)}::uuid`, (rows) => rows.length === 0)
      yield* post(traceOf(203, "resp-200"))
      assert.strictEqual((yield* callsOf(runOf(203))).tokens, 1_100)
    })
  )

  it.effect("counts again when the run that had it was deleted", () =>
    Effect.gen(function* () {
      yield* post(traceOf(300, "resp-300"))
      yield* callsOf(runOf(300))
      yield* call("DELETE", `/runs/${runOf(300)}`)
      yield* post(traceOf(301, "resp-300"))
      assert.strictEqual((yield* callsOf(runOf(301))).tokens, 1_100)
    })
  )
})
