import type { DenialReason } from "../run/Denials.ts"
import { refuseDecision } from "./DecisionEvaluation.ts"
import { isReleaseFrom } from "./Release.ts"
import type {
  PolicyRefusal,
  ProposalRecord,
  QuorumRecord,
  SessionRecord,
  SessionTerms,
  TaskRecord
} from "./SessionRecord.ts"

/**
 * Every reason of the bound policy to refuse a Commitment with this outcome, empty when it allows it: a pure function
 * of the terms, the accepted messages and the outcome (docs/internals/runtime.md#evaluation). The texts are for
 * display.
 */
export const denyCommitment = (
  terms: SessionTerms,
  record: SessionRecord,
  outcomePositive: boolean
): ReadonlyArray<DenialReason> =>
  refuseCommitment(terms, record, outcomePositive).map(({ code, participants = [], text }) => ({
    code,
    message: text,
    ...(participants.length > 0 && { participants })
  }))

/** `denyCommitment` with the rule behind each reason, and its figures. */
export const refuseCommitment = (
  terms: SessionTerms,
  record: SessionRecord,
  outcomePositive: boolean
): ReadonlyArray<PolicyRefusal> => {
  const { policy, release } = terms
  if (policy.schemaVersion > 2 && !isReleaseFrom(release, "0.7.6")) {
    const text = `unsupported policy schema version ${policy.schemaVersion}`
    return [{ rule: "schema_version", code: "unsupported_schema_version", have: policy.schemaVersion, need: 2, text }]
  }
  switch (record.mode) {
    case "decision":
      return refuseDecision(terms, record, outcomePositive)
    case "proposal": {
      const { counters } = record
      const limit = policy.rules.counter_proposal.max_rounds
      const text = `${counters} counter proposals, the policy allows ${limit}`
      return outcomePositive && limit > 0 && counters > limit
        ? [{ rule: "counter_proposal.max_rounds", code: "criterion_not_met", have: counters, need: limit, text }]
        : []
    }
    case "task": {
      const isMissing = policy.rules.completion.require_output && (record.report?.outputBytes ?? 0) === 0
      const text = "policy requires task output before commitment"
      return outcomePositive && isMissing
        ? [{ rule: "completion.require_output", code: "output_required", have: 0, need: "an output", text }]
        : []
    }
    case "handoff":
      return []
    case "quorum": {
      const { approvals } = record
      const threshold = policyThreshold(terms)
      return outcomePositive && threshold !== undefined && approvals < threshold
        ? [
            {
              rule: "threshold.value",
              code: "threshold_not_met",
              have: approvals,
              need: threshold,
              text: `${approvals} approvals, the policy requires ${threshold}`
            }
          ]
        : []
    }
  }
}

/** Whether the mode allows a Commitment with this outcome now, before its policy is evaluated. */
export const isReadyToCommit = (terms: SessionTerms, record: SessionRecord, outcomePositive: boolean): boolean => {
  switch (record.mode) {
    case "decision":
      return record.proposals > 0
    case "proposal":
      return record.isRejected || isAgreed(terms, record)
    case "task":
      return record.report !== undefined || (!outcomePositive && noAssigneeIsLeft(terms, record))
    case "handoff":
      // From 0.14 on a positive outcome needs an acceptance; before, any answer would do.
      return isReleaseFrom(terms.release, "0.14.0") && outcomePositive ? record.isAccepted : record.isAnswered
    case "quorum":
      return isSettled(terms, record, outcomePositive)
  }
}

/** Whether every participant that counts under the policy has accepted the same live proposal. */
export const isAgreed = ({ initiator, participants, policy }: SessionTerms, record: ProposalRecord): boolean => {
  for (const { proposalId, proposer } of record.live) {
    const accepts = (participant: string) => record.acceptedBy(participant) === proposalId
    switch (policy.rules.acceptance.criterion) {
      case "all_parties":
        if (participants.every(accepts)) return true
        break
      case "counterparty":
        if (participants.every((participant) => participant === proposer || accepts(participant))) return true
        break
      case "initiator":
        if (accepts(initiator)) return true
    }
  }
  return false
}

/** From 0.13.0 on: the only requested assignee has declined, so no assignee is left. */
const noAssigneeIsLeft = (
  { release }: SessionTerms,
  { assignee, rejections, requestedAssignee }: TaskRecord
): boolean =>
  isReleaseFrom(release, "0.13.0") &&
  assignee === undefined &&
  [...rejections].some(({ by, whileAssigned }) => by === requestedAssignee && !whileAssigned)

/** The policy's threshold of a quorum as a number of approvals, undefined when it sets none. */
export const policyThreshold = ({ participants, policy }: SessionTerms): number | undefined => {
  const { type, value } = policy.rules.threshold
  if (value === 0) return undefined
  return type === "percentage" ? Math.ceil((value * participants.length) / 100) : value
}

/**
 * Between these two releases a request that the policy makes unwinnable is refused, and a request cannot be declined
 * without a ballot.
 */
export const refusesUnwinnableQuorum = ({ release }: SessionTerms): boolean =>
  isReleaseFrom(release, "0.7.6") && !isReleaseFrom(release, "0.13.0")

/** Whether the approvals have reached the threshold, or can no longer reach it. */
const isSettled = (terms: SessionTerms, record: QuorumRecord, outcomePositive: boolean): boolean => {
  const { approvals, ballots, requiredApprovals } = record
  if (requiredApprovals === undefined) return false
  if (refusesUnwinnableQuorum(terms) && !outcomePositive && ballots === 0) return false
  const threshold = policyThreshold(terms) ?? requiredApprovals
  return approvals >= threshold || approvals + terms.participants.length - ballots < threshold
}

/**
 * Whether the policy lets a sender commit (docs/internals/runtime.md#authority). "Roles" are ids of senders, compared
 * as they are.
 */
export const mayCommit = (sender: string, { initiator, participants, policy }: SessionTerms): boolean => {
  const { authority, designated_roles } = policy.rules.commitment
  switch (authority) {
    case "initiator_only":
      return sender === initiator
    case "any_participant":
      return sender === initiator || participants.includes(sender)
    case "designated_role":
      return designated_roles.includes(sender)
  }
}
