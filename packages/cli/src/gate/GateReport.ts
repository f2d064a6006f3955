import {
  type BaselineComparison,
  baselineOf,
  compareAll,
  type FlipCause,
  type GateBaseline,
  type GateCheck,
  type GateVerdict,
  outcomeText,
  type Plan,
  type Stability,
  stabilityOf,
  usdText,
  usdTexts,
  worstOf
} from "@runplane/domain"
import { EXIT_CODES, type ExitCode } from "../CliFailure.ts"
import type { Style } from "../narrative/Narrative.ts"
import { plainText } from "../narrative/PlainText.ts"
import { type CaseOutcome, type GateProgress, outcomesOf, resultOf, type ShadowPlan } from "./GateRunner.ts"
import { distributionLines } from "./StabilityLines.ts"

/** A case in the report. */
export interface CaseReport {
  readonly file: string
  readonly line: number
  readonly name: string
  readonly scenarioRef: string
  readonly verdict: GateVerdict
  readonly checks: ReadonlyArray<GateCheck>
  readonly warnings: ReadonlyArray<string>
  /** What changed since the baseline before a run decided: `prompt 1a03c6c9 -> 5e7f0d21`. */
  readonly changes: ReadonlyArray<string>
  readonly stability: Stability
  readonly flips: ReadonlyArray<FlipCause>
  readonly runs: ReadonlyArray<{ readonly runId: string; readonly outcome: string; readonly page?: string }>
}

/** Why a gate ended before its verdict. */
export type GateEnd = "interrupted" | "timeout" | "budget" | "unreachable"

export interface GateReport {
  readonly gate: string
  /** Its page in the console. */
  readonly page?: string
  readonly verdict: GateVerdict
  readonly end?: GateEnd
  readonly spentUsd: number
  /** What `--max-cost` allows, in US dollars. */
  readonly maxCostUsd?: number
  readonly cases: ReadonlyArray<CaseReport>
}

interface ReportParts {
  readonly maxCostUsd?: number | undefined
  readonly baseline?: GateBaseline | undefined
  readonly end?: GateEnd | undefined
  /** The page of the gate in the console. */
  readonly page?: string | undefined
}

/** The report of a gate, compared with a baseline if there is one. */
export const reportOf = (
  gate: string,
  progress: GateProgress,
  plan: ShadowPlan,
  { baseline, end, maxCostUsd, page }: ReportParts
): GateReport => {
  const outcomes = outcomesOf(progress, plan, baseline)
  const compared = baseline === undefined ? [] : comparisonsOf(outcomes, baseline, plan)
  const cases = outcomes.map((outcome, at) => caseReport(outcome, compared[at] ?? NOT_COMPARED))
  const worst = worstOf(cases.map(({ verdict }) => verdict))
  return {
    gate,
    ...(page !== undefined && { page }),
    // A gate that did not end has no runs for a pass.
    verdict: end !== undefined && worst === "pass" && end !== "budget" ? "inconclusive" : worst,
    ...(end !== undefined && { end }),
    spentUsd: progress.spentUsd,
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    cases
  }
}

const NOT_COMPARED: BaselineComparison = { checks: [], warnings: [], changes: [] }

const comparisonsOf = (outcomes: ReadonlyArray<CaseOutcome>, { cases }: GateBaseline, plan: Plan) =>
  compareAll(
    outcomes.map((outcome) => ({ now: resultOf(outcome), before: cases[outcome.loaded.case.name] ?? null })),
    plan
  )

const NO_REFERENCE =
  "no run has the right outcome to compare the others with, so no cause is known; --baseline may have one"

