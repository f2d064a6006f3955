import type { Commitment } from "../insight/Deliberation.ts"
import type { MarkSource, MarkValue } from "./Mark.ts"

/** A current mark `correct` on a decision. */
export interface TruthMark {
  /** Index of the decision in its run; undefined judges the last one. */
  readonly index: number | undefined
  readonly value: MarkValue
  readonly source: MarkSource
  /** Sorts by time. */
  readonly createdAt: string
}

/**
 * Whether the decision of a run was right (docs/reference/marks.md#truth): the latest mark on it, of people, rules and
 * other systems before those of judges. Undefined without one.
 */
export const truthOf = (
  marks: ReadonlyArray<TruthMark>,
  { action, index }: Pick<Commitment, "action" | "index">
): boolean | undefined => {
  const [first] = marks
    .filter((mark) => (mark.index ?? index) === index && typeof mark.value !== "number")
    .toSorted(
      (one, other) =>
        Number(one.source === "judge") - Number(other.source === "judge") ||
        (one.createdAt < other.createdAt ? 1 : one.createdAt > other.createdAt ? -1 : 0)
    )
  return first === undefined ? undefined : isRight(first.value, action)
}

/** An action that would have been right names the decided one, in any case, with or without what is before its dot. */
const isRight = (value: MarkValue, action: string): boolean => {
  if (typeof value !== "string") return value === true
  const wanted = value.trim().toLowerCase()
  const decided = action.trim().toLowerCase()
  return wanted === decided || wanted === decided.slice(decided.lastIndexOf(".") + 1)
}
