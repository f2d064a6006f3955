import * as Base64 from "effect/encoding/Base64"
import type { EventDraft } from "./CanonicalEvent.ts"
import { cleanNumber, cleanObject, cleanText } from "./CleanJson.ts"
import { sessionStateData, streamOpenedData } from "./ControlPlaneEvents.ts"
import { textAt, textsAt } from "./JsonReader.ts"
import { extractLlmUsage } from "./LlmUsage.ts"
import { derivedEvent, taskProgressEvent } from "./normaliser/DerivedEvents.ts"
import {
  derivedData,
  type EnvelopeContext,
  makeEnvelopeContext,
  RUNTIME_SOURCE_NAME,
  runtimeSource
} from "./normaliser/EnvelopeContext.ts"
import { denialOfAck, denialOfInlineError, isInlineDenial, POLICY_DENIED } from "./normaliser/PolicyDenial.ts"
import { type OutboundMessageDraft, outboundCategoryOf } from "./OutboundMessage.ts"
import type { JsonObject, PayloadDecoder } from "./PayloadDecoder.ts"
import { type DecodedPayload, decodePayload, lossyTextOf } from "./PayloadTypes.ts"
import type { Redactor } from "./Redaction.ts"
import type { InlineError, RawEnvelope, RawFrame, SendAck } from "./RuntimeFrames.ts"
import { estimateCostUsd, type TokenPricing } from "./TokenPricing.ts"

/** A raw event before the store numbers it (http-details section 4.9, "rawEvents"). */
export interface RawEventDraft {
  readonly kind: string
  readonly sourceName: string
  readonly payload: JsonObject
}

/** What one runtime frame adds to the log of its run. */
export interface NormalisedFrame {
  /** Canonical events in emission order. */
  readonly drafts: ReadonlyArray<EventDraft>
  readonly raw: RawEventDraft
  /** The captured message, when the frame carries one with an id. */
  readonly message?: OutboundMessageDraft
  /** A sender that was neither declared nor seen before: to be added to the known participants. */
  readonly seenParticipant?: string
}

export interface Normaliser {
  /**
   * Turns one frame into canonical events (http-details sections 6.3 and 6.4). Total: no frame makes it throw, and whatever
   * it answers survives JSON and PostgreSQL text unchanged. `known` holds the participants declared or seen so far;
   * `receivedAt` is the ISO time of reception, which all events of the frame bear.
   */
  readonly normalise: (known: ReadonlySet<string>, frame: RawFrame, receivedAt: string) => NormalisedFrame
}

export interface NormaliserOptions {
  readonly decode: PayloadDecoder
  readonly redactor: Redactor
  readonly pricing: TokenPricing
}

export const makeNormaliser = (options: NormaliserOptions): Normaliser => ({
  normalise: (known, frame, receivedAt) => {
    switch (frame.kind) {
      case "stream-envelope":
        return normaliseEnvelope(options, known, frame.envelope, frame.ambient, receivedAt)
      case "send-ack":
        return normaliseAck(options.redactor, frame.ack, receivedAt)
      case "stream-inline-error":
        return normaliseInlineError(options.redactor, frame.error, receivedAt)
      case "session-snapshot":
        return {
          drafts: [
            {
              ts: receivedAt,
              type: "session.state.changed",
              subject: { kind: "session", id: cleanText(frame.snapshot.sessionId) },
              source: runtimeSource(frame.kind),
              data: sessionStateData(frame.snapshot)
            }
          ],
          raw: raw(frame.kind, { snapshot: cleanObject(frame.snapshot) })
        }
      case "stream-status": {
        const { kind, sessionId, ...status } = frame
        return {
          drafts: [
            {
              ts: receivedAt,
              type: "session.stream.opened",
              ...(sessionId !== undefined && { subject: { kind: "session", id: cleanText(sessionId) } }),
              source: runtimeSource(kind),
              data: streamOpenedData(status)
            }
          ],
          raw: raw(kind, cleanObject({ ...status, sessionId }))
        }
      }
    }
  }
})

