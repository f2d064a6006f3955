import { type Normaliser, type RawFrame, streamOpened } from "@runplane/domain"
import type { ObservedFrame } from "./AppendRequest.ts"
import { frameBytes } from "./FrameBytes.ts"
import { type PreparedFrame, prepareFrames } from "./PreparedFrame.ts"

/** Characters that are kept of a text of the frame, and of the reason. */
const KEPT_CHARACTERS = 256

const shorten = (text: string) => text.slice(0, KEPT_CHARACTERS)

/**
 * What is stored of a frame that the database refuses even alone (docs/events.md#refused-frames): the same message in
 * its place, with a note instead of its payload, and for an envelope of the session's history the word that something
 * is missing. Undefined for a frame that has nothing to leave out.
 */
export const standInFor = (
  normaliser: Normaliser,
  prepared: PreparedFrame,
  observed: ObservedFrame,
  reason: string
): PreparedFrame | undefined => {
  const { receivedAt } = observed
  const frame = withoutContent(observed.frame, { unstorable: shorten(reason), frameBytes: frameBytes(observed) })
  if (frame === undefined) return undefined
  const [stored] = prepareFrames(normaliser, new Set(), [{ frame, receivedAt }])
  if (stored === undefined) return undefined
  const gap =
    frame.kind === "stream-envelope" && !frame.ambient
      ? [
          streamOpened(receivedAt, frame.envelope.sessionId, {
            status: "gap",
            detail: `not stored: ${shorten(reason)}`
          })
        ]
      : []
  // Known again by what the frame said in full.
  return { ...stored, messageKey: prepared.messageKey, drafts: [...stored.drafts, ...gap] }
}

const withoutContent = (frame: RawFrame, note: object): RawFrame | undefined => {
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
          payload: new TextEncoder().encode(JSON.stringify(note))
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
