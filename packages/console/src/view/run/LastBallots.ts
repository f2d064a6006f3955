import { type CanonicalEvent, voteOf } from "@runplane/domain"

const BALLOTS: ReadonlySet<string> = new Set(["Vote", "Approve", "Reject", "Abstain"])

/** The last ballot of each participant that cast one, on whatever proposal. */
export const lastBallots = (events: Iterable<CanonicalEvent>): ReadonlyMap<string, "allow" | "deny" | "abstained"> => {
  const ballots = new Map<string, "allow" | "deny" | "abstained">()
  for (const event of events) {
    if (event.type !== "proposal.updated" || !BALLOTS.has(event.data.messageType)) continue
    const { messageType, sender, vote } = event.data
    ballots.set(sender, voteOf(messageType, vote) ?? "abstained")
  }
  return ballots
}
