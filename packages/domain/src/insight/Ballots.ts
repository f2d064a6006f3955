import type { Act, StandardMode } from "./Act.ts"
import type { Deliberation } from "./Deliberation.ts"

export type VoteValue = "APPROVE" | "REJECT" | "ABSTAIN"

export const VOTE_VALUES: ReadonlyArray<VoteValue> = ["APPROVE", "REJECT", "ABSTAIN"]

/** The vote of a participant on a proposal, cast or still open; in a quorum, the ballot on its request. */
export interface Ballot {
  readonly participantId: string
  readonly proposalId: string
  /** Null when there is none. */
  readonly vote: VoteValue | null
}

/** Message types that are ballots of a quorum. */
const TYPES: Readonly<Record<VoteValue, string>> = { APPROVE: "Approve", REJECT: "Reject", ABSTAIN: "Abstain" }

export const hasBallots = (mode: StandardMode): boolean => mode === "decision" || mode === "quorum"

/** Proposals and requests that are voted on, in the order of their events. */
export const subjectsOf = (acts: ReadonlyArray<Act>): ReadonlyArray<string> => [
  ...new Set(
    acts.flatMap(({ skipped, proposalId, type }) =>
      skipped === undefined && (type === "Proposal" || type === "ApprovalRequest") ? [proposalId] : []
    )
  )
]

/** Every possible ballot: each participant on each proposal or request. */
export const ballotsOf = ({
  acts,
  participants
}: Pick<Deliberation, "acts" | "participants">): ReadonlyArray<Ballot> => {
  const cast = new Map<string, VoteValue>()
  for (const act of acts) {
    const word = act.skipped === undefined ? ballotOf(act) : undefined
    if (word !== undefined) cast.set(keyOf(act.by, act.proposalId), word)
  }
  return subjectsOf(acts).flatMap((proposalId) =>
    participants.map((participantId) => {
      const vote = cast.get(keyOf(participantId, proposalId)) ?? null
      return { participantId, proposalId, vote }
    })
  )
}

const keyOf = (participant: string, proposal: string) => JSON.stringify([participant, proposal])

/** The ballot that an act casts; undefined for any other act. */
export const ballotOf = ({ type, vote }: Act): VoteValue | undefined =>
  type === "Vote" ? VOTE_VALUES.find((word) => word === vote) : VOTE_VALUES.find((word) => TYPES[word] === type)

/** The acts with these ballots in place of those that were cast; they are last, as if cast at the end. */
export const withBallots = (
  mode: StandardMode,
  acts: ReadonlyArray<Act>,
  ballots: ReadonlyArray<Ballot & { readonly vote: VoteValue }>
): ReadonlyArray<Act> => {
  const replaced = new Set(ballots.map(({ participantId, proposalId }) => keyOf(participantId, proposalId)))
  const kept = acts.filter((act) => ballotOf(act) === undefined || !replaced.has(keyOf(act.by, act.proposalId)))
  const last = acts.at(-1)
  const position = { seq: last?.seq ?? 0, index: last?.index ?? 0, ts: last?.ts ?? "" }
  const added = ballots.map(
    ({ participantId: by, proposalId, vote }): Act =>
      mode === "decision"
        ? { ...position, by, type: "Vote", proposalId, vote }
        : { ...position, by, type: TYPES[vote], proposalId }
  )
  return [...kept, ...added]
}
