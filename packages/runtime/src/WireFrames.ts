import type {
  InlineError,
  RawEnvelope,
  RuntimeSessionState,
  SendAck,
  SessionLifecycleEvent,
  SessionLifecycleType,
  SessionSnapshot,
  SessionStreamFrame
} from "@runplane/domain"
import type {
  SessionMetadata,
  StreamSessionResponse,
  WatchSignalsResponse,
  SessionLifecycleEvent as WireLifecycleEvent
} from "./gen/macp/v1/core_pb.ts"
import { SessionLifecycleEvent_EventType } from "./gen/macp/v1/core_pb.ts"
import type { Ack, Envelope, MACPError } from "./gen/macp/v1/envelope_pb.ts"
import { SessionState } from "./gen/macp/v1/envelope_pb.ts"

/**
 * Generated messages to the plain values of `@runplane/domain`. 64-bit integers of the runtime become numbers: all of
 * them are milliseconds or counters far below 2^53. The time of an envelope is its sender's, and may be anything.
 */

export const envelopeFromWire = (envelope: Envelope): RawEnvelope => ({
  macpVersion: envelope.macpVersion,
  mode: envelope.mode,
  messageType: envelope.messageType,
  messageId: envelope.messageId,
  sessionId: envelope.sessionId,
  sender: envelope.sender,
  timestampUnixMs: Number.isSafeInteger(Number(envelope.timestampUnixMs))
    ? Number(envelope.timestampUnixMs)
    : String(envelope.timestampUnixMs),
  payload: envelope.payload
})

/** Undefined for a frame without an envelope. */
export const signalFromWire = ({ envelope, senderAuthenticated }: WatchSignalsResponse): RawEnvelope | undefined =>
  envelope && { ...envelopeFromWire(envelope), ...(senderAuthenticated && { senderAuthenticated }) }

export const inlineErrorFromWire = (error: MACPError): InlineError => ({
  code: error.code,
  message: error.message,
  sessionId: error.sessionId,
  messageId: error.messageId,
  details: error.details
})

/** Undefined for a frame that carries nothing we know: unknown kinds of frames are ignored. */
export const streamFrameFromWire = ({ response }: StreamSessionResponse): SessionStreamFrame | undefined => {
  switch (response.case) {
    case "envelope":
      return { _tag: "Envelope", envelope: envelopeFromWire(response.value) }
    case "error":
      return { _tag: "InlineError", error: inlineErrorFromWire(response.value) }
    default:
      return undefined
  }
}

export const ackFromWire = (ack: Ack): SendAck => ({
  ok: ack.ok,
  duplicate: ack.duplicate,
  messageId: ack.messageId,
  sessionId: ack.sessionId,
  acceptedAtUnixMs: Number(ack.acceptedAtUnixMs),
  sessionState: sessionStateFromWire(ack.sessionState),
  ...(ack.error === undefined ? {} : { error: inlineErrorFromWire(ack.error) })
})

export const snapshotFromWire = (metadata: SessionMetadata): SessionSnapshot => ({
  sessionId: metadata.sessionId,
  mode: metadata.mode,
  state: sessionStateFromWire(metadata.state),
  startedAtUnixMs: Number(metadata.startedAtUnixMs),
  expiresAtUnixMs: Number(metadata.expiresAtUnixMs),
  modeVersion: metadata.modeVersion,
  configurationVersion: metadata.configurationVersion,
  policyVersion: metadata.policyVersion,
  participants: metadata.participants,
  participantActivity: metadata.participantActivity.map((activity) => ({
    participantId: activity.participantId,
    lastMessageAtUnixMs: Number(activity.lastMessageAtUnixMs),
    messageCount: activity.messageCount
  })),
  initiator: metadata.initiator,
  contextId: metadata.contextId,
  extensionKeys: metadata.extensionKeys
})

/** Undefined for event types of newer runtimes, which are ignored. */
export const lifecycleFromWire = (event: WireLifecycleEvent): SessionLifecycleEvent | undefined => {
  const type = LIFECYCLE_TYPES.get(event.eventType)
  if (type === undefined) return undefined
  return {
    type,
    observedAtUnixMs: Number(event.observedAtUnixMs),
    ...(event.session === undefined ? {} : { session: snapshotFromWire(event.session) })
  }
}

/** UNSPECIFIED for states of newer runtimes. */
export const sessionStateFromWire = (state: SessionState): RuntimeSessionState =>
  SESSION_STATES.get(state) ?? "UNSPECIFIED"

const SESSION_STATES: ReadonlyMap<SessionState, RuntimeSessionState> = new Map([
  [SessionState.OPEN, "OPEN"],
  [SessionState.RESOLVED, "RESOLVED"],
  [SessionState.EXPIRED, "EXPIRED"],
  [SessionState.SUSPENDED, "SUSPENDED"],
  [SessionState.CANCELLED, "CANCELLED"]
])

const LIFECYCLE_TYPES: ReadonlyMap<SessionLifecycleEvent_EventType, SessionLifecycleType> = new Map([
  [SessionLifecycleEvent_EventType.CREATED, "CREATED"],
  [SessionLifecycleEvent_EventType.RESOLVED, "RESOLVED"],
  [SessionLifecycleEvent_EventType.EXPIRED, "EXPIRED"],
  [SessionLifecycleEvent_EventType.SUSPENDED, "SUSPENDED"],
  [SessionLifecycleEvent_EventType.RESUMED, "RESUMED"],
  [SessionLifecycleEvent_EventType.CANCELLED, "CANCELLED"]
])
