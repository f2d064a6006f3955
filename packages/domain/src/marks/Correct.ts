import { isOpening, STANDARD_MODES } from "../insight/Act.ts"
import type { Commitment, Deliberation } from "../insight/Deliberation.ts"
import { inferOutcome } from "../run/Outcome.ts"
import { CORRECT, type MarkValue } from "./Mark.ts"

/** Texts that say whether a decision was right, in any case (docs/reference/marks.md#truth). */
const FLAG_TEXTS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["correct", true],
  ["right", true],
  ["false", false],
  ["no", false],
  ["incorrect", false],
  ["wrong", false]
])

/** The flag that a value of `correct` is; undefined for a number, and for a text that may name an action. */
export const correctFlag = (value: MarkValue): boolean | undefined =>
  typeof value === "boolean"
    ? value
    : typeof value === "string"
      ? FLAG_TEXTS.get(value.trim().toLowerCase())
      : undefined

/** A proposal of a run. */
export interface NamedOption {
  readonly id: string
  /** What it proposes, in words. */
  readonly text: string | undefined
}

/** The names by which a text of `correct` can judge a decision. */
export interface DecisionNames {
  readonly action: string
  /** Null when the outcome is not stated. */
  readonly positive: boolean | null
  /** The proposal that the decision is about; undefined where the log does not say which of several. */
  readonly decided: NamedOption | undefined
  /** All proposals up to the decision. */
  readonly options: ReadonlyArray<NamedOption>
  /** The outputs that the scenario declares. */
  readonly outputs: ReadonlyArray<string>
}

/** The names of a run's decision. `outputs` are those of its scenario, where the run records them. */
export const decisionNames = (
  { acts }: Pick<Deliberation, "acts">,
  { action, index, positive, proposalId }: Pick<Commitment, "action" | "index" | "positive" | "proposalId">,
  outputs: ReadonlyArray<string> = []
): DecisionNames => {
  const options = acts.flatMap(
    (act): ReadonlyArray<NamedOption> =>
      act.index < index && STANDARD_MODES.some((mode) => isOpening(mode, act.type))
        ? [{ id: act.proposalId, text: act.option }]
        : []
  )
  const named = options.find(({ id }) => id !== "" && id === proposalId)
  const byAction = options.filter((option) => isNameOf(option, plain(action)))
  const ids = new Set(options.map(({ id }) => id))
  return {
    action,
    positive,
    decided: named ?? (byAction.length === 1 ? byAction[0] : ids.size === 1 ? options.at(-1) : undefined),
    options,
    outputs
  }
}

/** Without differences of case, and of spaces, `_` and `-` between words. */
const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, "_")

/** The last dot-separated part, as the runtime sends `decision.approved`. */
const tail = (text: string): string => text.slice(text.lastIndexOf(".") + 1)

const isNameOf = ({ id, text }: NamedOption, name: string): boolean =>
  (id !== "" && plain(id) === name) || (text !== undefined && plain(text) === name)

const isAction = (action: string, name: string): boolean => {
  const decided = plain(action)
  return name === decided || name === tail(decided) || tail(name) === decided
}

/** Words of a go or no-go call beside those that `inferOutcome` knows. */
const CALLS: ReadonlyMap<string, boolean> = new Map([
  ["go", true],
  ["proceed", true],
  ["no_go", false],
  ["nogo", false],
  ["hold", false],
  ["stop", false],
  ["abort", false]
])

/** Whether a name alone says yes or no: `approved`, `no_go`; undefined for all others. */
const saysYes = (name: string): boolean | undefined => inferOutcome(name) ?? CALLS.get(name)

/** The same of an output, which also says no by its first word: `not_taken`. Other texts do not: `not sure`. */
const outputSaysYes = (name: string): boolean | undefined =>
  saysYes(name) ?? (/^(?:no|not)_/.test(name) ? false : undefined)

/** How a text that names an action, an option or an output judges a decision. */
export type NamedTruth = "right" | "wrong" | "unclear" | "unknown"

/**
 * How the action, option or output that would have been right judges the decision (docs/reference/marks.md#truth):
 * `unclear` where the log does not say which of them the decision chose, `unknown` for every other text.
 */
export const namedTruth = (text: string, names: DecisionNames): NamedTruth => {
  const { action, decided, options, outputs, positive } = names
  const name = plain(text)
  const judged = (isRight: boolean): NamedTruth => (isRight ? "right" : "wrong")
  if (isAction(action, name)) return "right"
  if (decided !== undefined && isNameOf(decided, name)) return judged(positive !== false)
  if (options.some((option) => isNameOf(option, name))) {
    return decided !== undefined || positive === false ? "wrong" : "unclear"
  }
  const plainOutputs = outputs.map(plain)
  const isOutput = plainOutputs.includes(name)
  const choosesOutput = plainOutputs.some(
    (output) => isAction(action, output) || (positive !== false && decided !== undefined && isNameOf(decided, output))
  )
  if (isOutput && choosesOutput) return "wrong"
  const yes = isOutput ? outputSaysYes(name) : saysYes(name)
  // `decision.selected` says no more than yes, unless the option itself says more.
  const said = positive === false ? false : (saysYes(plain(decided?.text ?? "")) ?? positive)
  if (yes !== undefined && said !== null && inferOutcome(action) !== null) return judged(yes === said)
  if (yes !== undefined && (positive === null || saysYes(tail(plain(action))) !== undefined)) return "wrong"
  return isOutput || yes !== undefined ? "unclear" : "unknown"
}

/** Names that a refusal lists, and characters of each. */
const MAX_LISTED = 10
const MAX_LISTED_LENGTH = 60

/** A value of `correct` as it is stored, or why no decision can be judged by it, naming `value`. */
export type CorrectValue = { readonly value: MarkValue } | { readonly problem: string }

/**
 * What a value of `correct` means for a decision, the same for all ways in: a flag, a text that is one, or the action,
 * option or output that would have been right.
 */
export const correctValue = (value: MarkValue, names: DecisionNames): CorrectValue => {
  if (typeof value === "number") return { problem: `value of ${CORRECT} must be true, false, or the text of an action` }
  const flag = correctFlag(value)
  if (typeof value === "boolean") return { value }
  const truth = namedTruth(value, names)
  if (flag !== undefined) {
    const isNamed = truth === "right" || truth === "wrong"
    return isNamed && names.options.some((option) => isNameOf(option, plain(value))) && (truth === "right") !== flag
      ? { problem: `value of ${CORRECT} must be true or false, because ${value} is an option of the run too` }
      : { value: flag }
  }
  if (truth === "right" || truth === "wrong") return { value }
  return {
    problem:
      truth === "unclear"
        ? `value of ${CORRECT} must be true or false, because the decision ${cut(names.action)} cannot be compared with ${cut(value)}`
        : `value of ${CORRECT} must be true, false, or an action, option or output of the run (${listed(names)}): ${cut(value)}`
  }
}

const cut = (text: string): string => (text.length > MAX_LISTED_LENGTH ? `${text.slice(0, MAX_LISTED_LENGTH)}…` : text)

const listed = ({ action, options, outputs }: DecisionNames): string => {
  const all = [...new Set([action, ...options.map(({ id, text }) => text ?? id), ...outputs])].filter(
    (name) => name !== ""
  )
  const shown = all.slice(0, MAX_LISTED).map(cut)
  return [...shown, ...(all.length > MAX_LISTED ? [`${all.length - MAX_LISTED} more`] : [])].join(", ")
}
