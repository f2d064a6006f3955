import * as Base64 from "effect/encoding/Base64"
import { draftEvent } from "../events/CanonicalEvent.ts"
import type { DraftHead } from "../events/EventType.ts"
import type { OutboundMessageDraft } from "../events/OutboundMessage.ts"
import type { InlineError, SendAck } from "../frames/RuntimeFrames.ts"
import type { Redactor } from "../redaction/Redaction.ts"
import { cleanNumber, cleanText } from "../values/CleanJson.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { runtimeSource } from "./EnvelopeContext.ts"
import { type NormalisedFrame, rawEvent } from "./NormalisedFrame.ts"
import { denialOfAck, denialOfInlineError, isInlineDenial, POLICY_DENIED } from "./PolicyDenial.ts"

/** What the runtime answered to a message: `message.sent`, and the denial when a policy refused it. */
export const normaliseAck = (redactor: Redactor, ack: SendAck, receivedAt: string): NormalisedFrame => {
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
    ...(error !== undefined && { errorCode: redactor.text(cleanText(error.code)) }),
    ...(errorMessage !== undefined && { errorMessage })
  }
  const sent = draftEvent("message.sent", headOf("send-ack", messageId, receivedAt), data)
  const denied = error?.code === POLICY_DENIED
  return {
    drafts: denied ? [sent, denialOfAck(receivedAt, messageId, sessionId, error, redactor)] : [sent],
    raw: rawEvent("send-ack", { ack: { ...data, ...(ack.error && { error: rawError(ack.error, redactor) }) } }),
    ...(!ack.ok &&
      messageId !== "" && { message: rejectedMessage(messageId, sessionId, errorMessage ?? "", receivedAt, data) })
  }
}

/** An error on the stream: `message.send_failed`, and the denial when it reports one. */
export const normaliseInlineError = (redactor: Redactor, error: InlineError, receivedAt: string): NormalisedFrame => {
  const messageId = cleanText(error.messageId)
  const sessionId = cleanText(error.sessionId)
  const errorMessage = redactor.text(cleanText(error.message))
  const failed = draftEvent("message.send_failed", headOf("stream-inline-error", messageId, receivedAt), {
    errorCode: redactor.text(cleanText(error.code)),
    errorMessage,
    sessionId,
    messageId
  })
  return {
    drafts: isInlineDenial(error) ? [failed, denialOfInlineError(receivedAt, error, redactor)] : [failed],
    raw: rawEvent("stream-inline-error", { error: rawError(error, redactor) }),
    ...(messageId !== "" && { message: rejectedMessage(messageId, sessionId, errorMessage, receivedAt) })
  }
}

const headOf = (kind: string, messageId: string, ts: string): DraftHead => ({
  ts,
  subject: { kind: "message", id: messageId },
  source: runtimeSource(kind)
})

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
