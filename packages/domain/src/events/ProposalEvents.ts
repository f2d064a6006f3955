import * as Schema from "effect/Schema"
import { booleanAt, numberAt, textAt, textsAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType, maybeFlag, maybeNumber, maybeText, texts } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

/** What the messages of the task mode add. */
const Task = Schema.Struct({
  instructions: maybeText,
  requestedAssignee: maybeText,
  status: maybeText,
  /** A share of 1, or a percentage, as the sender likes. */
  progress: maybeNumber,
  message: maybeText,
  errorCode: maybeText
})

/** What the messages of the handoff mode add. */
const Handoff = Schema.Struct({
  targetParticipant: maybeText,
  scope: maybeText,
  contentType: maybeText
})

/**
 * The talk that leads to a decision, in all modes. `messageType` says what kind of contribution it is, and thereby
 * which of the members it has. The subject is the proposal.
 */
const contribution = {
  ...messageHeader,
  /** The proposal, request, task or handoff that is talked about. */
  proposalId: Schema.String,
  vote: maybeText,
  recommendation: maybeText,
  /** What is to be done: the action that needs approval, or the option, as proposed or revised. */
  action: maybeText,
  title: maybeText,
  /** 0 to 1. */
  confidence: maybeNumber,
  severity: maybeText,
  prompt: maybeText,
  reason: maybeText,
  rationale: maybeText,
  summary: maybeText,
  reasons: texts,
  /** True when a time-out accepted in the participant's name. */
  implicit: Schema.Boolean,
  /** True when the refusal ends the negotiation. */
  terminal: maybeFlag,
  requiredApprovals: maybeNumber,
  /** Only of the messages of a task. */
  task: Schema.UndefinedOr(Task),
  /** Only of the messages of a handoff. */
  handoff: Schema.UndefinedOr(Handoff)
}

/**
 * The runtime accepts an unanswered handoff in its target's name, under such a message id, when the policy's time is
 * up.
 */
const IMPLICIT_ACCEPT_PREFIX = "implicit-accept:"

const readContribution = (json: JsonObject, subjectId: string) => {
  const header = readHeader(json)
  const { messageId, messageType } = header
  const payload = payloadOf(json)
  return {
    ...header,
    proposalId: textAt(payload, "proposalId", "proposal_id") ?? subjectId,
    vote: textAt(payload, "vote"),
    recommendation: textAt(payload, "recommendation"),
    action: textAt(payload, "action", "option", "revisedAction", "revised_action"),
    title: textAt(payload, "title"),
    confidence: numberAt(payload, "confidence"),
    severity: textAt(payload, "severity"),
    prompt: textAt(payload, "prompt"),
    reason: textAt(payload, "reason"),
    rationale: textAt(payload, "rationale"),
    summary: textAt(payload, "summary"),
    reasons: textsAt(payload, "reasons"),
    implicit:
      messageType === "HandoffAccept" &&
      (booleanAt(payload, "implicit") === true || messageId.startsWith(IMPLICIT_ACCEPT_PREFIX)),
    terminal: booleanAt(payload, "terminal"),
    requiredApprovals: numberAt(payload, "requiredApprovals", "required_approvals"),
    task: messageType.startsWith("Task") ? readTask(payload) : undefined,
    handoff: messageType.startsWith("Handoff") ? readHandoff(payload) : undefined
  }
}

const readTask = (payload: JsonObject): typeof Task.Type => ({
  instructions: textAt(payload, "instructions"),
  requestedAssignee: textAt(payload, "requestedAssignee", "requested_assignee"),
  status: textAt(payload, "status"),
  progress: numberAt(payload, "progress"),
  message: textAt(payload, "message"),
  errorCode: textAt(payload, "errorCode", "error_code")
})

const readHandoff = (payload: JsonObject): typeof Handoff.Type => ({
  targetParticipant: textAt(payload, "targetParticipant", "target_participant"),
  scope: textAt(payload, "scope"),
  contentType: textAt(payload, "contentType", "content_type")
})

/** Something was put up for decision. From Proposal, CounterProposal, ApprovalRequest, TaskRequest and HandoffOffer. */
export const ProposalCreated = eventType("proposal.created", contribution, readContribution)

/**
 * Somebody answered to it. From Evaluation, Objection, Vote, Accept, Reject, Withdraw, Approve, Abstain, Contribute,
 * the answers to tasks (TaskAccept, TaskReject, TaskUpdate, TaskComplete, TaskFail) and to handoffs (HandoffContext,
 * HandoffAccept, HandoffDecline).
 */
export const ProposalUpdated = eventType("proposal.updated", contribution, readContribution)
