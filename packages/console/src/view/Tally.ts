import { type Deliberation, policyThreshold, type SessionRules } from "@runplane/domain"
import type { ProposalRow } from "./Decision.ts"

/** How the votes on one thing stand. */
export interface TallyRow {
  readonly id: string
  readonly title: string
  readonly index: number
  readonly approve: ReadonlyArray<string>
  readonly reject: ReadonlyArray<string>
  readonly abstain: ReadonlyArray<string>
  /** Participants of whom there is no vote. */
  readonly missing: ReadonlyArray<string>
}

/** Who has voted how on each proposal, and who has not. */
export const tallyOf = (
  rows: ReadonlyArray<ProposalRow>,
  { participants }: Pick<Deliberation, "participants">
): ReadonlyArray<TallyRow> =>
  rows.map(({ id, index, stances, title }) => {
    const said = (tone: string) =>
      [...stances].flatMap(([who, stance]) => (stance.kind === "vote" && stance.tone === tone ? [who] : []))
    const voters = new Set([...stances].flatMap(([who, { kind }]) => (kind === "vote" ? [who] : [])))
    return {
      id,
      title,
      index,
      approve: said("good"),
      reject: said("bad"),
      abstain: said("calm"),
      missing: participants.filter((who) => !voters.has(who))
    }
  })

/** Where a line is drawn over the bar of the votes: how many are asked for, and what the number is. */
export interface Mark {
  readonly at: number
  readonly text: string
}

/** The numbers that the policy asks of the votes; those that depend on the votes themselves are told in its rules. */
export const tallyMarks = ({ mode, terms }: SessionRules): ReadonlyArray<Mark> => {
  const { participants, policy } = terms
  if (mode === "quorum") {
    const needed = policyThreshold(terms)
    return needed === undefined ? [] : [{ at: needed, text: `${needed} approvals` }]
  }
  if (mode !== "decision") return []
  const { commitment, voting } = policy.rules
  const { type, value } = voting.quorum
  const voters = type === "count" ? value : Math.ceil((value / 100) * participants.length)
  return commitment.require_vote_quorum && voters > 0 ? [{ at: voters, text: `quorum ${voters}` }] : []
}
