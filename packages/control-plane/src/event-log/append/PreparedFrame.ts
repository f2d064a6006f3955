import { type NormalisedFrame, type Normaliser, type RawEnvelope, type RawFrame, streamOpened } from "@runplane/domain"
import { sha256 } from "../../platform/Sha256.ts"
import { AMBIENT, messageKeyOf } from "../runs/MessageKey.ts"

/**
 * The deduplication key of an ambient message. Their ids are not unique, so the key is the digest of the content: an
 * agent can use an id again, and a message that every process receives is stored once.
 */
const ambientKeyOf = (envelope: RawEnvelope): string => {
  const { messageId, messageType, payload, sender, sessionId, timestampUnixMs } = envelope
  const content = JSON.stringify([messageId, messageType, sender, sessionId, timestampUnixMs])
  return `${AMBIENT}${Buffer.from(sha256(Buffer.from(`${content}\0`), payload)).toString("hex")}`
}

/** A frame of the runtime; `observed` makes it. */
export interface ObservedFrame {
  readonly frame: RawFrame
  /** When this service received it. ISO-8601. */
  readonly receivedAt: string
  /** Its size as the bounds of the log count it (docs/reference/events.md#bounds). */
  readonly bytes: number
  /** Why an envelope of the history has a note instead of its payload (docs/reference/events.md#refused-frames). */
  readonly withheld?: string
}

/** A frame with its normalised content: the costly part of an append, done once, before any transaction begins. */
export interface PreparedFrame extends NormalisedFrame {
  readonly receivedAt: string
  /** An accepted envelope of the session's history: it has an ordinal and is deduplicated by its message id. */
  readonly ordinal: boolean
  /**
   * A signal or progress of the watch of all sessions, which is not part of any history. Every process of the fleet
   * gets it.
   */
  readonly ambient: boolean
  /** Deduplication key of the message; undefined when the frame carries none. */
  readonly messageKey: string | undefined
}

/**
 * Normalises a frame. `participants` are those of the run as far as this process knows them; `decide` checks under the
 * run's lock which are new.
 */
export const prepareFrame = (
  normaliser: Normaliser,
  participants: ReadonlySet<string>,
  { frame, receivedAt, withheld }: ObservedFrame
): PreparedFrame => {
  const normalised = normaliser.normalise(participants, frame, receivedAt)
  const ambient = frame.kind === "stream-envelope" && frame.ambient
  const messageId = normalised.message?.messageId ?? ""
  const isMissed = withheld !== undefined && frame.kind === "stream-envelope" && !frame.ambient
  return {
    ...normalised,
    ...(isMissed && { drafts: [...normalised.drafts, gapOf(frame.envelope, withheld, receivedAt)] }),
    receivedAt,
    ordinal: frame.kind === "stream-envelope" && !frame.ambient,
    ambient,
    messageKey: messageId === "" ? undefined : ambient ? ambientKeyOf(frame.envelope) : messageKeyOf(messageId)
  }
}

const gapOf = ({ sessionId }: RawEnvelope, withheld: string, receivedAt: string) =>
  streamOpened(receivedAt, sessionId, { status: "gap", detail: `not stored: ${withheld}` })
