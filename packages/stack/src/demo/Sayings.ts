import * as Schema from "effect/Schema"
import { because, flag, number, read, text } from "./Reading.ts"

/** What a message of any mode says, as the second half of a sentence that begins with its sender. */
export const saying = (messageType: string, decodedPayload: unknown): string => {
  const payload = read(Payload, decodedPayload)
  // A sender may call its message whatever it likes, `constructor` included.
  const tell = Object.hasOwn(TELLING, messageType) ? TELLING[messageType] : undefined
  return tell === undefined ? `answers ${messageType}${because(payload.reason)}` : tell(payload)
}

const Payload = Schema.Struct({
  proposalId: text,
  option: text,
  rationale: text,
  title: text,
  summary: text,
  instructions: text,
  requestedAssignee: text,
  action: text,
  requiredApprovals: number,
  targetParticipant: text,
  scope: text,
  contentType: text,
  implicit: flag,
  recommendation: text,
  confidence: number,
  severity: text,
  vote: text,
  terminal: flag,
  status: text,
  progress: number,
  message: text,
  errorCode: text,
  reason: text
})
type Payload = Partial<typeof Payload.Type>

const proposes = ({ option, proposalId, rationale, summary, title }: Payload) =>
  `proposes ${option ?? title ?? proposalId ?? "something"}${because(rationale ?? summary)}`

const evaluates = ({ confidence, reason, recommendation }: Payload) => {
  const certainty = confidence === undefined ? "" : ` with confidence ${confidence}`
  return `evaluates ${recommendation ?? "the proposal"}${certainty}${because(reason)}`
}

const objects = ({ reason, severity }: Payload) =>
  `objects${severity === undefined ? "" : ` (${severity})`}${because(reason)}`

const votes = ({ reason, vote }: Payload) => `votes ${vote ?? "without saying what"}${because(reason)}`

const asksForApproval = ({ action, requiredApprovals, summary }: Payload) => {
  const approvals = requiredApprovals === undefined ? "approval" : `${requiredApprovals} approvals`
  return `asks for ${approvals} of ${action ?? "something"}${because(summary)}`
}

const requestsTask = ({ instructions, requestedAssignee, title }: Payload) => {
  const whom = requestedAssignee === undefined ? "" : ` from ${requestedAssignee}`
  return `requests a task${whom}${because(title ?? instructions)}`
}

const reportsWork = ({ message, progress, status }: Payload) => {
  const share = progress === undefined ? "" : ` (${Math.round(progress <= 1 ? progress * 100 : progress)}%)`
  return `works on it${share}${because(message ?? status)}`
}

const failsTask = ({ errorCode, reason }: Payload) =>
  `gives the task up${errorCode === undefined ? "" : ` (${errorCode})`}${because(reason)}`

const offersHandoff = ({ reason, scope, targetParticipant }: Payload) =>
  `offers ${scope ?? "a handoff"} to ${targetParticipant ?? "somebody"}${because(reason)}`

const acceptsHandoff = ({ implicit, reason }: Payload) =>
  `takes over${implicit === true ? " by not answering" : ""}${because(reason)}`

const plainly =
  (verb: string) =>
  ({ reason }: Payload) =>
    `${verb}${because(reason)}`

/** By message type, which means the same in every mode that has it (runtime-wire section 1.11). */
const TELLING: Readonly<Record<string, (payload: Payload) => string>> = {
  Proposal: proposes,
  Evaluation: evaluates,
  Objection: objects,
  Vote: votes,
  CounterProposal: ({ summary, title }) => `counters${because(summary ?? title)}`,
  Accept: plainly("accepts the offer"),
  Reject: ({ reason, terminal }) => `rejects${terminal === true ? " for good" : ""}${because(reason)}`,
  Withdraw: plainly("withdraws an offer"),
  ApprovalRequest: asksForApproval,
  Approve: plainly("approves"),
  Abstain: plainly("abstains"),
  TaskRequest: requestsTask,
  TaskAccept: plainly("takes the task"),
  TaskReject: plainly("declines the task"),
  TaskUpdate: reportsWork,
  TaskComplete: ({ summary }) => `completes the task${because(summary)}`,
  TaskFail: failsTask,
  HandoffOffer: offersHandoff,
  HandoffContext: ({ contentType }) => `passes on what is known${because(contentType)}`,
  HandoffAccept: acceptsHandoff,
  HandoffDecline: plainly("declines to take over")
}
