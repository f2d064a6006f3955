import type { CanonicalEvent, EventOf } from "../events/CanonicalEvent.ts"
import type { CanonicalEventType } from "../events/CanonicalEventType.ts"
import { OTLP_RUNTIME_KIND } from "../events/MessageHeader.ts"
import { lastTextOf } from "../otlp/meaning/Messages.ts"
import { committedWords } from "../run/ActionWords.ts"
import { denialText } from "../run/DenialText.ts"
import { booleanAt, isJsonObject, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { type Phrase, phrase } from "../values/Phrase.ts"
import { messageSentence } from "./MessageSentence.ts"
import { answerSentence, questionSentence, turnSentence } from "./PeopleSentence.ts"
import type { Sentence } from "./Sentence.ts"

type Rest = Pick<Sentence, "kind" | "verb"> & Partial<Omit<Sentence, "who" | "by">>

const sentence = (who: Pick<Sentence, "who" | "by">, rest: Rest): Sentence => ({
  ...who,
  tone: "calm",
  weight: "normal",
  ...rest
})

/** A sentence of the participant that sent the event. */
const said = ({ data: { sender } }: { readonly data: { readonly sender: string } }, rest: Rest): Sentence =>
  sentence(participant(sender), rest)

const participant = (name: string): Pick<Sentence, "who" | "by"> =>
  name === "" ? { who: "an agent", by: "unknown" } : { who: name, by: "participant" }

const ofRun = (rest: Rest): Sentence => sentence({ who: "run", by: "run" }, rest)

/**
 * The sentence of an event; undefined for events that are only noise to a reader (acknowledged messages, verified
 * receipts, progress percentages, signals that other events repeat). `subject` names the subject of an answer, where
 * there are several (`subjectName`). Pure and total.
 */
export const sentenceOf = (event: CanonicalEvent, subject?: string): Sentence | undefined => {
  switch (event.type) {
    case "run.created":
      return event.data.runtimeKind === OTLP_RUNTIME_KIND
        ? ofRun({ kind: "session", verb: "begins", note: phrase`with the first span`, weight: "low" })
        : ofRun({ kind: "session", verb: "is created", note: phrase`waiting for its session`, weight: "low" })
    case "message.received":
      return message(event)
    case "session.bound":
      return opening(event)
    case "session.stream.opened":
      return stream(event)
    case "proposal.created":
    case "proposal.updated":
      return said(event, messageSentence(event.data, subject))
    case "signal.emitted":
      return signal(event)
    case "llm.call.completed":
      return modelCall(event)
    case "tool.called":
      return said(event, { kind: "tool call", verb: "calls", object: toolNameOf(event), weight: "low" })
    case "tool.completed":
      return toolResult(event)
    case "policy.denied":
      return denial(event)
    case "decision.finalized":
      return commitment(event)
    case "artifact.created":
      return artifact(event)
    case "run.completed":
      return ofRun({ kind: "end", verb: "is completed", tone: "good", weight: "high" })
    case "run.failed":
      return ofRun({ kind: "end", verb: "fails", ...failure(event), tone: "bad", weight: "high" })
    case "run.cancelled":
      return ofRun({ kind: "end", verb: "is cancelled", words: event.data.reason, tone: "warn", weight: "high" })
    case "run.corrected":
      return correction(event)
    case "run.suspended":
      return ofRun({ kind: "run", verb: "is suspended", words: event.data.reason, tone: "warn" })
    case "run.resumed":
      return ofRun({ kind: "run", verb: "is resumed", words: event.data.reason, tone: "accent" })
    default:
      return undefined
  }
}

/** The opening of a session, and work between agents as telemetry reports it; other messages have their own events. */
const message = (event: EventOf<"message.received">): Sentence | undefined => {
  const { messageType, payload, sessionStart, to } = event.data
  const target = to[0] ?? "an agent"
  switch (messageType) {
    case "SessionStart": {
      const words = sessionStart?.intent === "" ? undefined : sessionStart?.intent
      return said(event, { kind: "opening", verb: "opens the session", words, tone: "accent", weight: "repeated" })
    }
    case "AgentInvoked": {
      const words = lastTextOf(payload["input"])
      return said(event, { kind: "opening", verb: "invokes", object: target, words, tone: "accent" })
    }
    case "AgentAnswered":
      return booleanAt(event.recorded.data, "ok") === false
        ? said(event, {
            kind: "answer",
            verb: "fails to answer",
            object: target,
            words: errorOf(event),
            tone: "bad",
            weight: "high"
          })
        : said(event, { kind: "answer", verb: "answers", object: target, words: lastTextOf(payload["output"]) })
    case "Handoff":
      return said(event, { kind: "work", verb: "makes a handoff to", object: target })
    default:
      return undefined
  }
}

const opening = ({ data }: EventOf<"session.bound">): Sentence => {
  const { initiator = "", participants, policyVersion } = data
  const verb = `opens the session for ${participants.length} ${participants.length === 1 ? "participant" : "participants"}`
  const note = policyVersion === undefined || policyVersion === "" ? undefined : phrase`under ${policyVersion}`
  return sentence(participant(initiator), { kind: "session", verb, note, tone: "accent" })
}

const stream = ({ data: { status } }: EventOf<"session.stream.opened">): Sentence | undefined => {
  if (status === "reconnecting") return ofRun({ kind: "session", verb: "reconnects to its session", tone: "warn" })
  return status === "recovered" ? ofRun({ kind: "session", verb: "is connected to its session again" }) : undefined
}

/** Signals that another event, or another sentence, repeats. */
const REPEATED_SIGNALS = new Set(["", "session.started", "session.ended", "session.context", "llm.call.completed"])

const signal = (event: EventOf<"signal.emitted">): Sentence | undefined => {
  const { confidence, severity, signalType = "" } = event.data
  if (REPEATED_SIGNALS.has(signalType)) return undefined
  const detail = severity === undefined ? undefined : phrase`${severity}`
  return said(event, { kind: "signal", verb: "signals", object: signalType, detail, confidence })
}

const modelCall = (event: EventOf<"llm.call.completed">): Sentence => {
  const { answered, model } = event.data
  const verb = answered === false ? "calls" : "uses"
  return said(event, {
    kind: "model call",
    verb: model === undefined ? `${verb} a model` : verb,
    object: model,
    note: usageOf(event),
    weight: "low"
  })
}

const usageOf = ({ data }: EventOf<"llm.call.completed">): Phrase => {
  const { answered, calls, completionTokens, promptTokens, totalTokens, usage } = data
  if (calls === 0) return phrase`tokens not counted here`
  if (answered === false) return phrase`without an answer`
  const several = calls === 1 ? phrase`` : phrase`${calls} calls, `
  if (usage === "missing") return phrase`${several}tokens not stated`
  return promptTokens + completionTokens === totalTokens
    ? phrase`${several}${promptTokens} + ${completionTokens} tokens`
    : phrase`${several}${totalTokens} tokens`
}

const toolNameOf = ({ data }: { readonly data: { readonly payload: JsonObject } }): string =>
  textAt(data.payload, "name", "toolName", "tool_name", "tool") ?? "a tool"

/** The call has its own sentence, so only a failure says something new. */
const toolResult = (event: EventOf<"tool.completed">): Sentence => {
  const object = toolNameOf(event)
  if (booleanAt(event.recorded.data, "ok") !== false) {
    return said(event, { kind: "tool result", verb: "uses", object, weight: "repeated" })
  }
  const verb = booleanAt(event.recorded.data, "refused") === true ? "is refused the use of" : "fails to use"
  return said(event, { kind: "tool result", verb, object, words: errorOf(event), tone: "bad" })
}

const denial = ({ data: { denials, errorMessage, reasons, sender } }: EventOf<"policy.denied">): Sentence => {
  const stated = denials.length > 0 ? denials.map(denialText).join("; ") : (errorMessage ?? reasons.join("; "))
  return sentence(
    { who: "policy", by: "policy" },
    {
      kind: "denial",
      verb: sender === "" ? "refuses a message of an agent" : "refuses a message of",
      object: sender === "" ? undefined : sender,
      words: stated === "" ? undefined : stated,
      tone: "bad",
      weight: "high"
    }
  )
}

const commitment = (event: EventOf<"decision.finalized">): Sentence => {
  const { action, confidence, outcomePositive, reason, reasons } = event.data
  const standard = committedWords(action, outcomePositive)
  const named =
    standard === undefined
      ? {
          verb: action === undefined ? "commits the decision" : "commits",
          object: action,
          detail: outcomePositive === null ? undefined : outcomePositive ? phrase`positive` : phrase`negative`
        }
      : { verb: `commits ${standard}` }
  return said(event, {
    kind: "commitment",
    ...named,
    confidence,
    words: reason ?? (reasons.length === 0 ? undefined : reasons.join("; ")),
    tone: outcomePositive === null ? "calm" : outcomePositive ? "good" : "bad",
    weight: "high"
  })
}

/** A question to a person, an answer, a turn, or the receipt of the decision; undefined for other artifacts. */
const artifact = (event: EventOf<"artifact.created">): Sentence | undefined => {
  const { answer, item, turn } = event.data
  if (item !== undefined) return questionSentence(item)
  if (turn !== undefined) return turnSentence(turn)
  return answer === undefined ? receipt(event) : answerSentence(answer)
}

/** The receipt of the decision; undefined for a verified one, and for other artifacts. */
const receipt = ({ data: { receipt: report } }: EventOf<"artifact.created">): Sentence | undefined => {
  if (report === undefined || report.verified) return undefined
  const { disagreements, reason } = report
  if (disagreements === undefined) {
    return ofRun({ kind: "receipt", verb: "has no verified receipt of its decision", words: reason, tone: "warn" })
  }
  return ofRun({
    kind: "receipt",
    verb: "has a receipt that disagrees with the log in",
    object: disagreements.join(", "),
    tone: "bad",
    weight: "high"
  })
}

/** A run whose root came after its end, and says otherwise. */
const correction = (event: EventOf<"run.corrected">): Sentence => {
  const { status } = event.data
  return ofRun({
    kind: "end",
    verb: status === "failed" ? "fails" : status === "completed" ? "is completed" : "ends",
    ...failure(event),
    note: phrase`as its root says`,
    tone: status === "failed" ? "bad" : "good",
    weight: "high"
  })
}

const failure = ({ data: { error, errorCode } }: EventOf<"run.corrected" | "run.failed">) => ({
  detail: errorCode === undefined ? undefined : phrase`${errorCode}`,
  words: error
})

/** The error of an event, in the words of the application. */
const errorOf = ({ recorded }: Pick<EventOf<CanonicalEventType>, "recorded">): string | undefined => {
  const { error } = recorded.data
  return isJsonObject(error) ? (textAt(error, "message") ?? textAt(error, "type")) : undefined
}
