import * as Schema from "effect/Schema"
import { booleanAt, numberAt, textAt } from "../values/JsonReader.ts"
import { eventType } from "./EventType.ts"
import { inPayload, member, membersOf, textOr } from "./Members.ts"
import { messageHeader, ofTypes } from "./MessageHeader.ts"

/** What the messages of the task mode add. */
const task = membersOf({
  instructions: inPayload.text(),
  requestedAssignee: inPayload.text("requested_assignee"),
  status: inPayload.text(),
  /** A share of 1, or a percentage, as the sender likes. */
  progress: inPayload.number(),
  message: inPayload.text(),
  errorCode: inPayload.text("error_code"),
  /** Bytes of the output of a TaskComplete; 0 without an output. Recorded since outputs can be erased. */
  outputBytes: member(
    Schema.Finite,
    ({ data, payload }, name) => numberAt(data, name) ?? outputBytesOf(payload["output"])
  )
})

/** Bytes come as base64; what an agent sends as JSON counts as it is written. */
export const outputBytesOf = (output: Schema.Json | undefined): number => {
  if (output === undefined || output === null || output === "") return 0
  if (typeof output !== "string") return JSON.stringify(output).length
  const padding = output.endsWith("==") ? 2 : output.endsWith("=") ? 1 : 0
  return Math.max(1, Math.floor((output.length * 3) / 4) - padding)
}

/** What the messages of the handoff mode add. */
const handoff = membersOf({
  targetParticipant: inPayload.text("target_participant"),
  scope: inPayload.text(),
  contentType: inPayload.text("content_type")
})

/**
 * The runtime accepts an unanswered handoff in its target's name, under such a message id, when the policy's time is
 * up.
 */
const IMPLICIT_ACCEPT_PREFIX = "implicit-accept:"

/**
 * The contributions to a decision, in all modes. `messageType` is the kind of contribution and determines its
 * members. The subject is the proposal.
 */
const contribution = {
  ...messageHeader,
  /** The proposal, request, task or handoff that the contribution is about. */
  proposalId: textOr(inPayload.text("proposal_id")),
  vote: inPayload.text(),
  recommendation: inPayload.text(),
  /** What is to be done: the action that needs approval, or the option, as proposed or revised. */
  action: inPayload.text("option", "revisedAction", "revised_action"),
  title: inPayload.text(),
  /** 0 to 1. */
  confidence: inPayload.number(),
  severity: inPayload.text(),
  prompt: inPayload.text(),
  reason: inPayload.text(),
  rationale: inPayload.text(),
  summary: inPayload.text(),
  reasons: inPayload.texts(),
  /** True when a time-out accepted in the participant's name. */
  implicit: member(
    Schema.Boolean,
    ({ data, payload }) =>
      textAt(data, "messageType") === "HandoffAccept" &&
      (booleanAt(payload, "implicit") === true ||
        textAt(data, "messageId")?.startsWith(IMPLICIT_ACCEPT_PREFIX) === true)
  ),
  /** True when the refusal ends the negotiation. */
  terminal: inPayload.flag(),
  requiredApprovals: inPayload.number("required_approvals"),
  task: ofTypes((messageType) => messageType.startsWith("Task"), task),
  handoff: ofTypes((messageType) => messageType.startsWith("Handoff"), handoff)
}

/** A participant proposed something. From Proposal, CounterProposal, ApprovalRequest, TaskRequest and HandoffOffer. */
export const ProposalCreated = eventType("proposal.created", contribution)

/**
 * A participant answered. From Evaluation, Objection, Vote, Accept, Reject, Withdraw, Approve, Abstain, Contribute,
 * the answers to tasks (TaskAccept, TaskReject, TaskUpdate, TaskComplete, TaskFail) and to handoffs (HandoffContext,
 * HandoffAccept, HandoffDecline).
 */
export const ProposalUpdated = eventType("proposal.updated", contribution)
