import { type Estimate, p95Estimate } from "../statistics/Bootstrap.ts"
import { levelOf, looksOf, runsNeeded } from "../statistics/Looks.ts"
import { LEAST_VALUES, meanInterval } from "../statistics/Mean.ts"
import { wilson } from "../statistics/Wilson.ts"
import { usdTexts } from "../values/Money.ts"
import { DEFAULT_AGREEMENT, type Expectations } from "./CaseFile.ts"
import { outcomeShares, stabilityOf } from "./Stability.ts"
import { countedTrials, outcomeText, type Trial, type TrialOutcome } from "./Trial.ts"

export type GateVerdict = "pass" | "fail" | "inconclusive"

/** The result of one expectation. */
export interface GateCheck {
  readonly name:
    | "runs"
    | "agreement"
    | "mustNot"
    | "maxCostUsd"
    | "maxDurationMs"
    | "baseline"
    | "noNewFlips"
    | "shadow"
    | `marks.${string}`
  readonly verdict: GateVerdict
  readonly message: string
}

/** The worst of several verdicts: a failure, else one that is not decided. */
export const worstOf = (verdicts: ReadonlyArray<GateVerdict>): GateVerdict => {
  if (verdicts.includes("fail")) return "fail"
  return verdicts.includes("inconclusive") ? "inconclusive" : "pass"
}

/** The number of runs per case. */
export interface Plan {
  /** Runs of the first look. */
  readonly runs: number
  /** Most runs. */
  readonly maxRuns: number
}

/**
 * Why no runs of this plan can satisfy a case; undefined when they can. With one look 20 of 20 runs have a lower bound
 * of 0.84.
 */
export const impossibleDemand = ({ agreement = DEFAULT_AGREEMENT }: Expectations, plan: Plan): string | undefined => {
  const looks = looksOf(plan.runs, plan.maxRuns)
  const most = looks.at(-1) ?? plan.runs
  const needed = runsNeeded(agreement, looks.length)
  if (needed <= most) return undefined
  const { low } = wilson(most, most, levelOf(looks.length))
  const given = `${most} of ${most} runs have a lower bound of ${low.toFixed(2)} with ${counted(looks.length, "look")}`
  return `agreement ${agreement} needs at least ${needed} runs; ${given}`
}

/** The outcomes that agree with a case: those it expects, else the most frequent one. */
export const agreesWith = (
  { action, positive }: Expectations,
  counted: ReadonlyArray<Trial>
): ((outcome: TrialOutcome) => boolean) => {
  const [most] = outcomeShares(counted)
  if (action === undefined && positive === undefined)
    return (outcome) => outcome.action === most?.action && outcome.positive === most.positive
  return (outcome) =>
    (action === undefined || outcome.action === action) && (positive === undefined || outcome.positive === positive)
}

/**
 * The checks of a case at one of its looks (docs/reference/gate.md#verdict). An inconclusive case is evaluated again
 * with the runs of the next look.
 */
export const checksOf = (expect: Expectations, trials: ReadonlyArray<Trial>, plan: Plan): ReadonlyArray<GateCheck> => {
  const looks = looksOf(plan.runs, plan.maxRuns).length
  const counted = countedTrials(trials)
  const costs = counted.map(({ costUsd }) => costUsd)
  const durations = counted.flatMap(({ durationMs }) => durationMs ?? [])
  return [
    ...measuredCheck(trials, plan),
    agreementCheck(expect, trials, looks),
    ...(expect.mustNot === undefined ? [] : [mustNotCheck(expect.mustNot, trials)]),
    ...(expect.maxCostUsd === undefined
      ? []
      : [limitCheck("maxCostUsd", "cost", expect.maxCostUsd.p95, costs, (amounts) => usdTexts(amounts, 4))]),
    ...(expect.maxDurationMs === undefined
      ? []
      : [
          limitCheck(
            "maxDurationMs",
            "duration",
            expect.maxDurationMs.p95,
            durations,
            () => (ms) => `${Math.round(ms)} ms`
          )
        ]),
    ...Object.entries(expect.marks ?? {}).map(([name, { min }]) => marksCheck(name, min, counted, looks))
  ]
}