const caseReport = (outcome: CaseOutcome, compared: BaselineComparison): CaseReport => {
  const { flips, isWithoutReference, loaded, ran, trials } = outcome
  const checks = [...outcome.checks, ...compared.checks]
  const failures = [...new Set(ran.flatMap(({ failure }) => failure ?? []))]
  return {
    file: loaded.file,
    line: loaded.line,
    name: loaded.case.name,
    scenarioRef: loaded.case.scenarioRef,
    verdict: worstOf(checks.map(({ verdict }) => verdict)),
    checks,
    warnings: [
      ...(isWithoutReference ? [NO_REFERENCE] : []),
      ...compared.warnings,
      ...failures.map((failure) => `a run failed: ${failure}`)
    ],
    changes: compared.changes,
    stability: stabilityOf(trials),
    flips,
    runs: ran.map(({ page, trial }) => ({
      runId: trial.runId,
      outcome: outcomeText(trial.outcome),
      ...(page !== undefined && { page })
    }))
  }
}

/** The baseline that `--record` writes. */
export const baselineOfProgress = (progress: GateProgress, plan: Plan, recordedAt: string): GateBaseline => ({
  format: "runplane-gate-baseline-1",
  recordedAt,
  cases: Object.fromEntries(
    outcomesOf(progress, plan, undefined).map((outcome) => [
      outcome.loaded.case.name,
      baselineOf(resultOf(outcome), outcome.courses)
    ])
  )
})

/** Why a gate must not become a baseline: a case with fewer counted runs than planned. Undefined when it may. */
export const recordFault = ({ cases }: GateReport, { runs }: Plan): string | undefined => {
  const short = cases.find(({ stability }) => stability.n < runs)
  return short && `${short.name} has ${short.stability.n} counted runs of ${runs} planned ones`
}

/** The exit code of a gate (docs/reference/gate.md#exit-codes). */
export const exitCodeOfReport = ({ cases, end, verdict }: GateReport, strict: boolean): ExitCode => {
  const failing = cases.flatMap(({ checks }) => checks.filter((check) => check.verdict === "fail"))
  if (end === "interrupted" || failing.some(({ name }) => name !== "runs")) return EXIT_CODES.failed
  if (end === "unreachable") return EXIT_CODES.unreachable
  if (end === "budget") return EXIT_CODES.budget
  if (failing.length > 0) return EXIT_CODES.unmeasured
  return verdict === "inconclusive" && strict ? EXIT_CODES.inconclusive : EXIT_CODES.ok
}

const ENDS: Readonly<Record<GateEnd, string>> = {
  interrupted: "the gate was interrupted; its open runs are cancelled",
  timeout: "the time of the gate is over; its open runs are cancelled",
  budget: "the budget of the gate is used up",
  unreachable: "a service cannot be reached; runs of the gate may still be open"
}

/** The report as lines for people. */
export const reportLines = (report: GateReport, { bold, dim }: Style): ReadonlyArray<string> => [
  ...report.cases.flatMap((one) => [
    `${bold(one.verdict.toUpperCase().padEnd(12))} ${plainText(one.name)} ${dim(one.scenarioRef)}`,
    ...one.changes.map((change) => `  changed since the baseline: ${plainText(change)}`),
    ...distributionLines(one.stability, one.flips),
    ...one.checks.map(({ message, name, verdict }) => `  ${verdict}  ${name}: ${plainText(message)}`),
    ...one.warnings.map((warning) => `  warning  ${plainText(warning)}`),
    ""
  ]),
  ...(report.end === undefined ? [] : [ENDS[report.end]]),
  `${bold(report.verdict.toUpperCase())}  gate ${report.gate}, ${spentText(report)}`,
  ...(report.page === undefined ? [] : [report.page])
]

/** `$2.13 of $2.00, which is exceeded by runs that were open`. */
export const spentText = ({ maxCostUsd, spentUsd }: Pick<GateReport, "maxCostUsd" | "spentUsd">): string => {
  if (maxCostUsd === undefined) return usdText(spentUsd, 4)
  const show = usdTexts([spentUsd, maxCostUsd], 2)
  const exceeded = spentUsd > maxCostUsd ? ", exceeded by the runs that were open" : ""
  return `${show(spentUsd)} of ${show(maxCostUsd)}${exceeded}`
}
