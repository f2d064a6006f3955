import * as Schema from "effect/Schema"
import { p95Difference, percentile } from "../statistics/Bootstrap.ts"
import { fisherDrop, holm, type Sample } from "../statistics/Fisher.ts"
import { looksOf } from "../statistics/Looks.ts"
import { isDrop, unseenDrop } from "../statistics/Power.ts"
import { usdTexts } from "../values/Money.ts"
import { DEFAULT_MIN_DROP, type Expectations } from "./CaseFile.ts"
import type { Course, FlipCause } from "./Flips.ts"
import { outcomeShares } from "./Stability.ts"
import { countedTrials, outcomeKey, outcomeText, type Trial, type TrialOutcome } from "./Trial.ts"
import { TypicalRun, typicalOf } from "./TypicalRun.ts"
import { agreesWith, type GateCheck, type GateVerdict, type Plan } from "./Verdict.ts"

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
  models: texts,
  /** Absent when no run has the reference outcome, and when it is too large to keep. */
  typical: Schema.optionalKey(TypicalRun)
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

/** Why the figures of a baseline contradict each other; undefined when they fit. */
export const baselineFault = ({ cases }: GateBaseline): string | undefined => {
  for (const [name, { costUsd, durationMs, n, outcomes }] of Object.entries(cases)) {
    const counted = outcomes.reduce((sum, { count }) => sum + count, 0)
    const negative = outcomes.some(({ count }) => count < 0) || n < 0
    if (negative || counted !== n || costUsd.length !== n || durationMs.length > n) {
      const given = `${n} runs, ${counted} outcomes, ${costUsd.length} costs and ${durationMs.length} durations`
      return `the counts of the case ${name} do not add up: ${given}`
    }
  }
  return undefined
}

/** The runs of a case, as they are compared with a baseline. */
export interface CaseResult {
  readonly expect: Expectations
  readonly trials: ReadonlyArray<Trial>
  readonly flips: ReadonlyArray<FlipCause>
  readonly versions: CaseVersions
}

/** The versions that the runs of a case used. */
export interface CaseVersions {
  readonly scenarioRef: string
  readonly policyVersions: ReadonlyArray<string>
  readonly promptHashes: ReadonlyArray<string>
}

/**
 * The outcomes that a case treats as right: those it expects, else the most frequent one of its baseline, else the most
 * frequent one of its own runs.
 */
export const referenceOf = (
  expect: Expectations,
  trials: ReadonlyArray<Trial>,
  before: CaseBaseline | null
): ((outcome: TrialOutcome) => boolean) => {
  const [most] = before?.outcomes ?? []
  const isStated = expect.action !== undefined || expect.positive !== undefined || most === undefined
  return agreesWith(isStated ? expect : { action: most.action, positive: most.positive }, countedTrials(trials))
}

