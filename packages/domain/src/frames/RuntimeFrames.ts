/**
 * What an observer receives from the runtime, as plain values: the input of the normaliser. `packages/runtime` produces
 * these from gRPC messages, so nothing here knows about protobuf except that a payload is bytes.
 */

export type RuntimeSessionState = "UNSPECIFIED" | "OPEN" | "RESOLVED" | "EXPIRED" | "SUSPENDED" | "CANCELLED"

/** An accepted or ambient envelope, as received. Timestamps are Unix milliseconds. */
export interface RawEnvelope {
  readonly macpVersion: string
  readonly mode: string
  readonly messageType: string
  readonly messageId: string
  readonly sessionId: string
  readonly sender: string
  /** By the sender's clock; text only where a double cannot hold it. */
  readonly timestampUnixMs: number | string
  readonly payload: Uint8Array
  /** The runtime verified the sender of an ambient envelope; older runtimes never say so. */
  readonly senderAuthenticated?: true
}

export interface ParticipantActivity {
  readonly participantId: string
  readonly lastMessageAtUnixMs: number
  /** Accepted messages of this sender; the SessionStart is not counted. */
  readonly messageCount: number
}

/** A session as `GetSession`, `ListSessions` and `WatchSessions` describe it. */
export interface SessionSnapshot {
  readonly sessionId: string
  readonly mode: string
  readonly state: RuntimeSessionState
  readonly startedAtUnixMs: number
  readonly expiresAtUnixMs: number
  readonly modeVersion: string
  readonly configurationVersion: string
  readonly policyVersion: string
  readonly participants: ReadonlyArray<string>
  readonly participantActivity: ReadonlyArray<ParticipantActivity>
  readonly initiator: string
  readonly contextId: string
  readonly extensionKeys: ReadonlyArray<string>
}

/** An application error frame of StreamSession; the stream stays open. */
export interface InlineError {
  readonly code: string
  readonly message: string
  readonly sessionId: string
  readonly messageId: string
  /** UTF-8 JSON, only on policy denials. */
  readonly details: Uint8Array
}

export interface SendAck {
  readonly ok: boolean
  readonly duplicate: boolean
  readonly messageId: string
  readonly sessionId: string
  readonly acceptedAtUnixMs: number
  readonly sessionState: RuntimeSessionState
  readonly error?: InlineError
}

export type SessionLifecycleType = "CREATED" | "RESOLVED" | "EXPIRED" | "SUSPENDED" | "RESUMED" | "CANCELLED"

/** One event of WatchSessions. `session` is absent when the runtime has already evicted it. */
export interface SessionLifecycleEvent {
  readonly type: SessionLifecycleType
  readonly session?: SessionSnapshot
  readonly observedAtUnixMs: number
}

/** What StreamSession delivers. */
export type SessionStreamFrame =
  | { readonly _tag: "Envelope"; readonly envelope: RawEnvelope }
  | { readonly _tag: "InlineError"; readonly error: InlineError }

/** The state of a session's stream; after `gap`, envelopes are missing that the runtime no longer has. */
export const STREAM_STATUSES = ["opened", "reconnecting", "closed", "recovered", "gap"] as const
export type StreamStatus = (typeof STREAM_STATUSES)[number]

/** Every input of the normaliser. */
export type RawFrame =
  | {
      readonly kind: "stream-status"
      readonly status: StreamStatus
      /** The session that was streamed, when the reporter knows it. */
      readonly sessionId?: string
      readonly detail?: string
      readonly requestedAfter?: number
    }
  | { readonly kind: "session-snapshot"; readonly snapshot: SessionSnapshot }
  | { readonly kind: "send-ack"; readonly ack: SendAck }
  | { readonly kind: "stream-inline-error"; readonly error: InlineError }
  /** `ambient` envelopes come from WatchSignals: no ordinal, and their message ids need not be unique. */
  | { readonly kind: "stream-envelope"; readonly envelope: RawEnvelope; readonly ambient: boolean }
