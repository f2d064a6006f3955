import type { ControlPlaneClient } from "@runplane/api"
import { type GateBaseline, looksOf, type Plan, usdTexts } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { LoadedCase } from "./GateFiles.ts"

/** US dollars of a run of each case, by the name of the case; a case without an earlier run is absent. */
export type ExpectedCosts = ReadonlyMap<string, number>

/**
 * The mean cost of the runs in the baseline, else the median of the latest runs of the scenario. A service that does
 * not answer leaves the cost unknown: the first request of the gate reports why.
 */
export const expectedCosts = Effect.fnUntraced(function* (
  plane: ControlPlaneClient["Service"],
  cases: ReadonlyArray<LoadedCase>,
  baseline: GateBaseline | undefined
) {
  const medians = new Map<string, number | undefined>()
  const ofScenario = Effect.fnUntraced(function* (scenarioRef: string) {
    if (!medians.has(scenarioRef)) {
      const query = { q: `scenario:${JSON.stringify(scenarioRef)}`, count: "decided" as const }
      const median = yield* plane.api.decisions.stability({ query }).pipe(
        Effect.map(({ cost, n }) => (n === 0 ? undefined : cost.p50)),
        Effect.orElseSucceed(() => undefined)
      )
      medians.set(scenarioRef, median)
    }
    return medians.get(scenarioRef)
  })
  const costs = new Map<string, number>()
  for (const { case: one } of cases) {
    const recorded = baseline?.cases[one.name]?.costUsd ?? []
    const mean = recorded.length === 0 ? undefined : recorded.reduce((sum, usd) => sum + usd / recorded.length, 0)
    const cost = mean ?? (yield* ofScenario(one.scenarioRef))
    if (cost !== undefined) costs.set(one.name, cost)
  }
  return costs
})

/** What a gate will do and cost: `2 cases of 20 to 80 runs, about $2.40 to $9.60`. */
export const planText = (cases: ReadonlyArray<LoadedCase>, plan: Plan, costs: ExpectedCosts): string => {
  const most = looksOf(plan.runs, plan.maxRuns).at(-1) ?? plan.runs
  const runs = most === plan.runs ? `${plan.runs}` : `${plan.runs} to ${most}`
  const one = cases.reduce((sum, { case: { name } }) => sum + (costs.get(name) ?? 0), 0)
  const show = usdTexts([plan.runs * one, most * one], 2)
  const amount = most === plan.runs ? show(plan.runs * one) : `${show(plan.runs * one)} to ${show(most * one)}`
  const unknown = cases.filter(({ case: { name } }) => !costs.has(name)).length
  const money =
    unknown === cases.length
      ? "the cost is unknown, since no earlier run of them is here"
      : `about ${amount}${unknown === 0 ? "" : `, and ${unknown} of unknown cost`}`
  return `${cases.length} case${cases.length === 1 ? "" : "s"} of ${runs} runs: ${money}`
}
