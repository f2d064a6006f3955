import type { DescMessage } from "@bufbuild/protobuf"
import { DecisionMode, HandoffMode, ProposalMode, QuorumMode, TaskMode } from "@runplane/runtime"

/** The message type that a payload travels with: `Vote` for VotePayload. */
export const messageTypeOf = ({ name }: DescMessage): string => name.replace(/Payload$/, "")

/** Messages of `macp.mode.decision.v1`. */
export const Decision = {
  Proposal: DecisionMode.ProposalPayloadSchema,
  Evaluation: DecisionMode.EvaluationPayloadSchema,
  Objection: DecisionMode.ObjectionPayloadSchema,
  Vote: DecisionMode.VotePayloadSchema
}

/** Messages of `macp.mode.quorum.v1`. */
export const Quorum = {
  ApprovalRequest: QuorumMode.ApprovalRequestPayloadSchema,
  Approve: QuorumMode.ApprovePayloadSchema,
  Reject: QuorumMode.RejectPayloadSchema,
  Abstain: QuorumMode.AbstainPayloadSchema
}

/** Messages of `macp.mode.proposal.v1`. */
export const Negotiation = {
  Proposal: ProposalMode.ProposalPayloadSchema,
  CounterProposal: ProposalMode.CounterProposalPayloadSchema,
  Accept: ProposalMode.AcceptPayloadSchema,
  Reject: ProposalMode.RejectPayloadSchema,
  Withdraw: ProposalMode.WithdrawPayloadSchema
}

/** Messages of `macp.mode.task.v1`. */
export const Task = {
  Request: TaskMode.TaskRequestPayloadSchema,
  Accept: TaskMode.TaskAcceptPayloadSchema,
  Reject: TaskMode.TaskRejectPayloadSchema,
  Update: TaskMode.TaskUpdatePayloadSchema,
  Complete: TaskMode.TaskCompletePayloadSchema,
  Fail: TaskMode.TaskFailPayloadSchema
}

/** Messages of `macp.mode.handoff.v1`. */
export const Handoff = {
  Offer: HandoffMode.HandoffOfferPayloadSchema,
  Context: HandoffMode.HandoffContextPayloadSchema,
  Accept: HandoffMode.HandoffAcceptPayloadSchema,
  Decline: HandoffMode.HandoffDeclinePayloadSchema
}
