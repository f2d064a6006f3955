import type { Envelope } from "@runplane/runtime"
import { InvalidEnvelope, InvalidProtocolVersion, PayloadTooLarge, type Rejection } from "./Rejection.ts"

export const PROTOCOL_VERSION = "1.0"

/** Bytes of one envelope's payload (docs/internals/runtime.md#runtime-limits). */
export const DEFAULT_MAX_PAYLOAD_BYTES = 1_048_576

/**
 * The checks before the authentication, in their order (docs/internals/runtime.md#envelope-shape). Undefined
 * when the shape is fine. `maxPayloadBytes` bounds `Envelope.payload`.
 */
export const checkShape = (envelope: Envelope, maxPayloadBytes: number): Rejection | undefined => {
  if (envelope.macpVersion !== PROTOCOL_VERSION) return InvalidProtocolVersion
  if (envelope.messageType === "" || envelope.messageId === "") return InvalidEnvelope
  if (!isAddressed(envelope)) return InvalidEnvelope
  return envelope.payload.length > maxPayloadBytes ? PayloadTooLarge : undefined
}

/** Signal and session-less Progress: never part of a history, never counted (docs/internals/runtime.md#ambient). */
export const isAmbient = (envelope: Envelope): boolean =>
  envelope.messageType === "Signal" || (envelope.messageType === "Progress" && envelope.sessionId === "")

/** Signals and every Progress, with or without a session: what WatchSignals carries instead of StreamSession. */
export const isTelemetry = (envelope: Envelope): boolean =>
  envelope.messageType === "Signal" || envelope.messageType === "Progress"

/**
 * A session id is either a lowercase hyphenated UUID of version 4 or 7, or at least 22 base64url characters. A string
 * that parses as a UUID but is not canonical is refused and never tried as base64url
 * (docs/internals/runtime.md#envelope-fields).
 */
export const isSessionId = (text: string): boolean =>
  UUID_SHAPE.test(text) ? CANONICAL_UUID.test(text) : OPAQUE_ID.test(text)

const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const OPAQUE_ID = /^[A-Za-z0-9_-]{22,}$/

const isAddressed = (envelope: Envelope): boolean => {
  const blankMode = envelope.mode.trim() === ""
  if (envelope.messageType === "Signal") return envelope.sessionId === "" && blankMode
  if (envelope.messageType === "Progress" && envelope.sessionId === "") return blankMode
  if (envelope.messageType === "Progress") return true
  return envelope.sessionId !== "" && !blankMode
}
