import type { JsonObject, PayloadDecoder, RawEnvelope, RawFrame, SendAck, SessionSnapshot } from "@runplane/domain"
import { makeNormaliser, noRedactor, specifiedPrices } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { sha256 } from "./digests.ts"

const PROTO_MARK = 0x01
const encoder = new TextEncoder()

/** Bytes that `fakeDecoder` takes for a protobuf message. */
export const proto = (payload: JsonObject): Uint8Array =>
  Uint8Array.from([PROTO_MARK, ...encoder.encode(JSON.stringify(payload))])

export const json = (payload: unknown): Uint8Array => encoder.encode(JSON.stringify(payload))

export const utf8 = (text: string): Uint8Array => encoder.encode(text)

export const base64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64")

/** Stands for the protobuf decoder: a marked JSON object is a message of any type, everything else is not. */
export const fakeDecoder: PayloadDecoder = (_, bytes) => {
  if (bytes[0] !== PROTO_MARK) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes.slice(1)))
    return Schema.is(Schema.JsonObject)(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const DECISION = "macp.mode.decision.v1"
export const NOW = "2026-07-01T10:00:00.000Z"

export const envelope = (messageType: string, payload: Uint8Array, rest: Partial<RawEnvelope> = {}): RawEnvelope => ({
  macpVersion: "1.0",
  mode: DECISION,
  messageType,
  messageId: "m1",
  sessionId: "session-1",
  sender: "agent://a",
  timestampUnixMs: 1_790_000_000_000,
  payload,
  ...rest
})

export const envelopeFrame = (messageType: string, payload: Uint8Array, rest: Partial<RawEnvelope> = {}): RawFrame => ({
  kind: "stream-envelope",
  envelope: envelope(messageType, payload, rest),
  ambient: rest.sessionId === ""
})

export const snapshot = (rest: Partial<SessionSnapshot> = {}): SessionSnapshot => ({
  sessionId: "session-1",
  mode: DECISION,
  state: "OPEN",
  startedAtUnixMs: 1_790_000_000_000,
  expiresAtUnixMs: 1_790_000_060_000,
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  policyVersion: "policy.default",
  participants: ["agent://a", "agent://b"],
  participantActivity: [],
  initiator: "agent://a",
  contextId: "",
  extensionKeys: [],
  ...rest
})

export const ack = (rest: Partial<SendAck> = {}): SendAck => ({
  ok: true,
  duplicate: false,
  messageId: "m1",
  sessionId: "session-1",
  acceptedAtUnixMs: 1_790_000_000_000,
  sessionState: "OPEN",
  ...rest
})

export const normaliser = makeNormaliser({ decode: fakeDecoder, redactor: noRedactor, prices: specifiedPrices, sha256 })

/** Normalises with agent://a and agent://b known. */
export const normalise = (frame: RawFrame) => normaliser.normalise(new Set(["agent://a", "agent://b"]), frame, NOW)
