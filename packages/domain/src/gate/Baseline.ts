import * as Schema from "effect/Schema"
import { usdTexts } from "../Money.ts"
import { p95Difference, percentile } from "../statistics/Bootstrap.ts"
import { fisherDrop, holm, type Sample } from "../statistics/Fisher.ts"
import { DEFAULT_MIN_DROP, type Expectations } from "./CaseFile.ts"
import type { FlipCause } from "./Flips.ts"
import { outcomeShares } from "./Stability.ts"
import { countedTrials, outcomeKey, outcomeText, type Trial } from "./Trial.ts"
import { agreesWith, type GateCheck } from "./Verdict.ts"

const texts = Schema.Array(Schema.String)
const figures = Schema.Array(Schema.Finite)

/** The recorded runs of a case. */
export const CaseBaseline = Schema.Struct({
  scenarioRef: Schema.String,
  n: Schema.Int,
  outcomes: Schema.Array(
    Schema.Struct({ action: Schema.String, positive: Schema.NullOr(Schema.Boolean), count: Schema.Int })
  ),
  flipKeys: texts,
  /** US dollars of each run. */
  costUsd: figures,
  /** Milliseconds of each run. */
  durationMs: figures,
  policyVersions: texts,
  promptHashes: texts,
  models: texts
})
export type CaseBaseline = typeof CaseBaseline.Type

/** The file of `--record` and `--baseline` (docs/reference/gate.md#baseline). */
export const GateBaseline = Schema.Struct({
  format: Schema.Literal("runplane-gate-baseline-1"),
  recordedAt: Schema.String,
  /** By the name of the case. */
  cases: Schema.Record(Schema.String, CaseBaseline)
})
export type GateBaseline = typeof GateBaseline.Type

/** The runs of a case, as they are compared with a baseline. */
export interface CaseResult {
  readonly expect: Expectations
  readonly trials: ReadonlyArray<Trial>
  readonly flips: ReadonlyArray<FlipCause>
}

/** The versions that the runs of a case used. */
export interface CaseVersions {
  readonly scenarioRef: string
  readonly policyVersions: ReadonlyArray<string>
  readonly promptHashes: ReadonlyArray<string>
}

export const baselineOf = ({ flips, trials }: CaseResult, versions: CaseVersions): CaseBaseline => {
  const runs = countedTrials(trials)
  return {
    ...versions,
    n: runs.length,
    outcomes: outcomeShares(runs).map(({ action, count, positive }) => ({ action, positive, count })),
    flipKeys: flips.map(({ key }) => key),
    costUsd: runs.map(({ costUsd }) => costUsd),
    durationMs: runs.flatMap(({ durationMs }) => durationMs ?? []),
    models: [...new Set(runs.flatMap(({ models }) => models))].sort()
  }
}

/** What the comparison of a case adds to its report. */
export interface BaselineComparison {
  readonly checks: ReadonlyArray<GateCheck>
  readonly warnings: ReadonlyArray<string>
}

const SIGNIFICANCE = 0.05

/**
 * Compares cases with their baselines, null for a new case. A case fails when the drop of its agreement is significant
 * over all cases and larger than `minDrop`; new outcomes and causes are warnings, or failures with `noNewFlips`.
 */
export const compareAll = (
  cases: ReadonlyArray<{ readonly now: CaseResult; readonly before: CaseBaseline | null }>
): ReadonlyArray<BaselineComparison> => {
  const drops = cases.map(({ before, now }) => (before === null ? null : dropOf(before, now)))
  const tested = drops.flatMap((drop, at) => (drop === null ? [] : [{ at, p: fisherDrop(drop.before, drop.after) }]))
  const adjusted = holm(tested.map(({ p }) => p))
  const pOf = new Map(tested.map(({ at }, rank) => [at, adjusted[rank] ?? 1]))
  return cases.map(({ before, now }, at) => {
    const drop = drops[at]
    if (before === null || drop === null || drop === undefined) {
      return { checks: [], warnings: ["the baseline does not have this case"] }
    }
    return comparison(now, before, drop, pOf.get(at) ?? 1)
  })
}

