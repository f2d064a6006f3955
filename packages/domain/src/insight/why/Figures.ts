import { countVotes, needOf, passesEmpty, vetoOn } from "../../policies/DecisionEvaluation.ts"
import { isAgreed, policyThreshold } from "../../policies/Evaluation.ts"
import type {
  DecisionRecord,
  ProposalRecord,
  QuorumRecord,
  RuleRefusal,
  SessionTerms,
  TaskRecord
} from "../../policies/SessionRecord.ts"
import { ballotsText, type CountedVotes, ruleText } from "../Tally.ts"

/** A satisfied rule with its figures, as a refusal has them. */
export type Figures = Pick<RuleRefusal, "have" | "need" | "text">

/** "3 approve, 1 reject, majority 0.5": why the votes allow this outcome. */
export const votesFigures = (
  terms: SessionTerms,
  { votes }: DecisionRecord,
  counted: CountedVotes,
  positive: boolean
): Figures => {
  const { approve, passes, reject } = countVotes(terms, [...votes])
  const { voting } = terms.policy.rules
  const isEmpty = approve + reject === 0
  const together = counted.proposals > 1 ? ` on ${counted.proposals} proposals together` : ""
  const heads = ballotsText(counted, counted.weights)
  if (isEmpty) {
    const cast = counted.approve + counted.reject + counted.abstain
    const said = cast === 0 ? "" : `; ${heads}`
    const text = passesEmpty(terms) ? `no vote was needed: an empty tally passes${said}` : `no vote counts${said}`
    return { have: 0, need: 0, text }
  }
  const share = needOf(voting, terms.participants.length, reject)
  const have = typeof share === "number" ? approve / (approve + reject) : approve
  const figures = `${heads}${together}, ${ruleText(voting)}`
  const tie = approve === reject ? "a tie" : "this"
  if (positive) return { have, need: share, text: approve === reject ? `${figures}: a tie passes` : figures }
  if (passes) return { have, need: share, text: `${figures}: ${tie} passes, and the policy allows a decline over it` }
  return { have: reject, need: 1, text: `${figures}: ${tie} does not pass` }
}

/** "3 of 4 participants voted, 2 needed". */
export const quorumFigures = ({ participants, policy: { rules } }: SessionTerms, record: DecisionRecord): Figures => {
  const { type, value } = rules.voting.quorum
  const votes = [...record.votes]
  const voters = new Set(votes.map(({ voter }) => voter)).size
  const need = type === "count" ? value : Math.ceil((value / 100) * participants.length)
  const abstentions = votes.filter(({ vote }) => vote === "ABSTAIN").length
  const abstained = abstentions === 0 ? "" : `; ${abstentions} abstained, which counts here and not in the tally`
  const share = type === "count" ? "" : ` (${value} %)`
  return {
    have: voters,
    need,
    text: `${voters} of ${participants.length} participants voted, ${need} needed${share}${abstained}`
  }
}

/** "0 critical objections, 1 needed to veto (deny)". */
export const vetoFigures = (terms: SessionTerms, record: DecisionRecord, positive: boolean): Figures => {
  const { critical_objection_action: action, veto_threshold: need } = terms.policy.rules.objection_handling
  const { declines, objectors } = vetoOn(terms, record, positive)
  const text = `${plural(objectors.length, "critical objection")}, ${need} needed to veto (${action})`
  return { have: objectors.length, need, text: declines ? `${text}: the veto declines it` : text }
}

/** "1 evaluation, the highest confidence is 0.8, 0.5 needed". */
export const evaluationFigures = ({ policy: { rules } }: SessionTerms, record: DecisionRecord): Figures => {
  const need = rules.evaluation.minimum_confidence
  const counted = [...record.evaluations].filter(({ recommendation }) => recommendation !== "REVIEW")
  const have = counted.reduce((best, { confidence }) => Math.max(best, confidence), 0)
  const evaluations = plural(counted.length, "evaluation")
  return need > 0
    ? { have, need, text: `${evaluations}, the highest confidence is ${have}, ${need} needed` }
    : { have: counted.length, need: 1, text: `${evaluations}, 1 needed` }
}

/** "2 approve, 1 reject, 2 approvals needed". */
export const approvalFigures = (
  terms: SessionTerms,
  { approvals, ballots, requiredApprovals = 0 }: QuorumRecord,
  rejections: number,
  positive: boolean
): Figures => {
  const need = policyThreshold(terms) ?? requiredApprovals
  const abstain = ballots - approvals - rejections
  const figures = `${ballotsText({ approve: approvals, reject: rejections, abstain })}, ${plural(need, "approval")} needed`
  const isReached = approvals >= need
  if (positive === isReached) return { have: approvals, need, text: positive ? figures : `${figures}: out of reach` }
  const end = isReached
    ? "this is reached, and a decline is allowed all the same"
    : "out of reach, and the policy sets no threshold of its own"
  return { have: approvals, need, text: `${figures}: ${end}` }
}

/** Which offer is agreed and by which participants, or that a refusal is final. */
export const acceptanceFigures = (terms: SessionTerms, record: ProposalRecord): Figures => {
  const { criterion } = terms.policy.rules.acceptance
  const { initiator, participants } = terms
  const agreed = [...record.live].find((offer) => isAgreed(terms, { ...record, live: [offer] }))
  if (agreed === undefined) return { have: "a final refusal", need: criterion, text: "an offer is refused for good" }
  const { proposalId, proposer } = agreed
  const accepting = participants.filter((participant) => record.acceptedBy(participant) === proposalId)
  const text = {
    all_parties: `${accepting.length} of ${participants.length} participants accept ${proposalId}, all needed`,
    counterparty: `${accepting.length} of ${participants.length} participants accept ${proposalId}, all but its proposer ${proposer} needed`,
    initiator: `${initiator} accepts ${proposalId}, which is needed of the initiator alone`
  }[criterion]
  const refused = record.isRejected ? "; another refusal is final" : ""
  return { have: accepting.length, need: criterion, text: `${text}${refused}` }
}

/** "3 counter proposals, at most 5 allowed". */
export const roundsFigures = (limit: number, { counters }: ProposalRecord): Figures => ({
  have: counters,
  need: limit,
  text: `${plural(counters, "counter proposal")}, at most ${limit} allowed`
})

/** "the output has 120 bytes, an output is needed". */
export const outputFigures = ({ report }: TaskRecord): Figures => {
  const bytes = report?.outputBytes ?? 0
  return { have: bytes, need: 1, text: `the output has ${plural(bytes, "byte")}, an output is needed` }
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
