import { percentile } from "../statistics/Bootstrap.ts"
import { type ShareInterval, wilson } from "../statistics/Wilson.ts"
import { countedTrials, type Exclusion, outcomeKey, type Trial, type TrialOutcome } from "./Trial.ts"

/** An outcome, and the number and share of the runs that have it. */
export interface OutcomeShare extends TrialOutcome {
  readonly count: number
  readonly share: number
}

/** Percentiles by the nearest rank. */
export interface Spread {
  readonly p50: number
  readonly p95: number
}

/** How stable the decisions of runs are. */
export interface Stability {
  /** Counted runs. */
  readonly n: number
  readonly excluded: { readonly byReason: Readonly<Partial<Record<Exclusion, number>>> }
  /** The most frequent first. */
  readonly outcomes: ReadonlyArray<OutcomeShare>
  /** The share of the most frequent outcome. */
  readonly agreement: ShareInterval & { readonly method: "wilson"; readonly confidence: number }
  /** Votes that participants changed later, in all counted runs. */
  readonly mindChanges: number
  /** US dollars. */
  readonly cost: Spread
  /** Milliseconds. */
  readonly durationMs: Spread
}

const CONFIDENCE = 0.95

/** The stability of runs; with `countAll` a run without decision counts with the way it ended as its outcome. */
export const stabilityOf = (trials: ReadonlyArray<Trial>, countAll = false): Stability => {
  const counted = countedTrials(trials, countAll)
  const byReason: Partial<Record<Exclusion, number>> = {}
  for (const { excluded } of trials) {
    const isLeftOut = excluded !== undefined && (!countAll || excluded === "unfinished")
    if (isLeftOut) byReason[excluded] = (byReason[excluded] ?? 0) + 1
  }
  const outcomes = outcomeShares(counted)
  return {
    n: counted.length,
    excluded: { byReason },
    outcomes,
    agreement: {
      ...wilson(outcomes[0]?.count ?? 0, counted.length, CONFIDENCE),
      method: "wilson",
      confidence: CONFIDENCE
    },
    mindChanges: counted.reduce((sum, { mindChanges }) => sum + mindChanges, 0),
    cost: spreadOf(counted.map(({ costUsd }) => costUsd)),
    durationMs: spreadOf(counted.flatMap(({ durationMs }) => durationMs ?? []))
  }
}

interface Grouping {
  readonly countAll: boolean
  /** The property is a time in ISO form, so the groups are in its order. */
  readonly isTime: boolean
}

/** The stability of the trials of each property, the largest group first, or in the order of time. */
export const stabilityBy = (
  trials: ReadonlyArray<Trial>,
  propertyOf: (trial: Trial) => string,
  { countAll, isTime }: Grouping
): ReadonlyArray<Stability & { readonly property: string }> =>
  [...Map.groupBy(trials, propertyOf)]
    .map(([property, group]) => ({ property, ...stabilityOf(group, countAll) }))
    .sort((left, right) => (isTime ? 0 : right.n - left.n) || (left.property < right.property ? -1 : 1))

/** The outcomes of counted trials, the most frequent first. */
export const outcomeShares = (counted: ReadonlyArray<Trial>): ReadonlyArray<OutcomeShare> => {
  const shares = new Map<string, { readonly outcome: TrialOutcome; count: number }>()
  for (const { outcome } of counted) {
    const key = outcomeKey(outcome)
    const share = shares.get(key) ?? { outcome, count: 0 }
    share.count += 1
    shares.set(key, share)
  }
  return [...shares.entries()]
    .sort(([leftKey, left], [rightKey, right]) => right.count - left.count || (leftKey < rightKey ? -1 : 1))
    .map(([, { count, outcome }]) => ({ ...outcome, count, share: count / counted.length }))
}

const spreadOf = (values: ReadonlyArray<number>): Spread => ({
  p50: percentile(values, 0.5),
  p95: percentile(values, 0.95)
})
