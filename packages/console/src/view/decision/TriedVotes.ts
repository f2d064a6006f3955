import { type CardRing, type DecisionCard, inOrder, type VoteChange, type VoteSide } from "@runplane/domain"
import type { ChangedVote } from "../run/WhatIfState.ts"

const SIDES: Readonly<Record<string, VoteSide>> = { APPROVE: "for", REJECT: "against", ABSTAIN: "abstained" }
const WORDS: Readonly<Record<VoteSide, string | undefined>> = {
  for: "APPROVE",
  against: "REJECT",
  abstained: "ABSTAIN",
  none: undefined
}
const PAST: Readonly<Record<string, string>> = {
  APPROVE: "had approved",
  REJECT: "had rejected",
  ABSTAIN: "had abstained"
}

/** The word of the ballot that a voter has cast. */
export const ballotWord = (vote: VoteSide): string | undefined => WORDS[vote]

/** The rings with these votes in place of those that were cast. Which voters are pivotal is what the answer says. */
export const ringsWith = (
  card: DecisionCard,
  votes: ReadonlyArray<ChangedVote>,
  answer: { readonly pivotal: ReadonlyArray<Pick<VoteChange, "participantId" | "proposalId">> } | undefined,
  isOtherPolicy: boolean
): ReadonlyArray<CardRing> =>
  card.rings.map((ring) => {
    const tried = new Map(
      votes.flatMap(({ participantId, proposalId, vote }) =>
        proposalId === ring.proposalId ? [[participantId, SIDES[vote]] as const] : []
      )
    )
    const pivotal = new Set(
      answer?.pivotal.flatMap(({ participantId, proposalId }) =>
        proposalId === ring.proposalId ? [participantId] : []
      )
    )
    const voters = inOrder(
      ring.seats.map(({ opinion, ...voter }) => {
        const vote = tried.get(voter.participantId) ?? voter.vote
        return {
          ...voter,
          ...(opinion !== undefined && vote === "none" && { opinion }),
          vote,
          pivotal: pivotal.has(voter.participantId)
        }
      })
    )
    const counts = { for: 0, against: 0, abstained: 0, none: 0 }
    for (const { vote } of voters) counts[vote] += 1
    const { rule, ...rest } = ring
    // Where the tick of another policy is, only its rules say.
    return { ...rest, seats: voters, counts, ...(rule !== undefined && !isOtherPolicy && { rule }) }
  })

/** The voters whose vote is tried, by proposal. */
export const triedVoters = (votes: ReadonlyArray<ChangedVote>): ReadonlyMap<string, ReadonlySet<string>> => {
  const tried = new Map<string, Set<string>>()
  for (const { participantId, proposalId } of votes) {
    tried.set(proposalId, (tried.get(proposalId) ?? new Set()).add(participantId))
  }
  return tried
}

/** Changed votes that one question names. */
const MAX_NAMED = 4

/** "What if replication-analyst had rejected under policy.strict?" */
export const triedQuestion = (
  votes: ReadonlyArray<ChangedVote>,
  policy: string,
  nameOf: (proposalId: string) => string | undefined
): string => {
  const named = votes.slice(0, MAX_NAMED).map(({ participantId, proposalId, vote }) => {
    const name = nameOf(proposalId)
    return `${participantId} ${PAST[vote] ?? vote}${name === undefined ? "" : ` ${name}`}`
  })
  const rest = votes.length > MAX_NAMED ? ` and ${votes.length - MAX_NAMED} more had voted otherwise` : ""
  const changes = votes.length === 0 ? "the votes had been counted" : `${named.join(" and ")}${rest}`
  return `What if ${changes}${policy === "" ? "" : ` under ${policy}`}?`
}
