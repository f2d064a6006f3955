import { isBlank } from "../values/Field.ts"
import { type AnswerContent, isAllowedAct, isLastWord } from "./AnswerAct.ts"
import type { ItemState } from "./ItemLife.ts"
import type { SeatMode, SeatRules } from "./SeatRules.ts"
import type { Staleness } from "./Staleness.ts"

/** Characters of a reason. */
export const MAX_REASON = 4_000

/** An answer that an item already has. */
export interface GivenAnswer {
  /** Undefined for an act of the deadline. */
  readonly person: string | undefined
  readonly content: AnswerContent
  readonly proposalHash: string
  readonly answeredAtUnixMs: number
}

/** What an answer is checked against, all of it read under the lock of the item. */
export interface CheckedItem {
  readonly state: ItemState
  readonly mode: SeatMode
  readonly rules: SeatRules
  readonly proposalHash: string
  readonly deadlineUnixMs: number | undefined
  readonly given: GivenAnswer | undefined
  /** Undefined while the basis of the person holds. */
  readonly staleness: Staleness | undefined
  readonly takesEvaluations: boolean
}

export interface SubmittedAnswer {
  readonly person: string
  readonly content: AnswerContent
  readonly proposalHash: string
}

export type AnswerVerdict =
  | { readonly _tag: "store" }
  /** The same person has sent the same content: the answer is the first one again. */
  | { readonly _tag: "same" }
  | { readonly _tag: "answered"; readonly by: GivenAnswer }
  | { readonly _tag: "stale"; readonly was: string; readonly now: string; readonly staleness: Staleness | undefined }
  /** Too late, or closed: the state is what happened instead. */
  | { readonly _tag: "gone"; readonly state: ItemState }
  | { readonly _tag: "not-open" }
  | { readonly _tag: "invalid"; readonly field: string; readonly message: string }

/**
 * What happens to an answer. Who may answer is checked before. An answer that is stored decides; after it comes what
 * closed the item, and only then what is wrong with the answer itself.
 */
export const checkAnswer = (item: CheckedItem, submitted: SubmittedAnswer, nowUnixMs: number): AnswerVerdict => {
  const { given, state } = item
  if (given !== undefined) return isSameAnswer(given, submitted) ? { _tag: "same" } : { _tag: "answered", by: given }
  if (state === "waiting") return { _tag: "not-open" }
  if (state === "stale" || submitted.proposalHash !== item.proposalHash || item.staleness !== undefined) {
    return { _tag: "stale", was: submitted.proposalHash, now: item.proposalHash, staleness: item.staleness }
  }
  if (state !== "open") return { _tag: "gone", state }
  if (item.deadlineUnixMs !== undefined && nowUnixMs >= item.deadlineUnixMs) return { _tag: "gone", state: "expired" }
  return contentFault(item, submitted.content) ?? { _tag: "store" }
}

const invalid = (field: string, message: string): AnswerVerdict => ({ _tag: "invalid", field, message })

const contentFault = (
  { mode, rules, takesEvaluations }: CheckedItem,
  { act, confidence, reason, recommendation, severity }: AnswerContent
): AnswerVerdict | undefined => {
  if (!isAllowedAct(mode, rules.acts, act)) return invalid("act", `this seat has no "${act}"`)
  if (!isLastWord(act) && !takesEvaluations) {
    return invalid("act", `"${act}" is closed: after the first vote the session takes no evaluation and no objection`)
  }
  if (act === "evaluate" && recommendation === undefined) return invalid("recommendation", "an evaluation needs one")
  if (act !== "evaluate" && recommendation !== undefined) return invalid("recommendation", `"${act}" has none`)
  if (act !== "object" && severity !== undefined) return invalid("severity", `"${act}" has none`)
  if (confidence !== undefined && !(confidence >= 0 && confidence <= 1)) {
    return invalid("confidence", "must be a number from 0 to 1")
  }
  if (reason.length > MAX_REASON) return invalid("reason", `must have at most ${MAX_REASON} characters`)
  if (rules.reason === "required" && isBlank(reason)) return invalid("reason", "this seat requires one")
  return undefined
}

/** Whether an answer repeats the one that is stored. */
export const isSameAnswer = (given: GivenAnswer, { content, person, proposalHash }: SubmittedAnswer): boolean =>
  given.person === person &&
  given.proposalHash === proposalHash &&
  given.content.act === content.act &&
  given.content.recommendation === content.recommendation &&
  given.content.confidence === content.confidence &&
  given.content.severity === content.severity &&
  given.content.reason === content.reason
