import type { CanonicalEvent, EventOf } from "../events/CanonicalEvent.ts"
import { boundName, boundProse } from "../values/Bounds.ts"
import { readAct } from "./Act.ts"
import { saysOf } from "./why/Claims.ts"

/** One step of a run, in a form that can be compared with the same step of another run. */
export interface RunStep {
  readonly seq: number
  readonly index: number
  readonly participantId: string
  /** The message type, `end` of the end of a run. */
  readonly type: string
  /** Equal for the same step of another run: participant, type, subject, and count of repetitions. */
  readonly key: string
  /** In words; most steps are never shown. */
  readonly text: () => string
  /** What counts as a difference. */
  readonly said: Readonly<Record<string, string | number | boolean | null | undefined>>
  /** Free text, which never counts by itself. */
  readonly free: Readonly<Record<string, string | undefined>>
}

/** Reads a run's events one by one. */
export interface StepReader {
  readonly take: (event: CanonicalEvent) => void
  /** The steps of all events; the reader takes no event after this call. */
  readonly read: () => ReadonlyArray<RunStep>
}

type Bare = Omit<RunStep, "key"> & { readonly about: string; readonly messageId: string }

/**
 * The steps of a run in order. Ids, times and seqs never count. A proposal is identified by its proposer and the
 * number among that proposer's proposals, because two participants may send in either order.
 */
export const stepReader = (): StepReader => {
  const steps: Array<RunStep> = []
  const proposals = new Map<string, string>()
  const occurrences = new Map<string, number>()
  const opened = new Map<string, number>()
  let message: Bare | undefined
  const push = ({ about, messageId: _, ...bare }: Bare) => {
    const { type } = bare
    const subject = proposals.get(about) ?? ""
    const actor = type === "Commitment" ? "" : bare.participantId
    // With the lengths in front no two causes are written alike.
    const cause = `${actor.length} ${subject.length} ${actor} ${subject} ${type}`
    const times = (occurrences.get(cause) ?? 0) + 1
    occurrences.set(cause, times)
    steps.push({ ...bare, key: `${times} ${cause}` })
  }
  const flush = () => {
    if (message !== undefined) push(message)
    message = undefined
  }
  const take = (event: CanonicalEvent) => {
    if (event.type === "message.received") {
      flush()
      message = messageStep(event)
      return
    }
    const step = stepOf(event)
    if (step === undefined) return
    // The event derived from a message replaces the message.
    if (step.messageId !== "" && message?.messageId === step.messageId) message = undefined
    flush()
    if (event.type === "proposal.created" && !proposals.has(step.about)) {
      const nth = (opened.get(step.participantId) ?? 0) + 1
      opened.set(step.participantId, nth)
      proposals.set(step.about, `${step.participantId} ${nth}`)
    }
    push(step)
  }
  const read = () => {
    flush()
    return steps
  }
  return { take, read }
}

/** Ambient messages have no order among the acts of a session; usage and progress are not steps. */
const AMBIENT: ReadonlySet<string> = new Set(["Signal", "SignalAck", "SignalAcknowledged", "Progress"])

const messageStep = (event: EventOf<"message.received">): Bare | undefined => {
  const { messageId, messageType, sender, sessionStart } = event.data
  if (AMBIENT.has(messageType)) return undefined
  const { index, seq } = event
  const declared = sessionStart?.participants.toSorted().join(", ")
  const participants = declared === undefined ? undefined : boundProse(declared)
  return {
    seq,
    index,
    participantId: sender,
    type: messageType,
    about: "",
    messageId,
    text: () => `${sender} sent ${messageType}${participants === undefined ? "" : ` to ${participants}`}`,
    said: { participants },
    free: {}
  }
}

const stepOf = (event: CanonicalEvent): Bare | undefined => {
  const { index, seq } = event
  const position = { seq, index, about: "", messageId: "", said: {}, free: {} }
  switch (event.type) {
    case "proposal.created":
    case "proposal.updated":
      return contributionStep(event)
    case "decision.finalized": {
      const { messageId, outcomePositive, reason, sender } = event.data
      const action = boundName(event.data.action ?? "resolved")
      return {
        ...position,
        participantId: sender,
        type: "Commitment",
        messageId,
        text: () => `${sender || "an unnamed participant"} committed ${action}`,
        said: { "the committer": sender, action, outcome: outcomePositive },
        free: { reason: free(reason) }
      }
    }
    case "policy.denied": {
      const { errorMessage, messageId, messageType, sender } = event.data
      const refused = sender === "" ? "a message" : `a message of ${sender}`
      const text = () => `the policy refused ${refused}`
      return {
        ...position,
        participantId: sender,
        type: `denied ${messageType}`,
        messageId,
        text,
        free: { errorMessage: free(errorMessage) }
      }
    }
    case "tool.called":
    case "tool.completed": {
      const { messageId, messageType, sender } = event.data
      return {
        ...position,
        participantId: sender,
        type: messageType,
        messageId,
        text: () => `${sender} sent ${messageType}`
      }
    }
    case "run.completed":
    case "run.failed":
    case "run.cancelled": {
      const ended = event.type.slice("run.".length)
      const errorCode = event.type === "run.failed" ? event.data.errorCode : undefined
      const verb = ended === "cancelled" ? "was cancelled" : ended
      const text = () => `the run ${verb}${errorCode === undefined ? "" : ` with ${errorCode}`}`
      return { ...position, participantId: "", type: "end", text, said: { end: ended, errorCode } }
    }
    case "run.corrected": {
      const { errorCode, status = "completed" } = event.data
      const text = () => `the run ${status}${errorCode === undefined ? "" : ` with ${errorCode}`}`
      return { ...position, participantId: "", type: "end", text, said: { end: status, errorCode } }
    }
    default:
      return undefined
  }
}

const free = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : boundProse(text, 1_024)

/** Confidences closer than a tenth count as equal. */
const tenths = (confidence: number | undefined) => (confidence === undefined ? undefined : Math.round(confidence * 10))

const contributionStep = (event: EventOf<"proposal.created" | "proposal.updated">): Bare => {
  const act = readAct(event)
  const { by, confidence, index, option, outputBytes, proposalId, reason, recommendation, requiredApprovals, seq } = act
  const { severity, target, terminal, type, vote } = act
  return {
    seq,
    index,
    participantId: by,
    type,
    about: proposalId,
    messageId: event.data.messageId,
    text: () => `${by} ${saysOf(act)}`,
    said: {
      vote,
      recommendation,
      confidence: tenths(confidence),
      severity,
      option: option?.trim().replace(/\s+/g, " ").toLowerCase(),
      target,
      terminal: terminal === true,
      requiredApprovals,
      output: outputBytes === undefined ? undefined : outputBytes > 0
    },
    free: { reason }
  }
}
