import type { InboxEntry, InboxItem } from "@runplane/api"
import type { AnswerAct, ItemState, OutcomeStatus } from "@runplane/domain"
import type { Tone } from "../format/Status.ts"

/** The state of an item in words and colour. */
export const STATES: Readonly<Record<ItemState, { readonly word: string; readonly tone: Tone }>> = {
  waiting: { word: "Not yet", tone: "calm" },
  open: { word: "Open", tone: "accent" },
  answered: { word: "Answered", tone: "accent" },
  sent: { word: "Sent", tone: "accent" },
  accepted: { word: "Accepted", tone: "good" },
  stale: { word: "Stale", tone: "warn" },
  "not-needed": { word: "Not needed", tone: "calm" },
  expired: { word: "No answer", tone: "warn" },
  withdrawn: { word: "Withdrawn", tone: "calm" },
  refused: { word: "Refused", tone: "bad" },
  unknown: { word: "Unknown", tone: "bad" }
}

/** The states of the two lists. */
export const OPEN_STATES: ReadonlyArray<ItemState> = ["waiting", "open", "answered", "sent"]
export const CLOSED_STATES: ReadonlyArray<ItemState> = [
  "accepted",
  "stale",
  "not-needed",
  "expired",
  "withdrawn",
  "refused",
  "unknown"
]

/** What a closed item means; undefined for one that goes on. */
export const closedText = ({ reason, state }: Pick<InboxEntry, "reason" | "state">): string | undefined => {
  const why = reason === undefined ? "" : `: ${reason}`
  switch (state) {
    case "accepted":
      return "The session has the answer on record."
    case "stale":
      return `The question has changed${why}.`
    case "not-needed":
      return `No act of this seat changes the outcome any more${why}.`
    case "expired":
      return `No answer came by the deadline${why}.`
    case "withdrawn":
      return `The session needs no answer any more${why}.`
    case "refused":
      return `The runtime refused the answer${why}.`
    case "unknown":
      return `The answer was sent, and its message was found nowhere${why}.`
    default:
      return undefined
  }
}

/** What a button of an act says. */
export const ACTS: Readonly<Record<AnswerAct, string>> = {
  approve: "Approve",
  reject: "Reject",
  abstain: "Abstain",
  evaluate: "Evaluate",
  object: "Object",
  accept: "Accept",
  decline: "Decline"
}

/** What an act was, for a sentence with its author before it. */
export const DONE: Readonly<Record<AnswerAct, string>> = {
  approve: "approved",
  reject: "rejected",
  abstain: "abstained",
  evaluate: "evaluated it",
  object: "objected",
  accept: "accepted",
  decline: "declined"
}

/** Acts whose reason comes before the confirmation. */
export const REFUSING: ReadonlySet<AnswerAct> = new Set(["reject", "object", "decline"])

/** Acts with a confidence: a vote has it in the record of the run alone. */
export const CONFIDENT: ReadonlySet<AnswerAct> = new Set(["evaluate", "approve", "reject"])

/** A confidence as a person types it: absent, a number from 0 to 1, or neither. */
export const confidenceIn = (text: string): number | undefined | "invalid" => {
  const trimmed = text.trim().replace(",", ".")
  if (trimmed === "") return undefined
  const value = /^\d*\.?\d+$|^\d+\.$/.test(trimmed) ? Number(trimmed) : Number.NaN
  return value >= 0 && value <= 1 ? value : "invalid"
}

const POSITIVE: Readonly<Record<OutcomeStatus, string>> = {
  met: "approval can be committed at once",
  certain: "approval is certain once all have acted",
  possible: "approval stays possible",
  impossible: "approval becomes impossible"
}
const NEGATIVE: Readonly<Record<OutcomeStatus, string>> = {
  met: "a rejection can be committed at once",
  certain: "a rejection is certain once all have acted",
  possible: "a rejection stays possible",
  impossible: "a rejection becomes impossible"
}

/** "Approval can be committed at once; a rejection stays possible." */
export const consequenceText = ({ negative, positive }: NonNullable<InboxItem["consequences"]>[number]): string => {
  const text = `${POSITIVE[positive]}; ${NEGATIVE[negative]}`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** Why what the acts lead to is not shown. */
export const noConsequences = ({ basis, policy }: Pick<InboxItem, "basis" | "policy">): string => {
  if (basis === undefined) return "What each answer leads to is unknown until the session is read again."
  if (policy.lines.length === 0)
    return "What each answer leads to is unknown: the rules of the session could not be read."
  return "What each answer leads to is withheld until you have answered: it would show the votes of others."
}

/** How many messages are withheld, in a sentence; undefined for none. */
export const withheldText = ({ basis }: Pick<InboxItem, "basis">): string | undefined => {
  const count = basis?.withheld.length ?? 0
  if (count === 0) return undefined
  return count === 1
    ? "One message of another participant is withheld until you have answered."
    : `${count} messages of other participants are withheld until you have answered.`
}

/** "Escalated to group:risk-leads": the steps that were made, each with its time. */
export const escalatedLines = ({ escalations }: Pick<InboxItem, "escalations">) =>
  escalations.map(({ at, reach, step, to }) => ({
    step,
    at,
    text: `Escalated to ${to.join(", ")}`,
    missing: reach === "none" ? "no person of these may answer" : reach === "unknown" ? "no member is known" : undefined
  }))

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long an item takes an answer: `4 min left`, `2 h 05 min left`, `deadline passed`. */
export const timeLeft = (deadline: number, now: number): string => {
  const left = deadline - now
  if (!Number.isFinite(left)) return "unknown deadline"
  if (left <= 0) return "deadline passed"
  if (left < MINUTE) return `${Math.ceil(left / SECOND)} s left`
  if (left < HOUR) return `${Math.floor(left / MINUTE)} min left`
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0")
  if (left < DAY) return `${Math.floor(left / HOUR)} h ${two((left % HOUR) / MINUTE)} min left`
  return `${Math.floor(left / DAY)} d ${Math.floor((left % DAY) / HOUR)} h left`
}

/** Signs of a hash that a person compares. */
export const shortHash = (hash: string): string => hash.slice(0, 8)
