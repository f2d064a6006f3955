import { changeOf } from "../charts/Series.ts"
import { duration, percent } from "../format/Format.ts"

/** What is compared of one run. */
export interface Side {
  readonly action: string | undefined
  /** Null when unknown, undefined while open. */
  readonly positive: boolean | null | undefined
  /** Undefined when calls have no usage. */
  readonly costUsd: number | undefined
  /** Whether a part of the cost is a guess. */
  readonly isGuessed: boolean
}

/** What the verdict needs of a comparison of the service. */
export interface Compared {
  readonly left: { readonly durationMs?: number }
  readonly durationDeltaMs?: number
  readonly divergence: { readonly left: { readonly index: number }; readonly what: string } | null
}

const SMALL = 0.005

/** The comparison of two runs in one sentence: outcome, cost, time, and the first difference. */
export const verdictOf = (left: Side, right: Side, { divergence, durationDeltaMs, left: first }: Compared): string =>
  [outcomeWords(left, right), costWords(left, right), timeWords(durationDeltaMs, first.durationMs)]
    .filter((words) => words !== "")
    .join(", ")
    .concat(
      divergence === null
        ? "; the messages do not differ."
        : `; first difference at event ${divergence.left.index}: ${divergence.what}.`
    )

const outcomeWords = (left: Side, right: Side): string => {
  if (left.action === undefined && right.action === undefined) return "Neither run has a decision"
  if (left.action === undefined) return "Only the right run has a decision"
  if (right.action === undefined) return "Only the left run has a decision"
  return left.action === right.action && left.positive === right.positive ? "Same outcome" : "Different outcome"
}

const costWords = (left: Side, right: Side): string => {
  const change = changeOf(right.costUsd, left.costUsd)
  const about = left.isGuessed || right.isGuessed ? "≈ " : ""
  if (change === undefined) return ""
  if (Math.abs(change) < SMALL) return `${about}same cost`
  return `the right run ${about}${percent(Math.abs(change))} ${change > 0 ? "more expensive" : "cheaper"}`
}

const timeWords = (deltaMs: number | undefined, leftMs: number | undefined): string => {
  if (deltaMs === undefined || leftMs === undefined || leftMs === 0) return ""
  if (Math.abs(deltaMs) / leftMs < SMALL) return ""
  return `${duration(Math.abs(deltaMs))} ${deltaMs > 0 ? "slower" : "faster"}`
}