interface Drop {
  readonly before: Sample
  readonly after: Sample
}

/** How many runs of both agree with the case, or with the most frequent outcome of the baseline. */
const dropOf = (before: CaseBaseline, { expect, trials }: CaseResult): Drop => {
  const runs = countedTrials(trials)
  const [most] = before.outcomes
  const isStated = expect.action !== undefined || expect.positive !== undefined || most === undefined
  const wanted = isStated ? expect : { action: most.action, positive: most.positive }
  const agrees = agreesWith(wanted, runs)
  const beforeCount = before.outcomes.filter(agrees).reduce((sum, { count }) => sum + count, 0)
  return {
    before: { count: beforeCount, n: before.n },
    after: { count: runs.filter(({ outcome }) => agrees(outcome)).length, n: runs.length }
  }
}

const rateOf = ({ count, n }: Sample): number => (n === 0 ? 0 : count / n)

const comparison = (now: CaseResult, before: CaseBaseline, drop: Drop, p: number): BaselineComparison => {
  const { minDrop = DEFAULT_MIN_DROP, noNewFlips = false } = now.expect
  const fell = rateOf(drop.before) - rateOf(drop.after)
  const isFailure = drop.after.n > 0 && p <= SIGNIFICANCE && fell > minDrop
  const counts = `${drop.after.count} of ${drop.after.n} runs agree, in the baseline ${drop.before.count} of ${drop.before.n}`
  const news = newsOf(now, before)
  return {
    checks: [
      { name: "baseline", verdict: isFailure ? "fail" : "pass", message: `${counts} (p = ${p.toFixed(3)})` },
      ...(noNewFlips
        ? [
            {
              name: "noNewFlips" as const,
              verdict: news.length > 0 ? ("fail" as const) : ("pass" as const),
              message: news.length > 0 ? news.join("; ") : "no new outcomes or causes"
            }
          ]
        : [])
    ],
    warnings: [...(noNewFlips ? [] : news), ...risesOf(now, before)]
  }
}

const newsOf = ({ flips, trials }: CaseResult, before: CaseBaseline): ReadonlyArray<string> => {
  const known = new Set(before.outcomes.map(outcomeKey))
  const causes = new Set(before.flipKeys)
  const outcomes = outcomeShares(countedTrials(trials)).filter((outcome) => !known.has(outcomeKey(outcome)))
  return [
    ...outcomes.map((outcome) => `new outcome ${outcomeText(outcome)} (${outcome.count})`),
    ...flips.filter(({ key }) => !causes.has(key)).map(({ count, text }) => `new cause of a flip: ${text} (${count})`)
  ]
}

/** Percentiles that are higher than before beyond chance. */
const risesOf = ({ trials }: CaseResult, before: CaseBaseline): ReadonlyArray<string> => {
  const runs = countedTrials(trials)
  const durations = runs.flatMap(({ durationMs }) => durationMs ?? [])
  const costs = runs.map(({ costUsd }) => costUsd)
  return [
    ...riseOf("cost", before.costUsd, costs, (amounts) => usdTexts(amounts, 4)),
    ...riseOf("duration", before.durationMs, durations, () => (ms) => `${Math.round(ms)} ms`)
  ]
}

const riseOf = (
  what: string,
  before: ReadonlyArray<number>,
  after: ReadonlyArray<number>,
  texts: (amounts: ReadonlyArray<number>) => (amount: number) => string
): ReadonlyArray<string> => {
  if (before.length === 0 || percentile(after, 0.95) <= percentile(before, 0.95)) return []
  const { high, low, value } = p95Difference(before, after)
  const show = texts([value, low, high])
  return low <= 0
    ? []
    : [`the 95th percentile of the ${what} rose by ${show(value)} (between ${show(low)} and ${show(high)})`]
}
