import type { Normaliser, RawEnvelope, RawFrame } from "@runplane/domain"
import type { ObservedFrame } from "./AppendRequest.ts"
import { observed } from "./FrameBytes.ts"
import { type PreparedFrame, prepareFrame } from "./PreparedFrame.ts"

/** Characters that are kept of a text of the frame, and of the reason. */
const KEPT_CHARACTERS = 256

const shorten = (text: string) => text.slice(0, KEPT_CHARACTERS)

/**
 * The replacement of a frame that the database refuses even alone (docs/reference/events.md#refused-frames): the same
 * message with a note instead of its payload, and for an envelope of the session's history a mark of the gap. Undefined
 * for a frame without a payload.
 */
export const placeholderFor = (
  normaliser: Normaliser,
  prepared: PreparedFrame,
  refused: ObservedFrame,
  reason: string
): PreparedFrame | undefined => {
  const { bytes, receivedAt } = refused
  const frame = withoutContent(refused.frame, noteOf(reason, bytes))
  if (frame === undefined) return undefined
  const placeholder = { ...observed(frame, receivedAt), withheld: shorten(reason) }
  // A repetition of the frame is found by its whole content.
  return { ...prepareFrame(normaliser, new Set(), placeholder), messageKey: prepared.messageKey }
}

/**
 * What is stored of an envelope of the history that was not read: `envelope` has no payload, `bytes` is the size of
 * the message.
 */
export const unreadEnvelope = (
  envelope: RawEnvelope,
  bytes: number,
  reason: string,
  receivedAt: string
): ObservedFrame => {
  const payload = noteOf(reason, bytes)
  const frame: RawFrame = { kind: "stream-envelope", ambient: false, envelope: { ...envelope, payload } }
  return { ...observed(frame, receivedAt), withheld: shorten(reason) }
}

const noteOf = (reason: string, frameBytes: number): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ unstorable: shorten(reason), frameBytes }))

const withoutContent = (frame: RawFrame, payload: Uint8Array): RawFrame | undefined => {
  switch (frame.kind) {
    case "stream-envelope": {
      const { envelope } = frame
      return {
        ...frame,
        envelope: {
          ...envelope,
          macpVersion: shorten(envelope.macpVersion),
          mode: shorten(envelope.mode),
          messageType: shorten(envelope.messageType),
          messageId: shorten(envelope.messageId),
          sender: shorten(envelope.sender),
          payload
        }
      }
    }
    case "stream-inline-error": {
      const { code, message, messageId, sessionId } = frame.error
      return {
        ...frame,
        error: {
          code: shorten(code),
          message: shorten(message),
          messageId: shorten(messageId),
          sessionId: shorten(sessionId),
          details: new Uint8Array()
        }
      }
    }
    default:
      return undefined
  }
}
