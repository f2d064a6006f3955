import {
  type CaseBaseline,
  type Course,
  checksOf,
  compareAll,
  countedTrials,
  courseOf,
  type FlipCause,
  flipsOf,
  type GateBaseline,
  type GateCheck,
  type GateVerdict,
  looksOf,
  type Plan,
  referenceOf,
  type ShadowPair,
  shadowCheck,
  type Trial,
  worstOf
} from "@runplane/domain"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
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
  /** Why the launch or the run failed. */
  readonly failure?: string
  /** The votes of the participant and of the shadow that is compared with it. */
  readonly pair?: ShadowPair
}

/** Launches the n-th run of a case, and waits for its end. */
export type RunTrial = (loaded: LoadedCase, nth: number) => Effect.Effect<RanTrial, CliFailure>

/** The service that plays the runs of a gate. */
export interface Trials {
  readonly run: RunTrial
  /** The means of a run's marks by name; a name without marks is absent. */
  readonly marks: (
    runId: string,
    names: ReadonlyArray<string>
  ) => Effect.Effect<Readonly<Record<string, number>>, CliFailure>
}

/** A case and its runs so far, in the order of their numbers. */
export interface CaseProgress {
  readonly loaded: LoadedCase
  ran: ReadonlyArray<RanTrial>
}

/** The progress of a gate; a report can be made at any time. */
export interface GateProgress {
  readonly cases: ReadonlyArray<CaseProgress>
  spentUsd: number
  /** US dollars that the open runs are expected to cost. */
  openUsd: number
  /** A run was needed for which the budget had too little left. */
  isOutOfBudget: boolean
}

export const emptyProgress = (cases: ReadonlyArray<LoadedCase>): GateProgress => ({
  cases: cases.map((loaded) => ({ loaded, ran: [] })),
  spentUsd: 0,
  openUsd: 0,
  isOutOfBudget: false
})

/** A shadow that is compared with its participant, by its name. */
export interface GateShadow {
  readonly name: string
  /** The first half of a case's runs has ended. */
  readonly onHalf: (loaded: LoadedCase, pairs: ReadonlyArray<ShadowPair>) => Effect.Effect<void>
}

export interface GateLimits extends Plan {
  readonly shadow?: GateShadow | undefined
  readonly concurrency: number
  /** US dollars of all runs. */
  readonly maxCostUsd: number | undefined
  /** US dollars that a run is expected to cost before one of this gate has ended. */
  readonly expectedUsd: (loaded: LoadedCase) => number
  /** A case whose drop may be chance gets more runs. */
  readonly baseline: GateBaseline | undefined
  /** The time that marks may take after the last run of a look. */
  readonly marksWait: Duration.Input
}

/** The pause between two reads of marks. */
const MARKS_PAUSE = "2 seconds"

/** Runs all cases to their verdicts, and records each run in the progress as it ends. */
export const runGate = Effect.fnUntraced(function* (progress: GateProgress, limits: GateLimits, service: Trials) {
  const slots = yield* Semaphore.make(limits.concurrency)
  const looks = looksOf(limits.runs, limits.maxRuns)

  /** The most that a run of the case has cost so far. */
  const expectedOf = ({ loaded, ran }: CaseProgress) =>
    ran.length === 0 ? limits.expectedUsd(loaded) : Math.max(...ran.map(({ trial }) => trial.costUsd))

  const runOne = (one: CaseProgress, nth: number) =>
    slots.withPermits(1)(
      Effect.gen(function* () {
        if (isForbidden(one)) return
        const expected = expectedOf(one)
        const taken = progress.spentUsd + progress.openUsd
        // What is under way will be spent, too.
        if (limits.maxCostUsd !== undefined && (taken >= limits.maxCostUsd || taken + expected > limits.maxCostUsd)) {
          progress.isOutOfBudget = true
          return
        }
        progress.openUsd += expected
        const ran = yield* service.run(one.loaded, nth).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              progress.openUsd -= expected
            })
          )
        )
        one.ran = [...one.ran, ran]
        progress.spentUsd += ran.trial.costUsd
      })
    )

  /** Adds the marks to the runs without them, and returns the number of runs that still lack one. */
  const readMarks = Effect.fnUntraced(function* (one: CaseProgress, names: ReadonlyArray<string>) {
    const needsMarks = ({ trial: { excluded, marks } }: RanTrial) =>
      excluded === undefined && names.some((name) => marks?.[name] === undefined)
    one.ran = yield* Effect.forEach(
      one.ran,
      (ran) =>
        needsMarks(ran)
          ? Effect.map(service.marks(ran.trial.runId, names), (marks) => ({ ...ran, trial: { ...ran.trial, marks } }))
          : Effect.succeed(ran),
      { concurrency: limits.concurrency }
    )
    return one.ran.filter(needsMarks).length
  })

  const awaitMarks = (one: CaseProgress, names: ReadonlyArray<string>) =>
    Effect.repeat(readMarks(one, names), {
      until: (lacking) => lacking === 0,
      schedule: Schedule.spaced(MARKS_PAUSE).pipe(Schedule.upTo({ duration: limits.marksWait }))
    })

  const runCase = Effect.fnUntraced(function* (one: CaseProgress) {
    let from = 0
    const { shadow } = limits
    const half = Math.ceil(limits.runs / 2)
    for (const size of shadow === undefined || half === limits.runs ? looks : [half, ...looks]) {
      const numbers = Array.from({ length: size - from }, (_, at) => from + at)
      yield* Effect.forEach(numbers, (nth) => runOne(one, nth), { concurrency: limits.concurrency, discard: true })
      from = size
      if (size === half && shadow !== undefined) {
        yield* shadow.onHalf(one.loaded, pairsOf(one))
        if (half < limits.runs) continue
      }
      const names = Object.keys(one.loaded.case.expect?.marks ?? {})
      if (names.length > 0 && verdictOf(one, limits).verdict !== "fail") yield* awaitMarks(one, names)
      const { trials, verdict } = verdictOf(one, limits)
      const isOpen = verdict === "inconclusive" || (verdict === "pass" && mayHaveDropped(one, limits))
      if (!isOpen || progress.isOutOfBudget || isHopeless(countedTrials(trials), names)) return
    }
  })

  yield* Effect.forEach(progress.cases, runCase, { concurrency: "unbounded", discard: true })
})

