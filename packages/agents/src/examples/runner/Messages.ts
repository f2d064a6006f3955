import type { DescMessage } from "@bufbuild/protobuf"
import { DecisionMode, HandoffMode, ProposalMode, QuorumMode, TaskMode } from "@runplane/runtime"

/** A message type of a mode and the payload that travels with it. */
export interface MessageKind<Desc extends DescMessage> {
  readonly messageType: string
  readonly schema: Desc
}

const kind = <Desc extends DescMessage>(messageType: string, schema: Desc): MessageKind<Desc> => ({
  messageType,
  schema
})

/** Messages of `macp.mode.decision.v1`. */
export const Decision = {
  Proposal: kind("Proposal", DecisionMode.ProposalPayloadSchema),
  Evaluation: kind("Evaluation", DecisionMode.EvaluationPayloadSchema),
  Objection: kind("Objection", DecisionMode.ObjectionPayloadSchema),
  Vote: kind("Vote", DecisionMode.VotePayloadSchema)
}

/** Messages of `macp.mode.quorum.v1`. */
export const Quorum = {
  ApprovalRequest: kind("ApprovalRequest", QuorumMode.ApprovalRequestPayloadSchema),
  Approve: kind("Approve", QuorumMode.ApprovePayloadSchema),
  Reject: kind("Reject", QuorumMode.RejectPayloadSchema),
  Abstain: kind("Abstain", QuorumMode.AbstainPayloadSchema)
}

/** Messages of `macp.mode.proposal.v1`. */
export const Negotiation = {
  Proposal: kind("Proposal", ProposalMode.ProposalPayloadSchema),
  CounterProposal: kind("CounterProposal", ProposalMode.CounterProposalPayloadSchema),
  Accept: kind("Accept", ProposalMode.AcceptPayloadSchema),
  Reject: kind("Reject", ProposalMode.RejectPayloadSchema),
  Withdraw: kind("Withdraw", ProposalMode.WithdrawPayloadSchema)
}

/** Messages of `macp.mode.task.v1`. */
export const Task = {
  Request: kind("TaskRequest", TaskMode.TaskRequestPayloadSchema),
  Accept: kind("TaskAccept", TaskMode.TaskAcceptPayloadSchema),
  Reject: kind("TaskReject", TaskMode.TaskRejectPayloadSchema),
  Update: kind("TaskUpdate", TaskMode.TaskUpdatePayloadSchema),
  Complete: kind("TaskComplete", TaskMode.TaskCompletePayloadSchema),
  Fail: kind("TaskFail", TaskMode.TaskFailPayloadSchema)
}

/** Messages of `macp.mode.handoff.v1`. */
export const Handoff = {
  Offer: kind("HandoffOffer", HandoffMode.HandoffOfferPayloadSchema),
  Context: kind("HandoffContext", HandoffMode.HandoffContextPayloadSchema),
  Accept: kind("HandoffAccept", HandoffMode.HandoffAcceptPayloadSchema),
  Decline: kind("HandoffDecline", HandoffMode.HandoffDeclinePayloadSchema)
}
