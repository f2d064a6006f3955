import type { DraftHead } from "../events/EventType.ts"
import type { EventSource, SubjectKind } from "../events/RecordedEvent.ts"
import type { DecodedPayload } from "../frames/PayloadTypes.ts"
import type { RawEnvelope } from "../frames/RuntimeFrames.ts"
import { cleanText } from "../values/CleanJson.ts"
import type { Altered } from "../values/ExactJson.ts"
import { textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** The source of events and raw events of the runtime. */
export const RUNTIME_SOURCE_NAME = "rust-runtime"

/**
 * An envelope with everything that its events share: clean header texts, and the payload, decoded and redacted once.
 */
export interface EnvelopeContext {
  readonly ts: string
  readonly modeName: string
  readonly messageType: string
  readonly messageId: string
  /** Of an ambient envelope, the session that its payload correlates it to. */
  readonly sessionId: string
  readonly sender: string
  /** The runtime verified the sender of an ambient envelope. */
  readonly isVerified: boolean
  readonly ambient: boolean
  readonly payload: JsonObject
  readonly payloadTypeName: string | undefined
  /** Of a Commitment whose bytes can be hashed. */
  readonly commitmentHash: string | undefined
  /** The differences between the payload and the text of its sender. */
  readonly altered: Altered | undefined
  /** When it was sent, ISO-8601, where that is more than a minute before its arrival. */
  readonly sentAt: string | undefined
}

/** An envelope that is so much older than its arrival was not delivered late, but read from a history. */
const LATE_MS = 60_000

const sentAtOf = ({ timestampUnixMs }: RawEnvelope, ts: string): string | undefined => {
  const at = Number(timestampUnixMs)
  return at > 0 && at < Date.parse(ts) - LATE_MS ? new Date(at).toISOString() : undefined
}

export const makeEnvelopeContext = (
  envelope: RawEnvelope,
  decoded: DecodedPayload,
  payload: JsonObject,
  ambient: boolean,
  ts: string,
  commitmentHash?: string
): EnvelopeContext => ({
  ts,
  modeName: cleanText(envelope.mode),
  messageType: cleanText(envelope.messageType),
  messageId: cleanText(envelope.messageId),
  sessionId:
    envelope.sessionId === ""
      ? (textAt(payload, "correlationSessionId", "correlation_session_id") ?? "")
      : cleanText(envelope.sessionId),
  sender: cleanText(envelope.sender),
  isVerified: envelope.senderAuthenticated === true,
  ambient,
  payload,
  payloadTypeName: decoded.payloadTypeName,
  commitmentHash,
  altered: decoded.altered,
  sentAt: sentAtOf(envelope, ts)
})

export const runtimeSource = (rawType: string): EventSource => ({
  kind: "runtime",
  name: RUNTIME_SOURCE_NAME,
  rawType
})

/** The head of an event of the envelope. */
export const headOf = ({ messageType, ts }: EnvelopeContext, kind: SubjectKind, id: string): DraftHead => ({
  ts,
  subject: { kind, id },
  source: runtimeSource(messageType)
})

/** The time by the sender's clock, in an event of a call that arrives late: the call counts then. */
export const sentData = ({ sentAt }: Pick<EnvelopeContext, "sentAt">): JsonObject =>
  sentAt === undefined ? {} : { sentAt }

/** The data keys of every event derived from an envelope. */
export const derivedData = (context: EnvelopeContext, decodedPayload: JsonObject): JsonObject => ({
  modeName: context.modeName,
  messageType: context.messageType,
  messageId: context.messageId,
  sessionId: context.sessionId,
  sender: context.sender,
  ...(context.isVerified && { senderAuthenticated: true }),
  ...summaryOf(decodedPayload),
  decodedPayload,
  ...(context.payloadTypeName !== undefined && { payloadTypeName: context.payloadTypeName }),
  ...alteredData(context)
})

/** The mark of an event whose payload differs from the text of its sender (docs/reference/events.md#exact-numbers). */
export const alteredData = ({ altered }: Pick<EnvelopeContext, "altered">): JsonObject =>
  altered === undefined ? {} : { altered: { ...altered } }

/** Members of a payload from which a console summarises an event; they are at the top level of `data` as well. */
const SUMMARY_KEYS = [
  ["signalType", "signal_type"],
  ["name"],
  ["severity"],
  ["confidence"],
  ["action"],
  ["proposalId", "proposal_id"],
  ["commitmentId", "commitment_id"],
  ["decision"],
  ["model"],
  ["promptTokens"],
  ["completionTokens"],
  ["totalTokens"]
] as const

const summaryOf = (payload: JsonObject): JsonObject => {
  const summary: Record<string, string | number> = {}
  for (const [key, snakeCase] of SUMMARY_KEYS) {
    const value = payload[key] ?? (snakeCase === undefined ? undefined : payload[snakeCase])
    if (typeof value === "number" || (typeof value === "string" && value !== "")) summary[key] = value
  }
  if (summary["name"] === undefined && summary["signalType"] !== undefined) summary["name"] = summary["signalType"]
  return summary
}
