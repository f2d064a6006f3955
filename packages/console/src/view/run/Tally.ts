import { type Deliberation, policyThreshold, type SessionRules } from "@runplane/domain"
import type { ProposalRow } from "./Decision.ts"

/** The votes on one proposal. */
export interface TallyRow {
  readonly id: string
  readonly title: string
  readonly index: number
  readonly approve: ReadonlyArray<string>
  readonly reject: ReadonlyArray<string>
  readonly abstain: ReadonlyArray<string>
  /** Participants without a vote. */
  readonly missing: ReadonlyArray<string>
}

/** The votes on each proposal, and the participants without a vote. */
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

/** A threshold over the bar of the votes: its number and its name. */
export interface Mark {
  readonly at: number
  readonly text: string
}

/** The thresholds of the policy that do not depend on the votes themselves. */
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