/** More runs of agents that do not decide, or without any marks, have no verdict either. */
const isHopeless = (counted: ReadonlyArray<Trial>, names: ReadonlyArray<string>): boolean =>
  counted.length === 0 || names.some((name) => counted.every(({ marks }) => marks?.[name] === undefined))

const isForbidden = ({ loaded, ran }: CaseProgress): boolean =>
  loaded.case.expect?.mustNot !== undefined &&
  ran.some(({ trial }) => loaded.case.expect?.mustNot?.includes(trial.outcome.action))

const pairsOf = ({ ran }: CaseProgress): ReadonlyArray<ShadowPair> => ran.flatMap(({ pair }) => pair ?? [])

/** A plan, with the name of the shadow that is compared with its participant. */
export interface ShadowPlan extends Plan {
  readonly shadow?: Pick<GateShadow, "name"> | undefined
}

const verdictOf = (one: CaseProgress, plan: ShadowPlan) => {
  const { loaded, ran } = one
  const trials = ran.map(({ trial }) => trial)
  const looks = looksOf(plan.runs, plan.maxRuns).length
  const checks = [
    ...checksOf(loaded.case.expect ?? {}, trials, plan),
    ...(plan.shadow === undefined ? [] : [shadowCheck(plan.shadow.name, pairsOf(one), looks)])
  ]
  return { trials, checks, verdict: worstOf(checks.map(({ verdict }) => verdict)) }
}

/** Whether the case alone has dropped by more than it may, but perhaps by chance. */
const mayHaveDropped = (one: CaseProgress, { baseline, ...plan }: GateLimits): boolean => {
  const before = baseline?.cases[one.loaded.case.name]
  if (before === undefined) return false
  const now = resultOf(outcomeOf(one, plan, before))
  return compareAll([{ now, before }], plan).some(({ checks }) =>
    checks.some(({ name, verdict }) => name === "baseline" && verdict === "inconclusive")
  )
}

/** The result of a case without its baseline. */
export interface CaseOutcome {
  readonly loaded: LoadedCase
  readonly ran: ReadonlyArray<RanTrial>
  readonly trials: ReadonlyArray<Trial>
  readonly checks: ReadonlyArray<GateCheck>
  readonly verdict: GateVerdict
  readonly flips: ReadonlyArray<FlipCause>
  /** The runs with the outcome that the case treats as right. */
  readonly courses: ReadonlyArray<Course>
  /** Runs have another outcome, and none with the right one is known to compare them with. */
  readonly isWithoutReference: boolean
}

export const outcomesOf = (
  { cases }: GateProgress,
  plan: ShadowPlan,
  baseline: GateBaseline | undefined
): ReadonlyArray<CaseOutcome> => cases.map((one) => outcomeOf(one, plan, baseline?.cases[one.loaded.case.name] ?? null))

const outcomeOf = (one: CaseProgress, plan: ShadowPlan, before: CaseBaseline | null): CaseOutcome => ({
  loaded: one.loaded,
  ran: one.ran,
  ...verdictOf(one, plan),
  ...causesOf(one, before)
})

/** The result as it is compared with a baseline. */
export const resultOf = ({ flips, loaded, ran, trials }: CaseOutcome) => {
  const distinct = (values: ReadonlyArray<string | undefined>) =>
    [...new Set(values.filter((value) => value !== undefined))].sort()
  return {
    expect: loaded.case.expect ?? {},
    trials,
    flips,
    versions: {
      scenarioRef: loaded.case.scenarioRef,
      policyVersions: distinct(ran.map(({ policyVersion }) => policyVersion)),
      promptHashes: distinct(ran.map(({ promptHash }) => promptHash))
    }
  }
}

const causesOf = ({ loaded, ran }: CaseProgress, before: CaseBaseline | null) => {
  const isRight = referenceOf(
    loaded.case.expect ?? {},
    ran.map(({ trial }) => trial),
    before
  )
  const decided = ran.flatMap(({ course, trial }) =>
    course === undefined || trial.excluded !== undefined ? [] : [{ course, isRight: isRight(trial.outcome) }]
  )
  const coursesOf = (right: boolean) => decided.flatMap((run) => (run.isRight === right ? [run.course] : []))
  const [courses, others] = [coursesOf(true), coursesOf(false)]
  const recorded = before?.typical === undefined ? undefined : courseOf(before.typical)
  return {
    courses,
    flips: flipsOf(courses, others, recorded),
    isWithoutReference: courses.length === 0 && recorded === undefined && others.length > 0
  }
}
