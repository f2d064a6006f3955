import type { PolicyRules } from "../policies/RuleSchemas.ts"
import type {
  DecisionRecord,
  HandoffRecord,
  ProposalRecord,
  QuorumRecord,
  SessionRecord,
  TaskRecord,
  TaskRejection
} from "../policies/SessionRecord.ts"
import type { StandardMode, Statement } from "./Act.ts"

/** The counted acts in the form that the evaluation of policies reads. */
export const actionLog = (mode: StandardMode, acts: ReadonlyArray<Statement>, rules: PolicyRules): SessionRecord => {
  switch (mode) {
    case "decision":
      return decisionOf(acts)
    case "proposal":
      return proposalOf(acts, rules)
    case "task":
      return taskOf(acts)
    case "handoff":
      return handoffOf(acts)
    case "quorum":
      return quorumOf(acts)
  }
}

const decisionOf = (acts: ReadonlyArray<Statement>): DecisionRecord => ({
  mode: "decision",
  proposals: new Set(acts.flatMap(({ proposalId, type }) => (type === "Proposal" ? [proposalId] : []))).size,
  evaluations: acts.flatMap(({ confidence = 0, recommendation = "", type }) =>
    type === "Evaluation" ? [{ recommendation, confidence }] : []
  ),
  objections: acts.flatMap(({ by, severity = "medium", type }) => (type === "Objection" ? [{ by, severity }] : [])),
  votes: acts.flatMap(({ by, type, vote }) => (type === "Vote" && vote !== undefined ? [{ voter: by, vote }] : []))
})

/** The current offers and answers: a withdrawal removes the acceptances and the final refusals of its offer. */
const proposalOf = (acts: ReadonlyArray<Statement>, rules: PolicyRules): ProposalRecord => {
  const live = new Map<string, string>()
  const accepts = new Map<string, string>()
  const refusals = new Set<string>()
  let counters = 0
  for (const { by, proposalId, terminal, type } of acts) {
    if (type === "Proposal" || type === "CounterProposal") live.set(proposalId, by)
    if (type === "CounterProposal") counters += 1
    if (type === "Accept" && live.has(proposalId)) accepts.set(by, proposalId)
    if (type === "Reject" && (terminal === true || rules.rejection.terminal_on_any_reject)) refusals.add(proposalId)
    if (type === "Withdraw" && live.get(proposalId) === by) {
      live.delete(proposalId)
      refusals.delete(proposalId)
      for (const [participant, accepted] of accepts) if (accepted === proposalId) accepts.delete(participant)
    }
  }
  return {
    mode: "proposal",
    live: Array.from(live, ([proposalId, proposer]) => ({ proposalId, proposer })),
    counters,
    acceptedBy: (participant) => accepts.get(participant),
    isRejected: refusals.size > 0
  }
}

const taskOf = (acts: ReadonlyArray<Statement>): TaskRecord => {
  let requestedAssignee = ""
  let assignee: string | undefined
  let report: TaskRecord["report"]
  const rejections: Array<TaskRejection> = []
  for (const { by, outputBytes = 0, target = "", type } of acts) {
    if (type === "TaskRequest") requestedAssignee = target
    if (type === "TaskAccept") assignee ??= by
    if (type === "TaskReject") {
      rejections.push({ by, whileAssigned: assignee === by })
      if (assignee === by) assignee = undefined
    }
    if (report === undefined && assignee === by) {
      if (type === "TaskComplete") report = { outputBytes }
      if (type === "TaskFail") report = { outputBytes: 0 }
    }
  }
  return { mode: "task", requestedAssignee, assignee, rejections, report }
}

const handoffOf = (acts: ReadonlyArray<Statement>): HandoffRecord => {
  const targets = new Map<string, string | undefined>()
  let isAnswered = false
  let isAccepted = false
  for (const { by, proposalId, target, type } of acts) {
    if (type === "HandoffOffer") targets.set(proposalId, target)
    if ((type !== "HandoffAccept" && type !== "HandoffDecline") || targets.get(proposalId) !== by) continue
    isAnswered = true
    isAccepted ||= type === "HandoffAccept"
  }
  return { mode: "handoff", isAnswered, isAccepted }
}

const quorumOf = (acts: ReadonlyArray<Statement>): QuorumRecord => {
  const ballots = acts.filter(({ type }) => type === "Approve" || type === "Reject" || type === "Abstain")
  return {
    mode: "quorum",
    requiredApprovals: acts.find(({ type }) => type === "ApprovalRequest")?.requiredApprovals,
    ballots: ballots.length,
    approvals: ballots.filter(({ type }) => type === "Approve").length
  }
}
