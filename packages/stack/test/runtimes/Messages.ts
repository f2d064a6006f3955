import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import { Decision, Handoff, messageTypeOf, Negotiation, Quorum, Task } from "@runplane/agents"
import { CommitmentPayloadSchema, ProgressPayloadSchema } from "@runplane/runtime"

/** A message of a session: its type, and its payload as it travels. */
export interface Message {
  readonly messageType: string
  readonly payload: Uint8Array<ArrayBuffer>
}

const of =
  <Desc extends DescMessage>(schema: Desc) =>
  (init: MessageInitShape<Desc>): Message => ({
    messageType: messageTypeOf(schema),
    payload: toBinary(schema, create(schema, init))
  })

/** The messages of the five standard modes (docs/internals/runtime.md#payload-types). */
export const decision = {
  proposal: of(Decision.Proposal),
  evaluation: of(Decision.Evaluation),
  objection: of(Decision.Objection),
  vote: of(Decision.Vote)
}

export const proposal = {
  proposal: of(Negotiation.Proposal),
  counter: of(Negotiation.CounterProposal),
  accept: of(Negotiation.Accept),
  reject: of(Negotiation.Reject),
  withdraw: of(Negotiation.Withdraw)
}

export const task = {
  request: of(Task.Request),
  accept: of(Task.Accept),
  reject: of(Task.Reject),
  update: of(Task.Update),
  complete: of(Task.Complete),
  fail: of(Task.Fail)
}

export const handoff = {
  offer: of(Handoff.Offer),
  context: of(Handoff.Context),
  accept: of(Handoff.Accept),
  decline: of(Handoff.Decline)
}

export const quorum = {
  request: of(Quorum.ApprovalRequest),
  approve: of(Quorum.Approve),
  reject: of(Quorum.Reject),
  abstain: of(Quorum.Abstain)
}

export const progress = of(ProgressPayloadSchema)

/** The end of a session that was started as `Stage` starts it. */
export const commitment = (action: string, outcomePositive: boolean, policyVersion: string): Message =>
  of(CommitmentPayloadSchema)({
    commitmentId: "c1",
    action,
    authorityScope: "suite",
    reason: "as the script says",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    policyVersion,
    outcomePositive
  })
