import type { SeatRules } from "./SeatRules.ts"
import { type SeatView, type SeenMessage, subjectsFor } from "./SeatView.ts"

/** The change since a person was shown a subject. */
export interface Staleness {
  readonly reason: "another proposal" | "a handoff context" | "a longer record"
  /** The first message that changed it. */
  readonly by: SeenMessage
}

const RECORD: ReadonlySet<string> = new Set(["Evaluation", "Objection"])

/**
 * What made an item stale: another proposal, a context added to its handoff, or, where the seat follows the record, an
 * evaluation or an objection of another participant. Undefined while its basis holds.
 */
export const staleSince = (
  view: SeatView,
  seat: string,
  subjectOrdinal: number,
  basisOrdinal: number,
  stale: SeatRules["stale"]
): Staleness | undefined => {
  const subject = view.messages[subjectOrdinal - 1]
  const subjects = new Set(subjectsFor(view, seat).map(({ ordinal }) => ordinal))
  for (const by of view.messages.slice(basisOrdinal)) {
    const { by: sender, proposalId, type } = by.statement
    if (subjects.has(by.ordinal) && by.ordinal !== subjectOrdinal) return { reason: "another proposal", by }
    if (type === "HandoffContext" && proposalId === subject?.statement.proposalId) {
      return { reason: "a handoff context", by }
    }
    if (stale === "record" && sender !== seat && RECORD.has(type)) return { reason: "a longer record", by }
  }
  return undefined
}
