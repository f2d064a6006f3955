import type { CanonicalEvent } from "@runplane/domain"

/** A stretch of a run that begins with an event of a new kind. */
export interface Phase {
  readonly index: number
  readonly title: string
}

/** Titles of phases, by the events that begin them. */
const kindOf = (event: CanonicalEvent): string | undefined => {
  switch (event.type) {
    case "run.created":
      return "Waiting"
    case "session.bound":
      return "Session open"
    case "proposal.created":
      return "Proposals"
    case "proposal.updated": {
      const { messageType } = event.data
      if (messageType === "Evaluation") return "Opinions"
      if (messageType === "Objection") return "Objections"
      return messageType === "Vote" || messageType === "Approve" || messageType === "Abstain" ? "Votes" : "Answers"
    }
    case "decision.finalized":
      return "Decided"
    case "run.suspended":
      return "Suspended"
    case "run.resumed":
      return "Resumed"
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
      return "Ended"
    default:
      return undefined
  }
}

/** Where each phase of a run begins. Kinds that take turns with each other count as one phase after the first turn. */
export class PhaseList {
  readonly phases: Array<Phase> = []
  readonly #seen = new Set<string>()

  add(event: CanonicalEvent): void {
    const title = kindOf(event)
    if (title === undefined || this.#seen.has(title)) return
    this.phases.push({ index: event.index, title })
    // After a pause everything may begin again.
    if (title === "Suspended" || title === "Resumed") this.#seen.clear()
    this.#seen.add(title)
  }
}

/** The phases of these events. */
export const phasesOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<Phase> => {
  const list = new PhaseList()
  for (const event of events) list.add(event)
  return list.phases
}