/** The recorded figures of a case; `courses` are those of its runs with the reference outcome. */
export const baselineOf = (
  { flips, trials, versions }: CaseResult,
  courses: ReadonlyArray<Course> = []
): CaseBaseline => {
  const runs = countedTrials(trials)
  const typical = typicalOf(courses)
  return {
    ...versions,
    ...(typical !== undefined && { typical }),
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
  /** What differs between the runs and those of the baseline before any of them decided. */
  readonly changes: ReadonlyArray<string>
}

/** The error of all comparisons of a gate together. */
const SIGNIFICANCE = 0.05

/** A case and its baseline; null for a new case. */
export interface Compared {
  readonly now: CaseResult
  readonly before: CaseBaseline | null
}

/**
 * Compares cases with their baselines (docs/reference/gate.md#baseline). A case fails when the drop of its agreement is
 * significant over all cases and looks, and larger than `minDrop`. It is inconclusive when the drop is larger and may
 * be chance. New outcomes and causes are warnings, or failures with `noNewFlips`.
 */
export const compareAll = (cases: ReadonlyArray<Compared>, plan: Plan): ReadonlyArray<BaselineComparison> => {
  const looks = looksOf(plan.runs, plan.maxRuns).length
  const drops = cases.map(({ before, now }) => (before === null ? null : dropOf(before, now)))
  const tested = drops.flatMap((drop, at) => (drop === null ? [] : [{ at, p: fisherDrop(drop.before, drop.after) }]))
  const adjusted = holm(tested.map(({ p }) => Math.min(1, p * looks)))
  const pOf = new Map(tested.map(({ at }, rank) => [at, adjusted[rank] ?? 1]))
  // A single drop among many cases is found at the level of the first step of Holm.
  const significance = SIGNIFICANCE / looks / Math.max(1, tested.length)
  return cases.map(({ before, now }, at) => {
    const drop = drops[at]
    if (before === null || drop === null || drop === undefined) {
      return { checks: [], warnings: ["the baseline does not have this case"], changes: [] }
    }
    const p = pOf.get(at) ?? 1
    const { noNewFlips = false } = now.expect
    const news = newsOf(now, before)
    return {
      checks: [
        dropCheck(drop, now.expect, p, significance),
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
      warnings: [...(noNewFlips ? [] : news), ...risesOf(now, before)],
      changes: changesOf(now, before)
    }
  })
}

interface Drop {
  readonly before: Sample
  readonly after: Sample
}

/** How many runs of both have the reference outcome. */
const dropOf = (before: CaseBaseline, { expect, trials }: CaseResult): Drop => {
  const runs = countedTrials(trials)
  const agrees = referenceOf(expect, trials, before)
  const beforeCount = before.outcomes.filter(agrees).reduce((sum, { count }) => sum + count, 0)
  return {
    before: { count: beforeCount, n: before.n },
    after: { count: runs.filter(({ outcome }) => agrees(outcome)).length, n: runs.length }
  }
}

const dropCheck = ({ after, before }: Drop, expect: Expectations, p: number, significance: number): GateCheck => {
  const { minDrop = DEFAULT_MIN_DROP } = expect
  if (before.n === 0 || after.n === 0) {
    const which = before.n === 0 ? "the baseline has no runs" : "no run counts"
    return { name: "baseline", verdict: "inconclusive", message: `${which}, so nothing is compared` }
  }
  const fell = before.count / before.n - after.count / after.n
  const isFailure = isDrop(before, after, { significance: 1, minDrop }) && p <= SIGNIFICANCE
  const verdict: GateVerdict = isFailure ? "fail" : fell > minDrop ? "inconclusive" : "pass"
  const counts = `${after.count} of ${after.n} runs agree, in the baseline ${before.count} of ${before.n}`
  const unseen = unseenDrop(before, after.n, { significance, minDrop })
  const power = isFailure ? "" : `; a drop of up to ${unseen.toFixed(2)} could not have been seen`
  return { name: "baseline", verdict, message: `${counts} (p = ${p.toFixed(3)})${power}` }
}

/** Characters of a hash that a person compares. */
const HASH_LENGTH = 8

const scenarioOfRef = (ref: string): string => ref.split("@")[0] ?? ref

/** Whether the baseline of a case was recorded with another scenario: no figure of it is comparable. */
export const isOtherScenario = (scenarioRef: string, before: CaseBaseline): boolean =>
  scenarioOfRef(scenarioRef) !== scenarioOfRef(before.scenarioRef)

const changesOf = ({ trials, versions }: CaseResult, before: CaseBaseline): ReadonlyArray<string> => {
  const models = [...new Set(countedTrials(trials).flatMap((trial) => trial.models))].sort()
  const short = (hashes: ReadonlyArray<string>) => hashes.map((hash) => hash.slice(0, HASH_LENGTH))
  return [
    ...changeOf("scenario", [before.scenarioRef], [versions.scenarioRef]),
    ...changeOf("prompt", short(before.promptHashes), short(versions.promptHashes)),
    ...changeOf("policy", before.policyVersions, versions.policyVersions),
    ...changeOf("models", before.models, models)
  ]
}

/** Without a version on one side nothing is known of a change. */
const changeOf = (what: string, before: ReadonlyArray<string>, now: ReadonlyArray<string>): ReadonlyArray<string> =>
  before.length === 0 || now.length === 0 || before.join() === now.join()
    ? []
    : [`${what} ${before.join(", ")} -> ${now.join(", ")}`]

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