/** Fails with fewer than half of the planned runs: what is left may be the runs that happened to work. */
const measuredCheck = (trials: ReadonlyArray<Trial>, { runs }: Plan): ReadonlyArray<GateCheck> => {
  const { excluded, n } = stabilityOf(trials)
  if (2 * n >= runs) return []
  const launched = trials.length === 0 ? ["no run has ended"] : []
  const reasons = Object.entries(excluded.byReason).map(([reason, count]) => `${count} ${reason}`)
  const why = [...launched, ...reasons].join(", ")
  return [{ name: "runs", verdict: "fail", message: `${n} of ${runs} planned runs count${why && `: ${why}`}` }]
}

const agreementCheck = (expect: Expectations, trials: ReadonlyArray<Trial>, looks: number): GateCheck => {
  const { agreement = DEFAULT_AGREEMENT } = expect
  const counted = countedTrials(trials)
  const decided = counted.some(({ outcome }) => outcome.action !== "none")
  const isExpected = expect.action !== undefined || expect.positive !== undefined
  if (counted.length === 0 || (!decided && !isExpected)) {
    return { name: "agreement", verdict: "inconclusive", message: undecidedText(trials) }
  }
  const agrees = agreesWith(expect, counted)
  const count = counted.filter(({ outcome }) => agrees(outcome)).length
  const interval = wilson(count, counted.length, levelOf(looks))
  const verdict = interval.low >= agreement ? "pass" : interval.high < agreement ? "fail" : "inconclusive"
  const wanted = isExpected ? "have the expected outcome" : "agree"
  const bounds = `between ${interval.low.toFixed(2)} and ${interval.high.toFixed(2)}`
  return {
    name: "agreement",
    verdict,
    message: `${count} of ${counted.length} runs ${wanted}: ${bounds}, demanded ${agreement}`
  }
}

const undecidedText = (trials: ReadonlyArray<Trial>): string => {
  const { excluded, n } = stabilityOf(trials)
  const reasons = Object.entries(excluded.byReason).map(([reason, count]) => `${count} ${reason}`)
  return ["no run reached a decision", ...(n === 0 ? [] : [`${n} without an outcome`]), ...reasons].join(", ")
}

const mustNotCheck = (actions: ReadonlyArray<string>, trials: ReadonlyArray<Trial>): GateCheck => {
  const found = trials.filter(({ outcome }) => actions.includes(outcome.action))
  const [first] = found
  return first === undefined
    ? { name: "mustNot", verdict: "pass", message: `no run ended with ${actions.join(" or ")}` }
    : {
        name: "mustNot",
        verdict: "fail",
        message: `${counted(found.length, "run")} ended with ${outcomeText(first.outcome)}, first ${first.runId}`
      }
}

const limitCheck = (
  name: "maxCostUsd" | "maxDurationMs",
  what: string,
  limit: number,
  values: ReadonlyArray<number>,
  texts: (amounts: ReadonlyArray<number>) => (amount: number) => string
): GateCheck => {
  if (values.length === 0) return { name, verdict: "inconclusive", message: `no run has a ${what}` }
  const p95: Estimate = p95Estimate(values)
  const verdict = p95.low > limit ? "fail" : p95.high <= limit ? "pass" : "inconclusive"
  const show = texts([p95.value, p95.low, p95.high, limit])
  const bounds = `between ${show(p95.low)} and ${show(p95.high)}`
  return {
    name,
    verdict,
    message: `the 95th percentile of the ${what} is ${show(p95.value)} (${bounds}), at most ${show(limit)}`
  }
}

const marksCheck = (mark: string, min: number, runs: ReadonlyArray<Trial>, looks: number): GateCheck => {
  const name = `marks.${mark}` as const
  const values = runs.flatMap(({ marks }) => marks?.[mark] ?? [])
  const needed = Math.max(LEAST_VALUES, Math.ceil(runs.length / 2))
  if (values.length < needed) {
    const have = values.length === 0 ? "no run has" : `${values.length} of ${counted(runs.length, "run")} have`
    return { name, verdict: "inconclusive", message: `${have} the mark ${mark}, at least ${needed} needed` }
  }
  const { high, low, mean } = meanInterval(values, levelOf(looks))
  const verdict = low >= min ? "pass" : high < min ? "fail" : "inconclusive"
  const bounds = `between ${low.toFixed(2)} and ${high.toFixed(2)}`
  const message = `the mean of ${mark} in ${values.length} of ${runs.length} runs is ${mean.toFixed(2)} (${bounds})`
  return { name, verdict, message: `${message}, demanded ${min}` }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`
