import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import {
  CommitmentPayloadSchema,
  DecisionMode,
  HandoffMode,
  ProgressPayloadSchema,
  ProposalMode,
  QuorumMode,
  TaskMode
} from "@runplane/runtime"

/** A message of a session: its type, and its payload as it travels. */
export interface Message {
  readonly messageType: string
  readonly payload: Uint8Array<ArrayBuffer>
}

const of =
  <Desc extends DescMessage>(messageType: string, schema: Desc) =>
  (init: MessageInitShape<Desc>): Message => ({ messageType, payload: toBinary(schema, create(schema, init)) })

/** The messages of the five standard modes (runtime-wire section 1.11). */
export const decision = {
  proposal: of("Proposal", DecisionMode.ProposalPayloadSchema),
  evaluation: of("Evaluation", DecisionMode.EvaluationPayloadSchema),
  objection: of("Objection", DecisionMode.ObjectionPayloadSchema),
  vote: of("Vote", DecisionMode.VotePayloadSchema)
}

export const proposal = {
  proposal: of("Proposal", ProposalMode.ProposalPayloadSchema),
  counter: of("CounterProposal", ProposalMode.CounterProposalPayloadSchema),
  accept: of("Accept", ProposalMode.AcceptPayloadSchema),
  reject: of("Reject", ProposalMode.RejectPayloadSchema),
  withdraw: of("Withdraw", ProposalMode.WithdrawPayloadSchema)
}

export const task = {
  request: of("TaskRequest", TaskMode.TaskRequestPayloadSchema),
  accept: of("TaskAccept", TaskMode.TaskAcceptPayloadSchema),
  reject: of("TaskReject", TaskMode.TaskRejectPayloadSchema),
  update: of("TaskUpdate", TaskMode.TaskUpdatePayloadSchema),
  complete: of("TaskComplete", TaskMode.TaskCompletePayloadSchema),
  fail: of("TaskFail", TaskMode.TaskFailPayloadSchema)
}

export const handoff = {
  offer: of("HandoffOffer", HandoffMode.HandoffOfferPayloadSchema),
  context: of("HandoffContext", HandoffMode.HandoffContextPayloadSchema),
  accept: of("HandoffAccept", HandoffMode.HandoffAcceptPayloadSchema),
  decline: of("HandoffDecline", HandoffMode.HandoffDeclinePayloadSchema)
}

export const quorum = {
  request: of("ApprovalRequest", QuorumMode.ApprovalRequestPayloadSchema),
  approve: of("Approve", QuorumMode.ApprovePayloadSchema),
  reject: of("Reject", QuorumMode.RejectPayloadSchema),
  abstain: of("Abstain", QuorumMode.AbstainPayloadSchema)
}

export const progress = of("Progress", ProgressPayloadSchema)

/** The end of a session that was started as `Stage` starts it. */
export const commitment = (action: string, outcomePositive: boolean, policyVersion: string): Message =>
  of(
    "Commitment",
    CommitmentPayloadSchema
  )({
    commitmentId: "c1",
    action,
    authorityScope: "suite",
    reason: "as the script says",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    policyVersion,
    outcomePositive
  })
