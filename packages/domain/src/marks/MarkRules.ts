import { COMMENT, CORRECT, type Mark, type MarkTarget, type MarkValue } from "./Mark.ts"
import type { MarkDefinition } from "./MarkDefinition.ts"

/** The definitions that come with the product (docs/reference/marks.md#definitions). */
export const reservedDefinitions: ReadonlyArray<MarkDefinition> = [
  {
    name: CORRECT,
    kind: "flag",
    better: "true",
    description: "Whether a decision was right; a text names the action, option or output that would have been right",
    reserved: true
  },
  {
    name: COMMENT,
    kind: "flag",
    description: "A remark, whose text is the comment of the mark; an author can add several",
    reserved: true
  }
]

/** The type of the events that marks of a kind judge; undefined for any event, and for targets that are no event. */
export const targetEventTypes = {
  run: undefined,
  participant: undefined,
  event: undefined,
  decision: "decision.finalized",
  llmCall: "llm.call.completed"
} as const

/** Why a value breaks the definition of its name, naming `value`; undefined when it keeps it. */
export const valueProblem = (definition: MarkDefinition | undefined, value: MarkValue): string | undefined => {
  if (definition === undefined) return undefined
  const { categories = [], kind, max, min, name } = definition
  if (name === CORRECT) {
    return typeof value === "number" ? `value of ${CORRECT} must be true, false, or the text of an action` : undefined
  }
  if (name === COMMENT) return value === true ? undefined : `value of ${COMMENT} must be true`
  switch (kind) {
    case "flag":
      return typeof value === "boolean" ? undefined : `value of ${name} must be true or false`
    case "category":
      return typeof value === "string" && categories.includes(value)
        ? undefined
        : `value of ${name} must be one of the following values: ${categories.join(", ")}`
    case "number":
      return typeof value === "number" && value >= (min ?? value) && value <= (max ?? value)
        ? undefined
        : `value of ${name} must be a number${rangeText(min, max)}`
  }
}

/** Why a mark is not a remark, naming `comment`; undefined for a remark with a text, and for marks of other names. */
export const commentProblem = ({ comment = "", name }: Pick<Mark, "comment" | "name">): string | undefined =>
  name === COMMENT && comment.trim() === "" ? "comment must have the text of the remark" : undefined

const rangeText = (min: number | undefined, max: number | undefined): string => {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? "" : ` of at most ${max}`
}

/** Why the parts of a definition contradict each other; undefined when they do not. */
export const definitionProblem = ({
  better,
  categories,
  kind,
  max,
  min
}: Omit<MarkDefinition, "name" | "reserved">): string | undefined => {
  if (kind !== "number" && (min !== undefined || max !== undefined)) return `min and max are for numbers, not a ${kind}`
  if (min !== undefined && max !== undefined && min > max) return "min must not be larger than max"
  if (kind === "category" && categories === undefined) return "categories must list the values of a category"
  if (kind !== "category" && categories !== undefined) return `categories are for a category, not a ${kind}`
  const allowed: ReadonlyArray<string> = BETTER[kind]
  return better === undefined || allowed.includes(better)
    ? undefined
    : `better of a ${kind} must be one of the following values: ${allowed.join(", ")}`
}

const BETTER = { number: ["higher", "lower"], flag: ["true", "false"], category: ["first"] } as const

/**
 * Why a target has not the form of its kind, naming `target.id` or `target.kind`; undefined when it has. A decision
 * without an id is the last one of the run.
 */
export const targetProblem = (name: string, { id, kind }: MarkTarget): string | undefined => {
  if (name === CORRECT && kind !== "decision") return `target.kind of ${CORRECT} must be decision`
  if (kind === "run") return id === undefined ? undefined : "target.id must be absent for a run"
  if (kind === "decision" || id !== undefined) return undefined
  return `target.id must be ${NEEDED[kind]}`
}

const NEEDED = {
  participant: "the id of a participant",
  event: "the id of an event",
  llmCall: "the id of an event llm.call.completed"
} as const

/** Identifies the rater of a mark: its judge, else its author. */
export const raterOf = ({ author, judge }: Pick<Mark, "author" | "judge">): string =>
  judge === undefined ? author : `judge:${judge.name}`

/** Whether a later mark of the same rater replaces a mark of this name on the same target. */
export const isReplaceable = (name: string): boolean => name !== COMMENT
