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
  worstOf
} from "@runplane/domain"
import { EXIT_CODES, type ExitCode } from "../CliFailure.ts"
import { plainText } from "../story/PlainText.ts"
import type { Style } from "../story/Story.ts"
import { type CaseOutcome, type GateProgress, outcomesOf } from "./GateRunner.ts"
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
  readonly cases: ReadonlyArray<CaseReport>
}

interface ReportParts {
  readonly baseline?: GateBaseline | undefined
  readonly end?: GateEnd | undefined
  /** The page of the gate in the console. */
  readonly page?: string | undefined
}

/** The report of a gate, compared with a baseline if there is one. */
export const reportOf = (
  gate: string,
  progress: GateProgress,
  plan: Plan,
  { baseline, end, page }: ReportParts
): GateReport => {
  const outcomes = outcomesOf(progress, plan)
  const compared = baseline === undefined ? [] : comparisonsOf(outcomes, baseline)
  const cases = outcomes.map((outcome, at) => caseReport(outcome, compared[at] ?? { checks: [], warnings: [] }))
  const worst = worstOf(cases.map(({ verdict }) => verdict))
  return {
    gate,
    ...(page !== undefined && { page }),
    // A gate that did not end has no runs for a pass.
    verdict: end !== undefined && worst === "pass" && end !== "budget" ? "inconclusive" : worst,
    ...(end !== undefined && { end }),
    spentUsd: progress.spentUsd,
    cases
  }
}

const resultOf = ({ flips, loaded, trials }: CaseOutcome) => ({ expect: loaded.case.expect ?? {}, trials, flips })

const comparisonsOf = (outcomes: ReadonlyArray<CaseOutcome>, { cases }: GateBaseline) =>
  compareAll(outcomes.map((outcome) => ({ now: resultOf(outcome), before: cases[outcome.loaded.case.name] ?? null })))

const caseReport = (outcome: CaseOutcome, compared: BaselineComparison): CaseReport => {
  const { flips, loaded, ran, trials } = outcome
  const checks = [...outcome.checks, ...compared.checks]
  const failures = [...new Set(ran.flatMap(({ failure }) => failure ?? []))]
  return {
    file: loaded.file,
    line: loaded.line,
    name: loaded.case.name,
    scenarioRef: loaded.case.scenarioRef,
    verdict: worstOf(checks.map(({ verdict }) => verdict)),
    checks,
    warnings: [...compared.warnings, ...failures.map((failure) => `a run failed: ${failure}`)],
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
    outcomesOf(progress, plan).map((outcome) => {
      const distinct = (values: ReadonlyArray<string | undefined>) =>
        [...new Set(values.filter((value) => value !== undefined))].sort()
      const versions = {
        scenarioRef: outcome.loaded.case.scenarioRef,
        policyVersions: distinct(outcome.ran.map(({ policyVersion }) => policyVersion)),
        promptHashes: distinct(outcome.ran.map(({ promptHash }) => promptHash))
      }
      return [outcome.loaded.case.name, baselineOf(resultOf(outcome), versions)]
    })
  )
})

/** The exit code of a gate (docs/reference/gate.md#exit-codes). */
export const exitCodeOfReport = ({ end, verdict }: GateReport, strict: boolean): ExitCode => {
  if (verdict === "fail" || end === "interrupted") return EXIT_CODES.failed
  if (end === "unreachable") return EXIT_CODES.unreachable
  if (end === "budget") return EXIT_CODES.budget
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
    ...distributionLines(one.stability, one.flips),
    ...one.checks.map(({ message, name, verdict }) => `  ${verdict}  ${name}: ${plainText(message)}`),
    ...one.warnings.map((warning) => `  warning  ${plainText(warning)}`),
    ""
  ]),
  ...(report.end === undefined ? [] : [ENDS[report.end]]),
  `${bold(report.verdict.toUpperCase())}  gate ${report.gate}, ${usdText(report.spentUsd, 4)}`,
  ...(report.page === undefined ? [] : [report.page])
]
