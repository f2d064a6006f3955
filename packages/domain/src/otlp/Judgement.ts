import { correctFlag } from "../marks/Correct.ts"
import {
  CORRECT,
  MAX_JUDGE_TEXT,
  MAX_MARK_CATEGORY,
  MAX_MARK_COMMENT,
  MAX_MARK_NAME,
  type MarkJudge,
  type MarkValue
} from "../marks/Mark.ts"
import { toOneLine } from "../values/Field.ts"
import { type TraceFoldMark, type TraceFoldOptions, uuidOf } from "./fold/Output.ts"

/** A judgement of telemetry as a mark (docs/reference/ingest.md#judgements). */
export interface Judgement {
  /** A UUID that depends on the run, the span or log record, and the position of the judgement in it. */
  readonly id: string
  readonly name: string
  /** The stated values that the name allows, the preferred one first. */
  readonly values: ReadonlyArray<MarkValue>
  readonly comment?: string
  readonly judge: MarkJudge
}

/** Name of a judgement whose own name has no letter. */
const NAMELESS = "evaluation"

export const judgementOf = (
  mark: TraceFoldMark,
  { runId, sha256 }: Pick<TraceFoldOptions, "runId" | "sha256">
): Judgement => {
  const name = markNameOf(mark.name)
  const stated = [mark.value, ...(mark.label === undefined ? [] : [mark.label])].flatMap(markValueOf)
  const comment = mark.explanation?.slice(0, MAX_MARK_COMMENT).toWellFormed()
  return {
    id: uuidOf(sha256(`${runId} mark ${mark.id}`)),
    name,
    values: name === CORRECT ? stated.flatMap(truthOf) : stated,
    ...(comment !== undefined && { comment }),
    judge: { name: toOneLine(mark.name, MAX_JUDGE_TEXT) || NAMELESS }
  }
}

/** A name by the rule of names: other characters become `_`, and it begins with a letter. */
const markNameOf = (name: string): string => {
  const cleaned = name
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^[^A-Za-z]+/, "")
    .slice(0, MAX_MARK_NAME)
    .replace(/_+$/, "")
  return cleaned === "" ? NAMELESS : cleaned
}

const markValueOf = (value: MarkValue): ReadonlyArray<MarkValue> => {
  if (typeof value !== "string") return [value]
  const category = toOneLine(value, MAX_MARK_CATEGORY)
  return category === "" ? [] : [category]
}

/** Evaluators score a truth as 1 or 0; a text is read as in all marks, once the names of the decision are known. */
const truthOf = (value: MarkValue): ReadonlyArray<MarkValue> => {
  const flag = value === 1 ? true : value === 0 ? false : correctFlag(value)
  if (flag !== undefined) return [flag]
  return typeof value === "number" ? [] : [value]
}
