import type { EventData } from "@runplane/domain"
import { because } from "./PlainText.ts"

type Contribution = EventData<"proposal.created" | "proposal.updated">

/** The text of a contribution of any mode: the second half of a sentence that begins with its sender. */
export const contributionText = (contribution: Contribution): string => {
  const { messageType, reason } = contribution
  // A sender may call its message whatever it likes, `constructor` included.
  const textOf = Object.hasOwn(TEXTS, messageType) ? TEXTS[messageType] : undefined
  return textOf === undefined ? `answers ${messageType}${because(reason)}` : textOf(contribution)
}

const proposes = ({ action, proposalId, rationale, summary, title }: Contribution) =>
  `proposes ${action ?? title ?? (proposalId === "" ? "something" : proposalId)}${because(rationale ?? summary)}`

const evaluates = ({ confidence, reason, recommendation }: Contribution) => {
  const certainty = confidence === undefined ? "" : ` with confidence ${confidence}`
  return `evaluates ${recommendation ?? "the proposal"}${certainty}${because(reason)}`
}

const objects = ({ reason, severity }: Contribution) =>
  `objects${severity === undefined ? "" : ` (${severity})`}${because(reason)}`

const votes = ({ reason, vote }: Contribution) => `votes ${vote ?? "without saying what"}${because(reason)}`

const requestsApproval = ({ action, requiredApprovals, summary }: Contribution) => {
  const approvals = requiredApprovals === undefined ? "approval" : `${requiredApprovals} approvals`
  return `requests ${approvals} of ${action ?? "something"}${because(summary)}`
}

const requestsTask = ({ task, title }: Contribution) => {
  const whom = task?.requestedAssignee === undefined ? "" : ` from ${task.requestedAssignee}`
  return `requests a task${whom}${because(title ?? task?.instructions)}`
}

const reportsWork = ({ task }: Contribution) => {
  const progress = task?.progress
  const share = progress === undefined ? "" : ` (${Math.round(progress <= 1 ? progress * 100 : progress)}%)`
  return `works on it${share}${because(task?.message ?? task?.status)}`
}

const failsTask = ({ reason, task }: Contribution) =>
  `gives the task up${task?.errorCode === undefined ? "" : ` (${task.errorCode})`}${because(reason)}`

const offersHandoff = ({ handoff, reason }: Contribution) =>
  `offers ${handoff?.scope ?? "a handoff"} to ${handoff?.targetParticipant ?? "an unnamed participant"}${because(reason)}`

const acceptsHandoff = ({ implicit, reason }: Contribution) =>
  `accepts the handoff${implicit === true ? " by not answering" : ""}${because(reason)}`

const plainly =
  (verb: string) =>
  ({ reason }: Contribution) =>
    `${verb}${because(reason)}`

/** By message type, which means the same in every mode that has it (docs/internals/runtime.md#payload-types). */
const TEXTS: Readonly<Record<string, (contribution: Contribution) => string>> = {
  Proposal: proposes,
  Evaluation: evaluates,
  Objection: objects,
  Vote: votes,
  CounterProposal: ({ summary, title }) => `counters${because(summary ?? title)}`,
  Accept: plainly("accepts the offer"),
  Reject: ({ reason, terminal }) => `rejects${terminal === true ? " for good" : ""}${because(reason)}`,
  Withdraw: plainly("withdraws an offer"),
  ApprovalRequest: requestsApproval,
  Approve: plainly("approves"),
  Abstain: plainly("abstains"),
  TaskRequest: requestsTask,
  TaskAccept: plainly("takes the task"),
  TaskReject: plainly("declines the task"),
  TaskUpdate: reportsWork,
  TaskComplete: ({ summary }) => `completes the task${because(summary)}`,
  TaskFail: failsTask,
  HandoffOffer: offersHandoff,
  HandoffContext: ({ handoff }) => `passes on what is known${because(handoff?.contentType)}`,
  HandoffAccept: acceptsHandoff,
  HandoffDecline: plainly("declines the handoff")
}
