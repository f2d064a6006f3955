import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { DISCOVERY_SOURCE } from "../../../src/event-log/runs/RunRepository.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { spends } from "./Spending.ts"

const addRule = Effect.fnUntraced(function* (over: Readonly<Record<string, unknown>>) {
  const body = {
    ...{ id: `r-${randomUUID()}`, name: "Budget", per: "all", window: "month", measure: "costUsd" },
    ...{ levels: [{ at: 1, severity: "warning", actions: [] }] },
    ...over
  }
  const answer = yield* call("POST", "/alerts/rules", { body })
  assert.strictEqual(answer.status, 201, answer.text)
  return body.id
})

/** What the keys of a budget have spent. */
const spentOf = (id: string) =>
  Effect.map(
    call("GET", "/alerts/budgets"),
    ({ body }): ReadonlyArray<readonly [key: string, spent: number]> =>
      body.flatMap(({ key, ruleId, spent }: { key: string; ruleId: string; spent: number }) =>
        ruleId === id && spent !== 0 ? [[key, spent]] : []
      )
  )

const firingsOf = (id: string) =>
  Effect.map(call("GET", `/alerts?rule=${id}`), ({ body }): ReadonlyArray<{ key: string; value: number }> => body.data)

/** A run that the session watch has made, before its request has arrived. */
const discoveredRun = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const runId = yield* createRun({ status: "running", createdAt: new Date().toISOString() })
  yield* sql`UPDATE runs SET source_kind = ${DISCOVERY_SOURCE} WHERE id = ${runId}::uuid`
  return runId
})

const claim = Effect.fnUntraced(function* (sessionId: string, scenarioRef: string) {
  const body = descriptor({
    session: { sessionId, metadata: { scenarioRef, environment: "production" } },
    execution: { tags: ["team"] }
  })
  const answer = yield* call("POST", "/runs", { body })
  assert.strictEqual(answer.status, 202, answer.text)
})

layer(layerTestService(), { excludeTestServices: true })("a run that is claimed after rules have counted it", (it) => {
  it.effect("moves to the budgets of its scenario, with all that it has spent before and later", () =>
    Effect.gen(function* () {
      const scenario = `desk-${randomUUID()}@1.0.0`
      const runId = yield* discoveredRun
      const match = `id:${runId}`
      const all = yield* addRule({ match })
      const ofScenario = yield* addRule({ match, per: "scenario" })
      const ofTag = yield* addRule({ match, per: "tag" })
      const matched = yield* addRule({ match: `${match} environment:production` })
      const unmatched = yield* addRule({ match: `${match} -environment:production` })
      yield* spends(runId, 0.6)
      yield* until(spentOf(all), ([first]) => first?.[1] === 0.6)
      assert.deepStrictEqual(yield* spentOf(ofScenario), [])
      assert.deepStrictEqual(yield* spentOf(unmatched), [["all", 0.6]])

      yield* claim(runId, scenario)
      yield* until(spentOf(ofScenario), ([first]) => first?.[1] === 0.6)
      assert.deepStrictEqual(yield* spentOf(ofTag), [["team", 0.6]])
      assert.deepStrictEqual(yield* spentOf(matched), [["all", 0.6]])
      assert.deepStrictEqual(yield* spentOf(unmatched), [])
      assert.deepStrictEqual(yield* spentOf(all), [["all", 0.6]], "counted once")
      assert.deepStrictEqual(yield* firingsOf(ofScenario), [])

      yield* spends(runId, 0.5)
      const [firing] = yield* until(firingsOf(ofScenario), ({ length }) => length > 0)
      assert.deepInclude(firing, { key: scenario, value: 1.1 })
      assert.deepStrictEqual(yield* spentOf(all), [["all", 1.1]])
    })
  )

  it.effect("reaches a level at its claim, and the firings of its former keys end", () =>
    Effect.gen(function* () {
      const scenario = `desk-${randomUUID()}@1.0.0`
      const runId = yield* discoveredRun
      const ofScenario = yield* addRule({ match: `id:${runId}`, per: "scenario" })
      const unmatched = yield* addRule({ match: `id:${runId} -environment:production` })
      yield* spends(runId, 2)
      yield* until(firingsOf(unmatched), ({ length }) => length > 0)
      yield* claim(runId, scenario)
      const [firing] = yield* until(firingsOf(ofScenario), ({ length }) => length > 0)
      assert.deepInclude(firing, { key: scenario, value: 2 })
      yield* until(
        Effect.map(call("GET", `/alerts?rule=${unmatched}&status=resolved`), ({ body }) => body.data),
        ({ length }) => length > 0
      )
    })
  )
})
