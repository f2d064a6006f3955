import { isAgreed, refuseCommitment } from "../../policies/Evaluation.ts"
import type { ProposalRecord, SessionTerms } from "../../policies/SessionRecord.ts"
import { type ModeForecast, type Move, type Step, statement } from "./ModeForecast.ts"

const NEW_PROPOSAL = "a new proposal"
/** Proposals that are weighed one by one, the latest ones. */
const MAX_WEIGHED = 50

/**
 * A negotiation stays open until its commitment: everything can be withdrawn again, so nothing is ever certain, and
 * only what the policy can never allow is impossible.
 */
export const proposalForecast = (terms: SessionTerms, record: ProposalRecord): ModeForecast => {
  const { participants } = terms
  const live = [...record.live]
  const [someone] = participants
  const withdrawn: ProposalRecord = { ...record, live: [], acceptedBy: () => undefined, isRejected: false }
  if (someone === undefined) {
    return { record, ends: [record], outstanding: [], moves: [], needs: () => [], isExact: true }
  }
  const refused = { ...record, isRejected: true }
  return {
    record,
    ends: [record, accepted(record, someone, participants), refused, withdrawn],
    outstanding: participants.map((participantId) => ({
      participantId,
      acts: live.length > 0 ? ["Proposal", "CounterProposal", "Accept", "Reject", "Withdraw"] : ["Proposal"]
    })),
    moves: answersTo(terms, record, live),
    needs: (positive) => {
      if (refuseCommitment(terms, record, positive).length > 0) return []
      if (record.isRejected || isAgreed(terms, record)) return [[]]
      const refusal: Step = { count: 1, of: participants, act: "Reject", value: "for good" }
      if (!positive) {
        return live.length > 0 ? [[refusal]] : [[{ count: 1, of: participants, act: "Proposal" }, refusal]]
      }
      const all = live
        .slice(-MAX_WEIGHED)
        .map((offer) => acceptancesOf(terms, record, offer))
        .filter((step) => step !== undefined)
      const least = Math.min(...all.map(({ count }) => count))
      if (all.length > 0) return all.filter(({ count }) => count === least).map((step) => [step])
      const fresh = acceptancesOf(terms, record, { proposalId: NEW_PROPOSAL, proposer: someone })
      if (fresh === undefined) return []
      return [
        [
          { count: 1, of: participants, act: "Proposal" },
          { count: fresh.count, of: fresh.of, act: "Accept" }
        ]
      ]
    },
    isExact: true
  }
}

/** The record with one more offer, accepted by all participants that can accept. */
const accepted = (record: ProposalRecord, proposer: string, participants: ReadonlyArray<string>): ProposalRecord => ({
  ...record,
  live: [...record.live, { proposalId: NEW_PROPOSAL, proposer }],
  acceptedBy: (participant) => (participants.includes(participant) ? NEW_PROPOSAL : undefined)
})

/** The one acceptance that a proposal still lacks, and refusals for good. */
const answersTo = (
  terms: SessionTerms,
  record: ProposalRecord,
  live: ReadonlyArray<{ readonly proposalId: string; readonly proposer: string }>
): ReadonlyArray<Move> => {
  const acceptances = live.slice(-MAX_WEIGHED).flatMap((offer) => {
    const [by, ...others] = acceptancesOf(terms, record, offer)?.of ?? []
    const { proposalId } = offer
    if (by === undefined || others.length > 0) return []
    return [{ statement: statement(by, "Accept", proposalId), kind: `Accept ${by} ${proposalId}` }]
  })
  const [first] = live
  if (first === undefined) return acceptances
  const refusals = terms.participants.map((by) => ({
    statement: statement(by, "Reject", first.proposalId, { terminal: true }),
    kind: "Reject"
  }))
  return [...acceptances, ...refusals]
}

/** The participants that still have to accept an offer; undefined when the policy requires one that cannot. */
export const acceptancesOf = (
  { initiator, participants, policy }: SessionTerms,
  record: ProposalRecord,
  { proposalId, proposer }: { readonly proposalId: string; readonly proposer: string }
): Step | undefined => {
  const { criterion } = policy.rules.acceptance
  const required =
    criterion === "initiator"
      ? [initiator]
      : participants.filter((participant) => criterion === "all_parties" || participant !== proposer)
  if (required.some((participant) => !participants.includes(participant))) return undefined
  const of = required.filter((participant) => record.acceptedBy(participant) !== proposalId)
  return { count: of.length, of, act: "Accept", proposalId }
}
