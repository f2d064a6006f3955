import type { EventData } from "../events/CanonicalEvent.ts"
import { voteOf } from "../run/Outcome.ts"
import { type Phrase, phrase } from "../values/Phrase.ts"
import type { Sentence, SentenceKind, Tone } from "./Sentence.ts"

type Message = EventData<"proposal.created" | "proposal.updated">

/** A sentence without its sender, and with the defaults left out. */
type Said = Pick<Sentence, "kind" | "verb" | "object" | "detail" | "about" | "note" | "words"> & {
  readonly tone?: Tone
}

/**
 * The sentence of a message of any mode, without its sender. `subject` names the subject of an answer, where there
 * are several: "votes REJECT on go".
 */
export const messageSentence = (
  message: Message,
  subject: string | undefined
): Omit<Sentence, "who" | "by" | "weight"> => {
  const { confidence, messageType } = message
  // A sender may call its message whatever it likes, `constructor` included.
  const sentence = Object.hasOwn(SENTENCES, messageType) ? SENTENCES[messageType] : undefined
  const said = sentence === undefined ? unknown(message) : sentence(message)
  const about = said.about ?? (subject === undefined ? undefined : aboutOf(messageType, subject))
  return { tone: "calm", confidence, ...said, about }
}

/** The subject of an answer with its preposition: "on go", "to go"; in brackets behind a verb that has an object. */
const aboutOf = (messageType: string, name: string): Phrase => {
  switch (messageType) {
    case "Vote":
    case "Evaluation":
    case "Abstain":
      return phrase`on ${name}`
    case "Objection":
      return phrase`to ${name}`
    default:
      return phrase`(${name})`
  }
}

const toneOf = ({ messageType, recommendation, vote }: Message): Tone => {
  const side = voteOf(messageType, vote ?? recommendation)
  return side === undefined ? "calm" : side === "allow" ? "good" : "bad"
}

const quoted = (text: string | undefined): Phrase | undefined => (text === undefined ? undefined : phrase`${text}`)

const unknown = ({ messageType, reason }: Message): Said => ({
  kind: "answer",
  verb: "sends",
  object: messageType === "" ? "a message" : messageType,
  words: reason
})

const proposes = ({ action, proposalId, rationale, summary, title }: Message): Said => ({
  kind: "proposal",
  verb: "proposes",
  object: action ?? title ?? (proposalId === "" ? "something" : proposalId),
  words: rationale ?? summary,
  tone: "accent"
})

const counters = ({ action, summary, title }: Message): Said => {
  const object = action ?? title
  return {
    kind: "proposal",
    verb: object === undefined ? "makes a counter-proposal" : "proposes instead",
    object,
    words: summary,
    tone: "accent"
  }
}

const evaluates = (said: Message): Said => ({
  kind: "opinion",
  verb: said.recommendation === undefined ? "evaluates the proposal" : "recommends",
  object: said.recommendation,
  words: said.reason,
  tone: toneOf(said)
})

const objects = ({ reason, severity }: Message): Said => ({
  kind: "objection",
  verb: "objects",
  detail: quoted(severity),
  words: reason,
  tone: "bad"
})

const votes = (said: Message): Said => ({
  kind: "vote",
  verb: said.vote === undefined ? "votes without a value" : "votes",
  object: said.vote,
  words: said.reason,
  tone: toneOf(said)
})

const requestsApproval = ({ action, requiredApprovals, summary }: Message): Said => ({
  kind: "proposal",
  verb: requiredApprovals === undefined ? "requests approval of" : `requests ${approvals(requiredApprovals)} of`,
  object: action ?? "something",
  words: summary,
  tone: "accent"
})

const approvals = (count: number): string => `${count} ${count === 1 ? "approval" : "approvals"}`

const requestsTask = ({ task, title }: Message): Said => ({
  kind: "proposal",
  verb: title === undefined ? "requests a task" : "requests the task",
  object: title,
  about: task?.requestedAssignee === undefined ? undefined : phrase`from ${task.requestedAssignee}`,
  words: task?.instructions,
  tone: "accent"
})

const reportsWork = ({ task }: Message): Said => {
  const progress = task?.progress
  const share = progress === undefined ? undefined : Math.round(progress <= 1 ? progress * 100 : progress)
  return {
    kind: "answer",
    verb: "works on the task",
    detail: share === undefined ? undefined : phrase`${share} %`,
    words: task?.message ?? task?.status
  }
}

const offersHandoff = ({ handoff, reason }: Message): Said => ({
  kind: "proposal",
  verb: "offers",
  object: handoff?.scope ?? "a handoff",
  about:
    handoff?.targetParticipant === undefined
      ? phrase`to an unnamed participant`
      : phrase`to ${handoff.targetParticipant}`,
  words: reason,
  tone: "accent"
})

const plainly =
  (kind: SentenceKind, verb: string, tone: Tone = "calm") =>
  ({ reason }: Message): Said => ({ kind, verb, words: reason, tone })

/** By message type, which means the same in every mode that has it (docs/internals/runtime.md#payload-types). */
const SENTENCES: Readonly<Record<string, (message: Message) => Said>> = {
  Proposal: proposes,
  CounterProposal: counters,
  Evaluation: evaluates,
  Objection: objects,
  Vote: votes,
  Accept: plainly("answer", "accepts the offer", "good"),
  Reject: ({ reason, terminal }) => ({
    kind: "answer",
    verb: terminal === true ? "rejects the offer for good" : "rejects the offer",
    words: reason,
    tone: "bad"
  }),
  Withdraw: plainly("answer", "withdraws the offer", "warn"),
  ApprovalRequest: requestsApproval,
  Approve: plainly("vote", "approves", "good"),
  Abstain: plainly("vote", "abstains"),
  Contribute: plainly("answer", "contributes"),
  TaskRequest: requestsTask,
  TaskAccept: plainly("answer", "accepts the task", "good"),
  TaskReject: plainly("answer", "declines the task", "bad"),
  TaskUpdate: reportsWork,
  TaskComplete: ({ summary }) => ({ kind: "answer", verb: "completes the task", words: summary, tone: "good" }),
  TaskFail: ({ reason, task }) => ({
    kind: "answer",
    verb: "fails the task",
    detail: quoted(task?.errorCode),
    words: reason,
    tone: "bad"
  }),
  HandoffOffer: offersHandoff,
  HandoffContext: ({ handoff, reason }) => ({
    kind: "answer",
    verb: "sends context",
    detail: quoted(handoff?.contentType),
    words: reason
  }),
  HandoffAccept: ({ implicit, reason }) => ({
    kind: "answer",
    verb: implicit === true ? "accepts the handoff by time-out" : "accepts the handoff",
    words: reason,
    tone: implicit === true ? "warn" : "good"
  }),
  HandoffDecline: plainly("answer", "declines the handoff", "bad")
}
