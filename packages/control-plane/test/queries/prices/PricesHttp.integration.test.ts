import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { observed } from "../../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const MILLION = 1_000_000
const receivedAt = new Date().toISOString()

/** Messages that report one call of a model each. */
const report = (runId: RunId, calls: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  EventLog.use((log) =>
    log.observe({
      runId,
      frames: calls.map((llmCall, index) =>
        observed(
          {
            kind: "stream-envelope",
            ambient: false,
            envelope: {
              macpVersion: "1.0",
              mode: "macp.mode.decision.v1",
              messageType: "Note",
              messageId: `call-${index}`,
              sessionId: runId,
              sender: "agent://a",
              timestampUnixMs: Date.parse(receivedAt),
              payload: new TextEncoder().encode(JSON.stringify({ llmCall }))
            }
          },
          receivedAt
        )
      )
    })
  )

layer(layerTestService({ observer: { recoveryEnabled: false } }), { excludeTestServices: true })("prices", (it) => {
  it.effect("say what a model costs, and where the price comes from", () =>
    Effect.gen(function* () {
      const price = (query: string) => Effect.map(call("GET", `/pricing?${query}`), ({ body }) => body)
      assert.deepStrictEqual(yield* price("model=vendor1-4o"), {
        model: "vendor1-4o",
        costBasis: "builtin",
        priceKey: "builtin/vendor1-4o",
        input: 2.5,
        output: 10
      })
      assert.deepInclude(yield* price("model=GPT-4o-2024-08-06&provider=azure.ai.openai"), {
        costBasis: "catalogue",
        input: 2.5,
        cacheRead: 1.25
      })
      assert.deepInclude(yield* price("model=gemini-2.5-pro&provider=google"), { input: 1.25 })
      assert.deepStrictEqual(yield* price("model=unknown-7"), {
        model: "unknown-7",
        costBasis: "fallback",
        input: 1,
        output: 3
      })
      const long = yield* call("GET", `/pricing?model=${"m".repeat(257)}`)
      assert.deepStrictEqual([long.status, long.body.message], [400, long.body.message])
      assert.include(long.text, "model")
    })
  )

  it.effect("are recorded with each call, and the guessed part of each sum is known", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* report(runId, [
        { model: "gpt-4o", provider: "openai", promptTokens: MILLION, completionTokens: 0, cachedTokens: MILLION },
        { model: "house-model", provider: "house", promptTokens: MILLION, completionTokens: MILLION },
        { model: "house-model", provider: "house", promptTokens: MILLION, completionTokens: 0 },
        { model: "any", promptTokens: 1, completionTokens: 1, estimatedCostUsd: 2 },
        { promptTokens: MILLION, completionTokens: 0 }
      ])
      const { body: events } = yield* call("GET", `/runs/${runId}/events?type=llm.call.completed`)
      assert.deepStrictEqual(
        events.data.map(({ data: { decodedPayload: call } }: { data: { decodedPayload: Record<string, unknown> } }) => [
          call["estimatedCostUsd"],
          call["costBasis"],
          String(call["priceKey"]).replace(/@.*/, "")
        ]),
        [
          [1.25, "catalogue", "openai/gpt-4o"],
          [4, "fallback", "undefined"],
          [1, "fallback", "undefined"],
          [2, "supplied", "undefined"],
          [1, "fallback", "undefined"]
        ]
      )
      const { body: state } = yield* call("GET", `/runs/${runId}/state`)
      assert.deepInclude(state.llm.totals, { estimatedCostUsd: 9.25, guessedCostUsd: 6 })
      assert.deepInclude(state.llm.calls[0], { provider: "openai", cachedTokens: MILLION, costBasis: "catalogue" })
      const { body: metrics } = yield* call("GET", `/runs/${runId}/metrics`)
      assert.deepInclude(metrics, { estimatedCostUsd: 9.25, guessedCostUsd: 6 })

      const { body: list } = yield* call("GET", "/runs")
      assert.deepStrictEqual(
        list.data.map(({ id, usage }: { readonly id: string; readonly usage?: unknown }) => [id, usage]),
        [[runId, { totalTokens: 5 * MILLION + 2, estimatedCostUsd: 9.25, guessedCostUsd: 6 }]]
      )

      const { body: unknown } = yield* call("GET", "/pricing/unknown")
      assert.deepInclude(unknown, { calls: 5, estimatedCostUsd: 9.25, guessedCostUsd: 6, isPartial: false })
      assert.deepStrictEqual(unknown.models, [
        {
          model: "house-model",
          provider: "house",
          calls: 2,
          totalTokens: 3 * MILLION,
          guessedCostUsd: 5,
          share: 5 / 9.25
        },
        { calls: 1, totalTokens: MILLION, guessedCostUsd: 1, share: 1 / 9.25 }
      ])
      const { body: costs } = yield* call("GET", `/pricing/models?q=${encodeURIComponent(`id:${runId}`)}`)
      assert.strictEqual(costs.isPartial, false)
      assert.deepStrictEqual(
        costs.models.map(({ calls, estimatedCostUsd, guessedCostUsd, model }: Record<string, unknown>) => [
          model,
          calls,
          estimatedCostUsd,
          guessedCostUsd
        ]),
        [
          ["house-model", 2, 5, 5],
          ["any", 1, 2, 0],
          ["gpt-4o", 1, 1.25, 0],
          [undefined, 1, 1, 1]
        ]
      )
      const { body: others } = yield* call("GET", `/pricing/models?q=${encodeURIComponent(`-id:${runId}`)}`)
      assert.deepStrictEqual(others.models, [])
      const { body: earlier } = yield* call("GET", "/pricing/models?until=2026-01-01")
      assert.deepStrictEqual(earlier.models, [])
      const later = new Date(Date.parse(receivedAt) + 60_000).toISOString()
      const { body: none } = yield* call("GET", `/pricing/unknown?since=${later}`)
      assert.deepStrictEqual([none.calls, none.models], [0, []])
      assert.strictEqual((yield* call("GET", "/pricing/unknown?since=yesterday")).status, 400)
    })
  )

  it.effect("are in lists of runs of every status, also of those that have not ended", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      for (const status of ["running", "suspended", "failed", "cancelled", "completed"]) {
        const runId = yield* createRun()
        yield* report(runId, [
          { model: "vendor1-4o", promptTokens: MILLION, completionTokens: 0 },
          { model: "vendor1-4o" }
        ])
        yield* sql`UPDATE runs SET status = ${status} WHERE id = ${runId}::uuid`
        const { body } = yield* call("GET", `/runs?status=${status}&include=participants`)
        const run = body.data.find(({ id }: { readonly id: string }) => id === runId)
        assert.deepStrictEqual(run.usage, { totalTokens: MILLION, estimatedCostUsd: 2.5, callsWithoutUsage: 1 }, status)
        const { body: overview } = yield* call("GET", "/dashboard/overview")
        const recent = overview.recentRuns.find(({ id }: { readonly id: string }) => id === runId)
        assert.deepStrictEqual(recent.usage, run.usage)
      }
      const silent = yield* createRun()
      const { body } = yield* call("GET", "/runs?limit=200")
      const run = body.data.find(({ id }: { readonly id: string }) => id === silent)
      assert.notProperty(run, "usage")
    })
  )

  it.effect("are listed by the counts of their calls, in groups of equal ones, page by page", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const cached = { model: "gpt-4o", provider: "openai", promptTokens: 10, completionTokens: 5, cachedTokens: 4 }
      const written = { model: "claude-haiku-4-5", promptTokens: 9, completionTokens: 3, cacheWriteTokens: 2 }
      yield* report(runId, [
        written,
        ...[cached, cached, cached],
        { ...cached, serviceTier: "batch", reasoningTokens: 1 },
        { model: "any", promptTokens: 1, completionTokens: 1, estimatedCostUsd: 2 },
        { model: "silent" }
      ])
      const page = (query: string) => Effect.map(call("GET", `/pricing/calls?${query}`), ({ body }) => body)
      const { body: events } = yield* call("GET", `/runs/${runId}/events?type=llm.call.completed`)
      const seqs: ReadonlyArray<number> = events.data.map(({ seq }: { readonly seq: number }) => seq)
      const at = `${receivedAt.slice(0, 16)}:00.000Z`
      const newest = yield* page("limit=7")
      const sorted = (groups: ReadonlyArray<object>) => groups.map((group) => JSON.stringify(group)).toSorted()
      const counts = { promptTokens: 10, totalTokens: 15, cachedTokens: 4 }
      const openai = { at, model: "gpt-4o", provider: "openai", ...counts }
      const expected = [
        { at, model: "any", promptTokens: 1, totalTokens: 2, estimatedCostUsd: 2, costBasis: "supplied", calls: 1 },
        {
          at,
          model: "claude-haiku-4-5",
          promptTokens: 9,
          totalTokens: 12,
          cacheWriteTokens: 2,
          estimatedCostUsd: 0.000_024_5,
          costBasis: "catalogue",
          calls: 1
        },
        {
          ...openai,
          reasoningTokens: 1,
          batch: true,
          estimatedCostUsd: 0.000_035,
          costBasis: "catalogue",
          calls: 1
        },
        { ...openai, estimatedCostUsd: 0.000_07, costBasis: "catalogue", calls: 3 },
        { at, model: "silent", promptTokens: 0, totalTokens: 0, calls: 1 }
      ]
      assert.deepStrictEqual(sorted(newest.groups), sorted(expected))
      assert.deepStrictEqual([newest.calls, newest.next], [7, seqs[0]])

      let total = 0
      const pages = []
      for (let before = ""; ; ) {
        const { calls, next } = yield* page(`limit=3${before}`)
        pages.push(calls)
        total += calls
        if (next === undefined) break
        before = `&before=${next}`
      }
      const { body: all } = yield* call("GET", "/pricing/unknown")
      assert.strictEqual(total, all.calls)
      assert.isAbove(pages.length, 2)
      const later = new Date(Date.parse(receivedAt) + 60_000).toISOString()
      assert.deepStrictEqual(yield* page(`limit=3&since=${later}`), { since: later, calls: 0, groups: [] })
      assert.strictEqual((yield* call("GET", "/pricing/calls?limit=5001")).status, 400)
    })
  )
})
