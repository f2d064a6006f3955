import * as Schema from "effect/Schema"
import type { StandardMode } from "../insight/Act.ts"
import type { Deliberation } from "../insight/Deliberation.ts"

/** The states of a decision. `for` and `against` say what was committed, never whether the run succeeded. */
export const VERDICTS = [
  "for",
  "against",
  "decided",
  "denied",
  "open",
  "suspended",
  "expired",
  "cancelled",
  "none"
] as const
export const VerdictState = Schema.Literals(VERDICTS).annotate({
  identifier: "VerdictState",
  description:
    "for, against: the committed outcome; decided: committed without a stated outcome; denied: ended after the policy refused a commitment; none: ended without a decision"
})
export type VerdictState = typeof VerdictState.Type

const WORDS: Readonly<Record<VerdictState, string>> = {
  for: "Approved",
  against: "Declined",
  decided: "Decided",
  denied: "Stopped by the policy",
  open: "Open",
  suspended: "Suspended",
  expired: "Expired",
  cancelled: "Cancelled",
  none: "No decision"
}

/** Words of a mode in place of the common ones. */
const MODE_WORDS: Partial<Record<StandardMode, Partial<Record<VerdictState, string>>>> = {
  task: { for: "Done", against: "Not done" },
  handoff: { for: "Accepted" },
  proposal: { for: "Agreed", against: "Not agreed" }
}

/** The verdict as people read it: "Approved", "Declined", "Stopped by the policy". */
export const verdictWord = (state: VerdictState, mode: StandardMode | undefined): string =>
  (mode === undefined ? undefined : MODE_WORDS[mode]?.[state]) ?? WORDS[state]

/** The verdict on a run, from its record. */
export const cardVerdict = ({
  commitment,
  denials,
  hasEnded,
  state
}: Pick<Deliberation, "commitment" | "denials" | "hasEnded" | "state">): VerdictState => {
  if (commitment !== undefined) {
    if (commitment.positive === null) return "decided"
    return commitment.positive ? "for" : "against"
  }
  if (state === "CANCELLED") return "cancelled"
  const isOver = hasEnded || state === "EXPIRED" || state === "RESOLVED"
  if (!isOver) return state === "SUSPENDED" ? "suspended" : "open"
  if (denials.length > 0) return "denied"
  return state === "EXPIRED" ? "expired" : "none"
}
