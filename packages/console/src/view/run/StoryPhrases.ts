import type { EventData } from "@runplane/domain"
import type { Tone } from "../format/Status.ts"

/** What an item of a story is. */
export type StoryKind =
  | "opening"
  | "proposal"
  | "opinion"
  | "objection"
  | "vote"
  | "answer"
  | "commitment"
  | "denial"
  | "work"
  | "run"

export type Contribution = EventData<"proposal.created" | "proposal.updated">

/** A contribution as a sentence that begins with its sender. */
export interface Phrase {
  readonly kind: StoryKind
  readonly verb: string
  readonly tone?: Tone
  readonly object?: string | undefined
  readonly words?: string | undefined
}

const POSITIVE = new Set(["APPROVE", "ACCEPT", "ALLOW", "YES", "GO"])
const NEGATIVE = new Set(["REJECT", "DENY", "BLOCK", "NO", "DECLINE"])

/** How a vote or a recommendation counts to a reader. */
export const toneOfWord = (word: string | undefined): Tone => {
  const upper = (word ?? "").toUpperCase()
  return POSITIVE.has(upper) ? "good" : NEGATIVE.has(upper) ? "bad" : "calm"
}

const plainly =
  (kind: StoryKind, verb: string, tone: Tone = "calm") =>
  ({ reason }: Contribution): Phrase => ({ kind, verb, tone, words: reason })

const percentOf = (progress: number | undefined) =>
  progress === undefined ? "" : ` (${Math.round(progress <= 1 ? progress * 100 : progress)} %)`

/** By message type, which means the same in every mode that has it. */
const phrases: ReadonlyMap<string, (said: Contribution) => Phrase> = new Map<string, (said: Contribution) => Phrase>([
  [
    "Proposal",
    ({ action, proposalId, rationale, summary, title }) => ({
      kind: "proposal",
      verb: "proposes",
      tone: "accent",
      object: action ?? title ?? proposalId,
      words: rationale ?? summary
    })
  ],
  [
    "CounterProposal",
    ({ action, summary, title }) => ({
      kind: "proposal",
      verb: "proposes instead",
      tone: "accent",
      object: action ?? title,
      words: summary
    })
  ],
  [
    "Evaluation",
    ({ reason, recommendation }) => ({
      kind: "opinion",
      verb: "recommends",
      tone: toneOfWord(recommendation),
      object: recommendation ?? "nothing",
      words: reason
    })
  ],
  [
    "Objection",
    ({ reason, severity }) => ({
      kind: "objection",
      verb: severity === undefined ? "objects" : `objects (${severity})`,
      tone: "bad",
      words: reason
    })
  ],
  [
    "Vote",
    ({ reason, vote }) => ({
      kind: "vote",
      verb: "votes",
      tone: toneOfWord(vote),
      object: vote ?? "an unknown value",
      words: reason
    })
  ],
  ["Accept", plainly("answer", "accepts the offer", "good")],
  [
    "Reject",
    ({ reason, terminal }) => ({
      kind: "answer",
      verb: terminal === true ? "rejects the offer finally" : "rejects the offer",
      tone: "bad",
      words: reason
    })
  ],
  ["Withdraw", plainly("answer", "withdraws the offer", "warn")],
  [
    "ApprovalRequest",
    ({ action, requiredApprovals, summary }) => ({
      kind: "proposal",
      verb: requiredApprovals === undefined ? "requests approval of" : `requests ${requiredApprovals} approvals of`,
      tone: "accent",
      object: action,
      words: summary
    })
  ],
  ["Approve", plainly("vote", "approves", "good")],
  ["Abstain", plainly("vote", "abstains")],
  [
    "TaskRequest",
    ({ task, title }) => ({
      kind: "proposal",
      verb:
        task?.requestedAssignee === undefined ? "requests a task" : `requests a task from ${task.requestedAssignee}`,
      tone: "accent",
      object: title,
      words: task?.instructions
    })
  ],
  ["TaskAccept", plainly("answer", "accepts the task", "good")],
  ["TaskReject", plainly("answer", "declines the task", "bad")],
  [
    "TaskUpdate",
    ({ task }) => ({
      kind: "answer",
      verb: `works on the task${percentOf(task?.progress)}`,
      words: task?.message ?? task?.status
    })
  ],
  ["TaskComplete", ({ summary }) => ({ kind: "answer", verb: "completes the task", tone: "good", words: summary })],
  [
    "TaskFail",
    ({ reason, task }) => ({
      kind: "answer",
      verb: task?.errorCode === undefined ? "fails the task" : `fails the task (${task.errorCode})`,
      tone: "bad",
      words: reason
    })
  ],
  [
    "HandoffOffer",
    ({ handoff, reason }) => ({
      kind: "proposal",
      verb: `offers ${handoff?.targetParticipant ?? "a participant"} the handoff`,
      tone: "accent",
      object: handoff?.scope,
      words: reason
    })
  ],
  ["HandoffContext", plainly("answer", "sends context")],
  [
    "HandoffAccept",
    ({ implicit, reason }) => ({
      kind: "answer",
      verb: implicit === true ? "accepts the handoff by time-out" : "accepts the handoff",
      tone: implicit === true ? "warn" : "good",
      words: reason
    })
  ],
  ["HandoffDecline", plainly("answer", "declines the handoff", "bad")]
])

/** The sentence of a contribution. */
export const phraseOf = (said: Contribution): Phrase =>
  phrases.get(said.messageType)?.(said) ?? { kind: "answer", verb: `sends ${said.messageType}`, words: said.reason }

/** The stance of a contribution, to detect that a participant changed its mind. */
export const stanceOf = ({ action, messageType, recommendation, vote }: Contribution): string =>
  vote ?? recommendation ?? action ?? messageType