const normaliseEnvelope = (
  { decode, pricing, redactor }: NormaliserOptions,
  known: ReadonlySet<string>,
  envelope: RawEnvelope,
  ambient: boolean,
  receivedAt: string
): NormalisedFrame => {
  const decoded = decodePayload(decode, envelope)
  const payload = redactor.payload(decoded.payload)
  const context = makeEnvelopeContext(envelope, decoded, payload, ambient, receivedAt)
  const isNew = context.sender !== "" && !known.has(context.sender)
  const derived = derivedEvent(context)
  const usage = llmEvent(context, pricing)
  const progress = taskProgressEvent(context)
  const drafts: Array<EventDraft> = []
  if (isNew) drafts.push(participantSeenEvent(context))
  drafts.push(receivedEvent(context))
  if (usage !== undefined) drafts.push(usage)
  if (derived !== undefined) drafts.push(derived)
  if (progress !== undefined) drafts.push(progress)
  return {
    drafts,
    raw: rawEnvelope(context, envelope, decoded, redactor),
    ...(context.messageId !== "" && { message: acceptedMessage(context, decoded, envelope.payload.length, known) }),
    ...(isNew && { seenParticipant: context.sender })
  }
}

const participantSeenEvent = (context: EnvelopeContext): EventDraft => ({
  ts: context.ts,
  type: "participant.seen",
  subject: { kind: "participant", id: context.sender },
  source: runtimeSource(context.messageType),
  data: { participantId: context.sender }
})

const receivedEvent = (context: EnvelopeContext): EventDraft => ({
  ts: context.ts,
  type: "message.received",
  subject: { kind: "message", id: context.messageId },
  source: runtimeSource(context.messageType),
  data: {
    modeName: context.modeName,
    messageType: context.messageType,
    messageId: context.messageId,
    sessionId: context.sessionId,
    sender: context.sender,
    payload: context.payload
  }
})

/** The cost is in the event, as supplied or as priced now, so that no later fold needs the price table. */
const llmEvent = (context: EnvelopeContext, pricing: TokenPricing): EventDraft | undefined => {
  const usage = extractLlmUsage(context.messageType, context.payload)
  if (usage === undefined) return undefined
  const estimatedCostUsd =
    usage.estimatedCostUsd ?? estimateCostUsd(pricing, usage.model, usage.promptTokens, usage.completionTokens)
  const { payloadTypeName: _, ...data } = derivedData(context, { ...usage, estimatedCostUsd })
  return {
    ts: context.ts,
    type: "llm.call.completed",
    subject: { kind: "message", id: context.messageId },
    source: runtimeSource(context.messageType),
    data
  }
}

const acceptedMessage = (
  context: EnvelopeContext,
  decoded: DecodedPayload,
  payloadBytes: number,
  known: ReadonlySet<string>
): OutboundMessageDraft => ({
  runtimeSessionId: context.sessionId,
  messageId: context.messageId,
  messageType: context.messageType,
  category: outboundCategoryOf(context.messageType),
  sender: context.sender,
  recipients: recipientsOf(context, known),
  status: "accepted",
  payloadDescriptor: {
    ...(decoded.payloadTypeName !== undefined && { payloadTypeName: decoded.payloadTypeName }),
    encoding: decoded.encoding,
    payloadBytes
  },
  createdAt: context.ts,
  acceptedAt: context.ts,
  updatedAt: context.ts
})

const recipientsOf = ({ messageType, payload, sender }: EnvelopeContext, known: ReadonlySet<string>) => {
  if (messageType === "SessionStart") return textsAt(payload, "participants").filter((id) => id !== sender)
  if (messageType === "Proposal") return [...known].filter((id) => id !== sender)
  const target =
    textAt(payload, "requestedAssignee", "requested_assignee") ??
    textAt(payload, "targetParticipant", "target_participant")
  return target === undefined ? [] : [target]
}

/**
 * The envelope as received. When redaction removed anything, from the decoded payload or from what the bytes say as text,
 * the bytes are replaced by the redacted payload as JSON and `redacted` says so.
 */
