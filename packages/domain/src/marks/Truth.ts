import type { Deliberation } from "../insight/Deliberation.ts"
import { correctFlag, decisionNames, namedTruth } from "./Correct.ts"
import type { MarkSource, MarkValue } from "./Mark.ts"

/** A current mark `correct` on a decision. */
export interface TruthMark {
  /** Index of the decision in its run; undefined judges the last one. */
  readonly index: number | undefined
  readonly value: MarkValue
  readonly source: MarkSource
  /** Sorts by time. */
  readonly createdAt: string
  /** Outputs of the scenario of the run, which a text can name; absent without any. */
  readonly outputs?: ReadonlyArray<string>
}

/**
 * Whether the last decision of a run was right (docs/reference/marks.md#truth): the latest mark on it that says so, of
 * people, rules and other systems before those of judges. Undefined without one, and without a decision.
 */
export const truthOf = (
  marks: ReadonlyArray<TruthMark>,
  run: Pick<Deliberation, "acts" | "commitment">
): boolean | undefined => {
  const { commitment } = run
  if (commitment === undefined) return undefined
  const latest = marks
    .filter((mark) => (mark.index ?? commitment.index) === commitment.index)
    .toSorted(
      (one, other) =>
        Number(one.source === "judge") - Number(other.source === "judge") ||
        (one.createdAt < other.createdAt ? 1 : one.createdAt > other.createdAt ? -1 : 0)
    )
  for (const { outputs, value } of latest) {
    const truth = isRight(value, run, commitment, outputs)
    if (truth !== undefined) return truth
  }
  return undefined
}

/** Undefined for a value that does not judge the decision, such as a text that names nothing of the run. */
const isRight = (
  value: MarkValue,
  run: Pick<Deliberation, "acts">,
  commitment: NonNullable<Deliberation["commitment"]>,
  outputs: ReadonlyArray<string> | undefined
): boolean | undefined => {
  const flag = correctFlag(value)
  if (flag !== undefined || typeof value !== "string") return flag
  const truth = namedTruth(value, decisionNames(run, commitment, outputs))
  return truth === "right" ? true : truth === "wrong" ? false : undefined
}
