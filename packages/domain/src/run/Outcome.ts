import { booleanAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

const POSITIVE: ReadonlySet<string> = new Set(["approve", "approved", "accept", "accepted", "selected", "completed"])
const NEGATIVE: ReadonlySet<string> = new Set([
  "reject",
  "rejected",
  "decline",
  "declined",
  "failed",
  "deny",
  "denied",
  "blocked"
])

/**
 * Infers from an action whether the decision was positive, null when it is neither (`step_up`). The last
 * dot-separated part counts, in any case, because the runtime sends `decision.approved`.
 */
export const inferOutcome = (action: string): boolean | null => {
  const word = action.slice(action.lastIndexOf(".") + 1).toLowerCase()
  if (POSITIVE.has(word)) return true
  return NEGATIVE.has(word) ? false : null
}

/** The outcome of a commitment: as stated in its payload, else inferred from its action. */
export const outcomeOf = (payload: JsonObject): boolean | null =>
  booleanAt(payload, "outcomePositive", "outcome_positive") ?? inferOutcome(textAt(payload, "action") ?? "")

export type Vote = "allow" | "deny"

const ALLOW_WORDS: ReadonlySet<string> = new Set(["APPROVE", "ACCEPT", "ALLOW", "YES"])
const DENY_WORDS: ReadonlySet<string> = new Set(["REJECT", "DENY", "BLOCK", "NO"])
const ALLOW_TYPES: ReadonlySet<string> = new Set(["Accept", "Approve", "TaskAccept", "HandoffAccept"])
const DENY_TYPES: ReadonlySet<string> = new Set(["Reject", "TaskReject", "HandoffDecline"])

/**
 * The vote that a contribution casts: from the vote or recommendation that it states, in any case, else from its
 * message type; undefined for an abstention, a REVIEW and whatever casts none.
 */
export const voteOf = (messageType: string, stated: string | undefined): Vote | undefined => {
  const word = stated?.trim().toUpperCase()
  if (word !== undefined) {
    if (ALLOW_WORDS.has(word)) return "allow"
    if (DENY_WORDS.has(word)) return "deny"
  }
  if (ALLOW_TYPES.has(messageType)) return "allow"
  return DENY_TYPES.has(messageType) ? "deny" : undefined
}
