import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { at, seedRun } from "./RunSeeds.ts"

const WINDOW = "/dashboard/overview?from=2026-07-01&to=2026-07-02"
const seed = (name: string, cost: number) =>
  seedRun({
    ...{ status: "completed", createdAt: at("10:00:00"), startedAt: at("10:00:00"), endedAt: at("10:00:01") },
    ...{ scenarioRef: name, tokens: 10, cost }
  })

layer(layerTestService(), { excludeTestServices: true })("the scenarios of an overview", (it) => {
  it.effect("have the most frequent ones and the dearest ones, and the sums of all others", () =>
    Effect.gen(function* () {
      const named = (nth: number) => `many/s${String(nth).padStart(3, "0")}`
      for (let nth = 0; nth < 60; nth++) {
        yield* seed(named(nth), 0.5)
        yield* seed(named(nth), 0.5)
      }
      for (let nth = 0; nth < 50; nth++) yield* seed(`rare/dear${nth}`, 100 + nth)
      const { body } = yield* call("GET", WINDOW)
      const { charts, kpis, otherScenarios, scenarios } = body
      assert.lengthOf(scenarios, 100)
      assert.deepStrictEqual(scenarios[0].scenario, named(0))
      const names: ReadonlyArray<string> = scenarios.map(({ scenario }: { readonly scenario: string }) => scenario)
      assert.include(names, "rare/dear0")
      assert.deepInclude(otherScenarios, { count: 10, runs: 20, completedRuns: 20, tokens: 200, costUsd: 10 })
      const cost = scenarios.reduce((sum: number, row: { readonly costUsd: number }) => sum + row.costUsd, 0)
      assert.approximately(cost + otherScenarios.costUsd, kpis.totalCostUsdExact, 1e-6)
      assert.deepStrictEqual(charts.perScenario.labels.length, 10)
      const { body: empty } = yield* call("GET", "/dashboard/overview?from=2020-01-01&to=2020-01-02")
      assert.notProperty(empty, "otherScenarios")
    })
  )
})
