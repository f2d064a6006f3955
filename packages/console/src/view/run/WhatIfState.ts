import type { Changes } from "@runplane/domain"
import type { Param } from "../query/UrlState.ts"

/** A changed vote. */
export type ChangedVote = NonNullable<Changes["votes"]>[number] & { readonly proposalId: string }

/** Changes that an address holds. */
const MOST = 50

/** Changed votes in an address: a list of participant, proposal and word. Anything else is left out. */
export const changedVotesParam: Param<ReadonlyArray<ChangedVote>> = {
  read: (text) => {
    if (text === null) return []
    try {
      const given: unknown = JSON.parse(text)
      return Array.isArray(given) ? given.slice(0, MOST).flatMap(readVote) : []
    } catch {
      return []
    }
  },
  write: (votes) =>
    votes.length === 0
      ? undefined
      : JSON.stringify(
          votes.slice(0, MOST).map(({ participantId, proposalId, vote }) => [participantId, proposalId, vote])
        )
}

const readVote = (given: unknown): ReadonlyArray<ChangedVote> => {
  if (!Array.isArray(given)) return []
  const [participantId, proposalId, vote]: ReadonlyArray<unknown> = given
  return typeof participantId === "string" && typeof proposalId === "string" && typeof vote === "string"
    ? [{ participantId, proposalId, vote }]
    : []
}

const WORDS = ["APPROVE", "REJECT", "ABSTAIN"]

/** The list after one more click on a vote: the next other value, and at the end the original one. */
export const turnVote = (
  votes: ReadonlyArray<ChangedVote>,
  participantId: string,
  proposalId: string,
  cast: string | undefined
): ReadonlyArray<ChangedVote> => {
  const isThis = (vote: ChangedVote) => vote.participantId === participantId && vote.proposalId === proposalId
  const others = votes.filter((vote) => !isThis(vote))
  const choices = WORDS.filter((word) => word !== cast)
  const next = choices[choices.indexOf(votes.find(isThis)?.vote ?? "") + 1]
  return next === undefined ? others : [...others, { participantId, proposalId, vote: next }]
}
