import { inferOutcome } from "./Outcome.ts"

/** What the standard actions of the modes commit, in words. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["decision.selected", "an approval"],
  ["decision.approved", "an approval"],
  ["decision.rejected", "a decline"],
  ["decision.declined", "a decline"],
  ["quorum.approved", "an approval"],
  ["quorum.rejected", "a decline"],
  ["proposal.accepted", "an agreement"],
  ["proposal.rejected", "the negotiation as failed"],
  ["task.completed", "the task as done"],
  ["task.failed", "the task as failed"],
  ["task.rejected", "the task as refused"],
  ["handoff.accepted", "the handoff as accepted"],
  ["handoff.declined", "the handoff as declined"]
])

/**
 * What a commitment commits, in words: "an approval". Undefined for an action of the participants' own, which is its
 * own word, and for one that contradicts the stated outcome.
 */
export const committedWords = (action: string | undefined, outcomePositive: boolean | null): string | undefined =>
  action === undefined || inferOutcome(action) !== outcomePositive ? undefined : WORDS.get(action)
