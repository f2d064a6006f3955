import { draftEvent, type EventDraft } from "../events/CanonicalEvent.ts"
import type { DraftHead } from "../events/EventType.ts"
import type { InlineError } from "../frames/RuntimeFrames.ts"
import type { Redactor } from "../redaction/Redaction.ts"
import { denialsIn, readDenialDetails } from "../run/BoundDenials.ts"
import type { KeptDenials } from "../run/Denials.ts"
import { cleanText } from "../values/CleanJson.ts"
import { objectAt, textAt, textsAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { type EnvelopeContext, headOf, runtimeSource } from "./EnvelopeContext.ts"

/**
 * The event `policy.denied` in its four cases: a message, an acknowledgement, an inline error, an agent's report
 * (docs/reference/events.md#policy-denied).
 */

export const POLICY_DENIED = "POLICY_DENIED"

const DEFAULT_MESSAGE = "policy denied"
const INLINE_PREFIX = /^PolicyDenied(?::|$)/i

/** Case 1: the runtime sent a PolicyDenied message, or a payload with `policyDenied: true`. */
export const denialOfEnvelope = (context: EnvelopeContext): EventDraft => {
  const { payload } = context
  const commitmentId = textAt(payload, "commitmentId", "commitment_id")
  const error = objectAt(payload, "error")
  const stated =
    textAt(payload, "errorMessage", "error_message", "message", "reason") ?? textAt(error ?? {}, "message", "reason")
  const listed = textsAt(payload, "reasons")
  const kept = firstWithDenials(payload, error ?? {})
  const reasons = firstListed(listed, textsAt(error ?? {}, "reasons"), wordsOf(kept))
  const errorMessage = stated ?? (reasons.length > 0 ? reasons.join("; ") : DEFAULT_MESSAGE)
  return draftEvent("policy.denied", headOf(context, "policy", commitmentId ?? context.messageId), {
    modeName: context.modeName,
    messageType: "PolicyDenied",
    messageId: context.messageId,
    sessionId: context.sessionId,
    ...(context.sender !== "" && { sender: context.sender }),
    ...(commitmentId !== undefined && { commitmentId }),
    errorCode: POLICY_DENIED,
    errorMessage,
    ...recorded(kept),
    decodedPayload: denied(reasons.length > 0 ? reasons : [errorMessage])
  })
}

/** Case 2: an acknowledgement on the stream that carries the error code POLICY_DENIED. */
export const denialOfAck = (
  ts: string,
  messageId: string,
  sessionId: string,
  error: InlineError,
  redactor: Redactor
): EventDraft => {
  const errorMessage = redactor.text(cleanText(error.message === "" ? DEFAULT_MESSAGE : error.message))
  const { reasons, ...kept } = readDenialDetails(error.details, redactor.text)
  const head: DraftHead = { ts, subject: { kind: "policy", id: messageId }, source: runtimeSource("send-ack") }
  return draftEvent("policy.denied", head, {
    messageType: "PolicyDenied",
    messageId,
    sessionId,
    errorCode: POLICY_DENIED,
    errorMessage,
    ...recorded(kept),
    decodedPayload: denied(reasons.length > 0 ? reasons : [errorMessage])
  })
}

/** The type of the Signal with which an agent reports that the runtime refused one of its messages. */
export const REFUSAL_SIGNAL = "message.refused"

/**
 * Case 4: an agent reports that its message was denied, because the runtime answers only the sender. `said` is the JSON
 * of the Signal.
 */
export const denialOfSignal = (context: EnvelopeContext, said: JsonObject): EventDraft | undefined => {
  if (textAt(said, "code") !== POLICY_DENIED) return undefined
  const messageId = textAt(said, "messageId", "message_id") ?? context.messageId
  const kept = denialsIn(said)
  const listed = firstListed(textsAt(said, "reasons"), wordsOf(kept))
  const errorMessage = textAt(said, "message") ?? (listed.length > 0 ? listed.join("; ") : DEFAULT_MESSAGE)
  return draftEvent("policy.denied", headOf(context, "policy", messageId), {
    modeName: context.modeName,
    messageType: "PolicyDenied",
    messageId,
    sessionId: context.sessionId,
    ...(context.sender !== "" && { sender: context.sender }),
    errorCode: POLICY_DENIED,
    errorMessage,
    ...recorded(kept),
    decodedPayload: denied(listed.length > 0 ? listed : [errorMessage])
  })
}

/** Whether an inline error frame reports a denial: by its text, which repeats the runtime's status, or by its code. */
export const isInlineDenial = (error: InlineError): boolean =>
  error.code === POLICY_DENIED || INLINE_PREFIX.test(error.code) || INLINE_PREFIX.test(error.message)

/**
 * Case 3: an inline error frame. Runtimes before 0.13 name no message in it, so the subject id is empty; later ones
 * send the same details as in an acknowledgement.
 */
export const denialOfInlineError = (ts: string, error: InlineError, redactor: Redactor): EventDraft => {
  const text = redactor.text(cleanText(error.message === "" ? error.code : error.message))
  const head: DraftHead = { ts, subject: { kind: "policy", id: "" }, source: runtimeSource("stream-inline-error") }
  const { reasons, ...kept } = readDenialDetails(error.details, redactor.text)
  return draftEvent("policy.denied", head, {
    messageType: "PolicyDenied",
    messageId: cleanText(error.messageId),
    sessionId: cleanText(error.sessionId),
    errorCode: POLICY_DENIED,
    errorMessage: text,
    ...recorded(kept),
    decodedPayload: denied(reasons.length > 0 ? reasons : reasonsOfText(text))
  })
}

const denied = (reasons: ReadonlyArray<string>): JsonObject => ({ decision: "deny", reasons })

/** The members that a denial with codes adds to the event. */
const recorded = ({ denials, denialsOmitted }: KeptDenials): JsonObject =>
  denials.length === 0 ? {} : { denials, ...(denialsOmitted !== undefined && { denialsOmitted }) }

const firstWithDenials = (...objects: ReadonlyArray<JsonObject>): KeptDenials =>
  objects.map((object) => denialsIn(object)).find(({ denials }) => denials.length > 0) ?? { denials: [] }

const wordsOf = ({ denials }: KeptDenials): ReadonlyArray<string> => denials.map(({ message }) => message)

const firstListed = (...lists: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  lists.find(({ length }) => length > 0) ?? []

const reasonsOfText = (text: string): ReadonlyArray<string> => {
  const separator = text.indexOf(": ")
  const reasons = (separator < 0 ? "" : text.slice(separator + 2))
    .split("; ")
    .map((reason) => reason.trim())
    .filter((reason) => reason !== "")
  return reasons.length > 0 ? reasons : [text]
}
