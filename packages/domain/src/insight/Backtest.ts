import type { CanonicalEventType } from "../events/CanonicalEventType.ts"
import { type PolicyText, policyReader, type readPolicy } from "../policies/Policy.ts"
import { ruleModeName } from "./Act.ts"
import { underPolicy } from "./ActivePolicy.ts"
import type { Deliberation } from "./Deliberation.ts"
import type { OutcomeName } from "./Forecast.ts"
import { positionUnder } from "./Position.ts"

export type SkipReason =
  | "no decision"
  | "an outcome that nobody stated"
  | "another mode"
  | "a policy that cannot be read"
  | "nothing on record"

/** The result of another policy for one run. */
export type Backtested =
  | { readonly kind: "skipped"; readonly reason: SkipReason }
  | { readonly kind: "unchanged" }
  | {
      readonly kind: "flipped"
      readonly runId: string
      readonly from: OutcomeName
      /** The opposite when that would have been allowed, else no decision. */
      readonly to: OutcomeName | "none"
      readonly reasons: ReadonlyArray<string>
      /** Keys of the rules that refuse, each once. */
      readonly rules: ReadonlyArray<string>
    }

/**
 * Types of the events that a backtest reads: a run's deliberation made of these alone is evaluated as that of all its
 * events. Of `message.received` only those that open a session count, whose `messageType` is `SESSION_START`.
 */
export const BACKTEST_TYPES: ReadonlyArray<CanonicalEventType> = [
  "run.created",
  "session.bound",
  "session.state.changed",
  "message.received",
  "proposal.created",
  "proposal.updated",
  "decision.finalized"
]
export const SESSION_START = "SessionStart"

/** The step of a backtest: holds a run's commitment against a policy, which is read once for each release. */
export const backtestOf = (policy: PolicyText): ((run: Deliberation) => Backtested) => {
  const read = policyReader()
  return (run) => backtestRun(run, policy, read)
}

const backtestRun = (run: Deliberation, policy: PolicyText, read: typeof readPolicy): Backtested => {
  const { commitment } = run
  if (commitment === undefined) return { kind: "skipped", reason: "no decision" }
  if (commitment.positive === null) return { kind: "skipped", reason: "an outcome that nobody stated" }
  const { sessionRules } = underPolicy(run, policy, read)
  if (sessionRules === undefined) {
    const isOther = run.mode === undefined || (policy.mode !== "*" && policy.mode !== ruleModeName(run.modeName))
    return { kind: "skipped", reason: isOther ? "another mode" : "a policy that cannot be read" }
  }
  const { positive } = commitment
  const acts = run.acts.filter(({ index }) => index < commitment.index)
  const position = positionUnder(run, sessionRules)
  const objections = position.objections(acts, positive)
  if (objections.length === 0) return { kind: "unchanged" }
  const opposite: OutcomeName = positive ? "negative" : "positive"
  return {
    kind: "flipped",
    runId: run.runId,
    from: positive ? "positive" : "negative",
    to: position.isAllowed(acts, !positive) ? opposite : "none",
    reasons: objections.map(({ text }) => text),
    rules: [...new Set(objections.map(({ rule }) => rule))]
  }
}

/** What a backtest has found so far; its size does not grow with the runs. */
export interface BacktestSummary {
  readonly examined: number
  readonly unchanged: number
  readonly flipped: number
  /** Runs that could not be held against the policy, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  /** Flipped runs by the rule that refuses them; a run may count under several. */
  readonly byRule: Readonly<Record<string, number>>
}

export const emptyBacktest: BacktestSummary = { examined: 0, unchanged: 0, flipped: 0, skipped: {}, byRule: {} }

export const addToBacktest = (so: BacktestSummary, one: Backtested): BacktestSummary => {
  const examined = so.examined + 1
  switch (one.kind) {
    case "skipped":
      return { ...so, examined, skipped: { ...so.skipped, [one.reason]: (so.skipped[one.reason] ?? 0) + 1 } }
    case "unchanged":
      return { ...so, examined, unchanged: so.unchanged + 1 }
    case "flipped": {
      const counted = one.rules.map((rule) => [rule, (so.byRule[rule] ?? 0) + 1] as const)
      return { ...so, examined, flipped: so.flipped + 1, byRule: { ...so.byRule, ...Object.fromEntries(counted) } }
    }
  }
}

/** Runs that an answer names as examples, the first ones. */
export const MAX_TRUTH_EXAMPLES = 20

/** Outcomes of known truth, as they were and as the policy would have had them (docs/reference/marks.md#truth). */
export interface BacktestTruth {
  /** Runs whose truth is known and that the policy says something about. */
  readonly judged: number
  /** Of these, outcomes that were right. */
  readonly right: number
  /** Of these, outcomes that would have been right. */
  readonly rightUnderPolicy: number
  /** Runs that the policy would have got right, unlike their outcome. */
  readonly gained: ReadonlyArray<string>
  /** Runs that the policy would have got wrong, unlike their outcome. */
  readonly lost: ReadonlyArray<string>
}

export const emptyBacktestTruth: BacktestTruth = { judged: 0, right: 0, rightUnderPolicy: 0, gained: [], lost: [] }

/**
 * Adds a run; `truth` says whether its outcome was right. The opposite of a wrong outcome is right, no decision is not.
 */
export const addBacktestTruth = (
  so: BacktestTruth,
  runId: string,
  one: Backtested,
  truth: boolean | undefined
): BacktestTruth => {
  if (truth === undefined || one.kind === "skipped") return so
  const isRight = one.kind === "unchanged" ? truth : !truth && one.to !== "none"
  const named = (runIds: ReadonlyArray<string>, isExample: boolean) =>
    isExample && runIds.length < MAX_TRUTH_EXAMPLES ? [...runIds, runId] : runIds
  return {
    judged: so.judged + 1,
    right: so.right + (truth ? 1 : 0),
    rightUnderPolicy: so.rightUnderPolicy + (isRight ? 1 : 0),
    gained: named(so.gained, isRight && !truth),
    lost: named(so.lost, !isRight && truth)
  }
}
