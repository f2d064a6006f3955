import type { EventData } from "../events/CanonicalEvent.ts"

type Contribution = EventData<"proposal.created" | "proposal.updated">

/** The end of a sentence with a reason: `: <reason>`, or nothing without one. */
export type Because = (reason: string | undefined) => string

/**
 * The text of a contribution of any mode: the second half of a sentence that begins with its sender. `about` names the
 * subject of an answer, where there are several: "votes REJECT on go".
 */
export const contributionText = (contribution: Contribution, because: Because, about?: string): string => {
  const { messageType, reason } = contribution
  // A sender may call its message whatever it likes, `constructor` included.
  const textOf = Object.hasOwn(TEXTS, messageType) ? TEXTS[messageType] : undefined
  const subject = about === undefined ? "" : ` ${aboutText(messageType, about)}`
  const ending: Because = (stated) => `${subject}${because(stated)}`
  return textOf === undefined ? `answers ${messageType}${ending(reason)}` : textOf(contribution, ending)
}

/** The subject of an answer with its preposition: "on go", "to go"; in brackets behind a verb that has an object. */
export const aboutText = (messageType: string, name: string): string => {
  switch (messageType) {
    case "Vote":
    case "Evaluation":
    case "Abstain":
      return `on ${name}`
    case "Objection":
      return `to ${name}`
    default:
      return `(${name})`
  }
}

const proposes = ({ action, proposalId, rationale, summary, title }: Contribution, because: Because) =>
  `proposes ${action ?? title ?? (proposalId === "" ? "something" : proposalId)}${because(rationale ?? summary)}`

const evaluates = ({ confidence, reason, recommendation }: Contribution, because: Because) => {
  const certainty = confidence === undefined ? "" : ` with confidence ${confidence}`
  return `evaluates ${recommendation ?? "the proposal"}${certainty}${because(reason)}`
}

const objects = ({ reason, severity }: Contribution, because: Because) =>
  `objects${severity === undefined ? "" : ` (${severity})`}${because(reason)}`

const votes = ({ reason, vote }: Contribution, because: Because) =>
  `votes ${vote ?? "without saying what"}${because(reason)}`

const requestsApproval = ({ action, requiredApprovals, summary }: Contribution, because: Because) => {
  const approvals = requiredApprovals === undefined ? "approval" : `${requiredApprovals} approvals`
  return `requests ${approvals} of ${action ?? "something"}${because(summary)}`
}

const requestsTask = ({ task, title }: Contribution, because: Because) => {
  const whom = task?.requestedAssignee === undefined ? "" : ` from ${task.requestedAssignee}`
  return `requests a task${whom}${because(title ?? task?.instructions)}`
}

const reportsWork = ({ task }: Contribution, because: Because) => {
  const progress = task?.progress
  const share = progress === undefined ? "" : ` (${Math.round(progress <= 1 ? progress * 100 : progress)}%)`
  return `works on it${share}${because(task?.message ?? task?.status)}`
}

const failsTask = ({ reason, task }: Contribution, because: Because) =>
  `gives the task up${task?.errorCode === undefined ? "" : ` (${task.errorCode})`}${because(reason)}`

const offersHandoff = ({ handoff, reason }: Contribution, because: Because) =>
  `offers ${handoff?.scope ?? "a handoff"} to ${handoff?.targetParticipant ?? "an unnamed participant"}${because(reason)}`

const acceptsHandoff = ({ implicit, reason }: Contribution, because: Because) =>
  `accepts the handoff${implicit === true ? " by not answering" : ""}${because(reason)}`

const plainly =
  (verb: string) =>
  ({ reason }: Contribution, because: Because) =>
    `${verb}${because(reason)}`

/** By message type, which means the same in every mode that has it (docs/internals/runtime.md#payload-types). */
const TEXTS: Readonly<Record<string, (contribution: Contribution, because: Because) => string>> = {
  Proposal: proposes,
  Evaluation: evaluates,
  Objection: objects,
  Vote: votes,
  CounterProposal: ({ summary, title }, because) => `counters${because(summary ?? title)}`,
  Accept: plainly("accepts the offer"),
  Reject: ({ reason, terminal }, because) => `rejects${terminal === true ? " for good" : ""}${because(reason)}`,
  Withdraw: plainly("withdraws an offer"),
  ApprovalRequest: requestsApproval,
  Approve: plainly("approves"),
  Abstain: plainly("abstains"),
  TaskRequest: requestsTask,
  TaskAccept: plainly("takes the task"),
  TaskReject: plainly("declines the task"),
  TaskUpdate: reportsWork,
  TaskComplete: ({ summary }, because) => `completes the task${because(summary)}`,
  TaskFail: failsTask,
  HandoffOffer: offersHandoff,
  HandoffContext: ({ handoff }, because) => `passes on what is known${because(handoff?.contentType)}`,
  HandoffAccept: acceptsHandoff,
  HandoffDecline: plainly("declines the handoff")
}
