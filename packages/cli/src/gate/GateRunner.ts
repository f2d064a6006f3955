import {
  type Course,
  checksOf,
  countedTrials,
  type FlipCause,
  flipsOf,
  type GateCheck,
  type GateVerdict,
  looksOf,
  outcomeKey,
  outcomeShares,
  type Plan,
  type Trial,
  worstOf
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { CliFailure } from "../CliFailure.ts"
import type { LoadedCase } from "./GateFiles.ts"

/** A run of a case after its end. */
export interface RanTrial {
  readonly trial: Trial
  /** Undefined for a launch that failed. */
  readonly course?: Course
  /** Its page in the console. */
  readonly page?: string
  readonly policyVersion?: string
  readonly promptHash?: string
  /** Why the launch failed. */
  readonly failure?: string
}

/** Launches the n-th run of a case, and waits for its end. */
export type RunTrial = (loaded: LoadedCase, nth: number) => Effect.Effect<RanTrial, CliFailure>

/** A case and its runs so far, in the order of their numbers. */
export interface CaseProgress {
  readonly loaded: LoadedCase
  ran: ReadonlyArray<RanTrial>
}

/** The progress of a gate; a report can be made at any time. */
export interface GateProgress {
  readonly cases: ReadonlyArray<CaseProgress>
  spentUsd: number
  /** A run was needed after the budget was used up. */
  isOutOfBudget: boolean
}

export const emptyProgress = (cases: ReadonlyArray<LoadedCase>): GateProgress => ({
  cases: cases.map((loaded) => ({ loaded, ran: [] })),
  spentUsd: 0,
  isOutOfBudget: false
})

export interface GateLimits extends Plan {
  readonly concurrency: number
  /** US dollars of all runs. */
  readonly maxCostUsd: number | undefined
}

/** Runs all cases to their verdicts, and records each run in the progress as it ends. */
export const runGate = Effect.fnUntraced(function* (progress: GateProgress, limits: GateLimits, runTrial: RunTrial) {
  const slots = yield* Semaphore.make(limits.concurrency)
  const looks = looksOf(limits.runs, limits.maxRuns)

  const runOne = (one: CaseProgress, nth: number) =>
    slots.withPermits(1)(
      Effect.gen(function* () {
        if (isForbidden(one)) return
        if (limits.maxCostUsd !== undefined && progress.spentUsd >= limits.maxCostUsd) {
          progress.isOutOfBudget = true
          return
        }
        const ran = yield* runTrial(one.loaded, nth)
        one.ran = [...one.ran, ran]
        progress.spentUsd += ran.trial.costUsd
      })
    )

  const runCase = Effect.fnUntraced(function* (one: CaseProgress) {
    let from = 0
    for (const size of looks) {
      const numbers = Array.from({ length: size - from }, (_, at) => from + at)
      yield* Effect.forEach(numbers, (nth) => runOne(one, nth), { concurrency: limits.concurrency, discard: true })
      from = size
      const { trials, verdict } = verdictOf(one, looks.length)
      // More runs of agents that do not decide have no verdict either.
      if (verdict !== "inconclusive" || progress.isOutOfBudget || countedTrials(trials).length === 0) return
    }
  })

  yield* Effect.forEach(progress.cases, runCase, { concurrency: "unbounded", discard: true })
})

const isForbidden = ({ loaded, ran }: CaseProgress): boolean =>
  loaded.case.expect?.mustNot !== undefined &&
  ran.some(({ trial }) => loaded.case.expect?.mustNot?.includes(trial.outcome.action))

const verdictOf = ({ loaded, ran }: CaseProgress, looks: number) => {
  const trials = ran.map(({ trial }) => trial)
  const checks = checksOf(loaded.case.expect ?? {}, trials, looks)
  return { trials, checks, verdict: worstOf(checks.map(({ verdict }) => verdict)) }
}

/** The result of a case without its baseline. */
export interface CaseOutcome {
  readonly loaded: LoadedCase
  readonly ran: ReadonlyArray<RanTrial>
  readonly trials: ReadonlyArray<Trial>
  readonly checks: ReadonlyArray<GateCheck>
  readonly verdict: GateVerdict
  readonly flips: ReadonlyArray<FlipCause>
}

export const outcomesOf = ({ cases }: GateProgress, plan: Plan): ReadonlyArray<CaseOutcome> => {
  const looks = looksOf(plan.runs, plan.maxRuns).length
  return cases.map((one) => ({ loaded: one.loaded, ran: one.ran, ...verdictOf(one, looks), flips: causesOf(one.ran) }))
}

const causesOf = (ran: ReadonlyArray<RanTrial>): ReadonlyArray<FlipCause> => {
  const decided = ran.flatMap(({ course, trial }) =>
    course === undefined || trial.excluded !== undefined ? [] : [{ course, key: outcomeKey(trial.outcome) }]
  )
  const [most] = outcomeShares(countedTrials(ran.map(({ trial }) => trial)))
  const isMost = ({ key }: { readonly key: string }) => most !== undefined && key === outcomeKey(most)
  const coursesOf = (runs: typeof decided) => runs.map(({ course }) => course)
  return flipsOf(coursesOf(decided.filter(isMost)), coursesOf(decided.filter((run) => !isMost(run))))
}