const rawEnvelope = (
  context: EnvelopeContext,
  envelope: RawEnvelope,
  decoded: DecodedPayload,
  redactor: Redactor
): RawEventDraft => {
  const redacted = context.payload !== decoded.payload || (redactor.enabled && saysSecrets(redactor, envelope.payload))
  return raw("stream-envelope", {
    envelope: {
      macpVersion: cleanText(envelope.macpVersion),
      mode: context.modeName,
      messageType: context.messageType,
      messageId: context.messageId,
      sessionId: cleanText(envelope.sessionId),
      sender: context.sender,
      timestampUnixMs: cleanNumber(envelope.timestampUnixMs),
      payloadBase64: redacted ? redactedBase64(context.payload) : Base64.encode(envelope.payload),
      ...(redacted && { redacted })
    },
    ambient: context.ambient
  })
}

const saysSecrets = (redactor: Redactor, bytes: Uint8Array): boolean => {
  const text = lossyTextOf(bytes)
  return redactor.text(text) !== text
}

const redactedBase64 = (payload: JsonObject): string =>
  textAt(payload, "payloadBase64") ?? Base64.encode(JSON.stringify(payload))

const raw = (kind: string, payload: JsonObject): RawEventDraft => ({ kind, sourceName: RUNTIME_SOURCE_NAME, payload })

const normaliseAck = (redactor: Redactor, ack: SendAck, receivedAt: string): NormalisedFrame => {
  const messageId = cleanText(ack.messageId)
  const sessionId = cleanText(ack.sessionId)
  const error = ack.ok ? undefined : ack.error
  const errorMessage = error === undefined ? undefined : redactor.text(cleanText(error.message))
  const data: JsonObject = {
    messageId,
    sessionId,
    ok: ack.ok,
    duplicate: ack.duplicate,
    sessionState: ack.sessionState,
    acceptedAtUnixMs: cleanNumber(ack.acceptedAtUnixMs),
    ...(error !== undefined && { errorCode: cleanText(error.code) }),
    ...(errorMessage !== undefined && { errorMessage })
  }
  const sent: EventDraft = {
    ts: receivedAt,
    type: "message.sent",
    subject: { kind: "message", id: messageId },
    source: runtimeSource("send-ack"),
    data
  }
  const denied = error?.code === POLICY_DENIED
  return {
    drafts: denied ? [sent, denialOfAck(receivedAt, messageId, sessionId, error, redactor)] : [sent],
    raw: raw("send-ack", { ack: { ...data, ...(ack.error && { error: rawError(ack.error, redactor) }) } }),
    ...(!ack.ok &&
      messageId !== "" && { message: rejectedMessage(messageId, sessionId, errorMessage ?? "", receivedAt, data) })
  }
}

const normaliseInlineError = (redactor: Redactor, error: InlineError, receivedAt: string): NormalisedFrame => {
  const messageId = cleanText(error.messageId)
  const sessionId = cleanText(error.sessionId)
  const errorMessage = redactor.text(cleanText(error.message))
  const failed: EventDraft = {
    ts: receivedAt,
    type: "message.send_failed",
    subject: { kind: "message", id: messageId },
    source: runtimeSource("stream-inline-error"),
    data: { errorCode: redactor.text(cleanText(error.code)), errorMessage, sessionId, messageId }
  }
  return {
    drafts: isInlineDenial(error) ? [failed, denialOfInlineError(receivedAt, error, redactor)] : [failed],
    raw: raw("stream-inline-error", { error: rawError(error, redactor) }),
    ...(messageId !== "" && { message: rejectedMessage(messageId, sessionId, errorMessage, receivedAt) })
  }
}

/** The runtime repeats neither type nor sender of a message that it refused. */
const rejectedMessage = (
  messageId: string,
  runtimeSessionId: string,
  errorMessage: string,
  receivedAt: string,
  ack?: JsonObject
): OutboundMessageDraft => ({
  runtimeSessionId,
  messageId,
  messageType: "",
  category: "message",
  sender: "",
  recipients: [],
  status: "rejected",
  payloadDescriptor: {},
  ...(ack !== undefined && { ack }),
  errorMessage,
  createdAt: receivedAt,
  updatedAt: receivedAt
})

const rawError = (error: InlineError, redactor: Redactor): JsonObject =>
  redactor.payload({
    code: cleanText(error.code),
    message: cleanText(error.message),
    sessionId: cleanText(error.sessionId),
    messageId: cleanText(error.messageId),
    details: Base64.encode(error.details)
  })
