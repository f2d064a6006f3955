import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { draftEvent, type EventDraft } from "../events/CanonicalEvent.ts"
import { type OutboundMessageDraft, outboundCategoryOf } from "../events/OutboundMessage.ts"
import { type DecodedPayload, decodePayload, parseExactObject } from "../frames/PayloadTypes.ts"
import type { RawEnvelope } from "../frames/RuntimeFrames.ts"
import type { ModelPrices } from "../prices/ModelPrices.ts"
import { commitmentHashOfWire } from "../receipts/Commitment.ts"
import type { Redactor } from "../redaction/Redaction.ts"
import { costData } from "../usage/CallCosts.ts"
import { extractLlmUsage, signalDataOf, signalDataText } from "../usage/LlmUsage.ts"
import { cleanJson, cleanText } from "../values/CleanJson.ts"
import { type Altered, alteredOf, faultsBelow, withPointers } from "../values/ExactJson.ts"
import { textAt, textsAt } from "../values/JsonReader.ts"
import type { JsonObject, PayloadDecoder } from "../values/PayloadDecoder.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { derivedEvent, taskProgressEvent } from "./DerivedEvents.ts"
import {
  alteredData,
  derivedData,
  type EnvelopeContext,
  headOf,
  makeEnvelopeContext,
  sentData
} from "./EnvelopeContext.ts"
import { type NormalisedFrame, type RawEventDraft, rawEvent } from "./NormalisedFrame.ts"
import { denialOfSignal, REFUSAL_SIGNAL } from "./PolicyDenial.ts"

/** What a normaliser needs to know of the runtime and of this service. */
export interface NormaliserOptions {
  readonly decode: PayloadDecoder
  readonly redactor: Redactor
  readonly prices: ModelPrices
  readonly sha256: Sha256
}

/**
 * The events of an accepted or ambient envelope, in this order: the sender when it is new, the message, the call of a
 * language model that it reports, its derived event, the progress of a task, and a denial that an agent reports.
 */
export const normaliseEnvelope = (
  { decode, prices, redactor, sha256 }: NormaliserOptions,
  known: ReadonlySet<string>,
  envelope: RawEnvelope,
  ambient: boolean,
  receivedAt: string
): NormalisedFrame => {
  const decoded = withRedactedPointers(redactor, decodePayload(decode, envelope))
  const { isRedacted, payload } = redactor.frame(decoded, envelope.payload)
  const context = makeEnvelopeContext(
    envelope,
    decoded,
    payload,
    ambient,
    receivedAt,
    hashOf(sha256, envelope, decoded)
  )
  const isNew = context.sender !== "" && !known.has(context.sender)
  const derived = derivedEvent(context)
  const usages = llmEvents(context, prices)
  const progress = taskProgressEvent(context)
  const denial = reportedDenial(context, redactor)
  const drafts: Array<EventDraft> = []
  if (isNew) drafts.push(participantSeenEvent(context))
  drafts.push(receivedEvent(context, isRedacted))
  drafts.push(...usages)
  if (derived !== undefined) drafts.push(derived)
  if (progress !== undefined) drafts.push(progress)
  if (denial !== undefined) drafts.push(denial)
  return {
    drafts,
    raw: rawEnvelope(context, envelope, decoded, isRedacted),
    ...(context.messageId !== "" && { message: acceptedMessage(context, decoded, envelope.payload.length, known) }),
    ...(isNew && { seenParticipant: context.sender })
  }
}

/** By the bytes, also where the payload is redacted. */
const hashOf = (sha256: Sha256, { messageType, payload }: RawEnvelope, { encoding }: DecodedPayload) =>
  messageType === "Commitment" && encoding === "protobuf"
    ? Result.getOrUndefined(commitmentHashOfWire(sha256, payload))
    : undefined

/** The mark names members of the payload, and their names may hold a match. */
const withRedactedPointers = (redactor: Redactor, decoded: DecodedPayload): DecodedPayload =>
  decoded.altered === undefined ? decoded : { ...decoded, altered: withPointers(decoded.altered, redactor.text) }

const participantSeenEvent = (context: EnvelopeContext): EventDraft =>
  draftEvent("participant.seen", headOf(context, "participant", context.sender), { participantId: context.sender })

const receivedEvent = (context: EnvelopeContext, redacted: boolean): EventDraft =>
  draftEvent("message.received", headOf(context, "message", context.messageId), {
    modeName: context.modeName,
    messageType: context.messageType,
    messageId: context.messageId,
    sessionId: context.sessionId,
    sender: context.sender,
    payload: context.payload,
    ...alteredData(context),
    ...(redacted && { redacted })
  })

/** A denial that only its sender received (docs/reference/events.md#policy-denied). */
const reportedDenial = (context: EnvelopeContext, redactor: Redactor): EventDraft | undefined => {
  if (context.messageType !== "Signal") return undefined
  if (textAt(context.payload, "signalType", "signal_type") !== REFUSAL_SIGNAL) return undefined
  const said = signalDataOf(context.payload)
  return said === undefined ? undefined : denialOfSignal(context, redactor.payload(said))
}

/** One event for each call that the message reports. */
const llmEvents = (context: EnvelopeContext, prices: ModelPrices): ReadonlyArray<EventDraft> => {
  const usages = extractLlmUsage(context.messageType, context.payload)
  if (usages.length === 0) return []
  const marked = { ...context, altered: context.altered ?? alteredInSignal(context) }
  return usages.map((usage) => {
    const { payloadTypeName: _, ...data } = derivedData(marked, {
      ...usage,
      ...costData(prices, usage, context.ts)
    })
    return draftEvent("llm.call.completed", headOf(context, "message", context.messageId), {
      ...data,
      ...sentData(context)
    })
  })
}

/** The mark for usage that stood in the JSON of a signal's `data`; the signal itself keeps that JSON as it is. */
const alteredInSignal = ({ messageType, payload }: EnvelopeContext): Altered | undefined => {
  const json = messageType === "Signal" ? parseExactObject(signalDataText(payload)) : undefined
  return json && alteredOf(faultsBelow("data", json.faults))
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
 * The envelope as received. When redaction changed the decoded payload, or the text of the bytes, the redacted payload
 * replaces the bytes as JSON, and `redacted` is set.
 */
const rawEnvelope = (
  context: EnvelopeContext,
  envelope: RawEnvelope,
  decoded: DecodedPayload,
  redacted: boolean
): RawEventDraft =>
  rawEvent("stream-envelope", {
    envelope: {
      macpVersion: cleanText(envelope.macpVersion),
      mode: context.modeName,
      messageType: context.messageType,
      messageId: context.messageId,
      sessionId: cleanText(envelope.sessionId),
      sender: context.sender,
      timestampUnixMs: cleanJson(envelope.timestampUnixMs),
      ...(context.isVerified && { senderAuthenticated: true }),
      payloadBase64: redacted ? redactedBase64(context.payload, decoded) : Base64.encode(envelope.payload),
      ...(redacted && { redacted })
    },
    ambient: context.ambient
  })

/** What is not decoded is carried along as base64 in the payload. */
const redactedBase64 = (payload: JsonObject, { decoded }: DecodedPayload): string =>
  (decoded ? undefined : textAt(payload, "payloadBase64")) ?? Base64.encode(JSON.stringify(payload))
