import * as Schema from "effect/Schema"

/** Longest delay of a fault, in milliseconds: ten minutes. */
export const MAX_FAULT_DELAY_MS = 600_000

/** Most bytes a fault may add to a frame: 64 MiB. */
export const MAX_FAULT_BYTES = 67_108_864

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const delayMs = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_FAULT_DELAY_MS }))

/** The three streams an observer reads: StreamSession, WatchSessions and WatchSignals. */
export const FaultStream = Schema.Literals(["session", "lifecycle", "signals"])
export type FaultStream = typeof FaultStream.Type

/** Which frames a fault hits. An absent key hits all; an absent `stream` is StreamSession. */
const selector = {
  stream: Schema.optionalKey(FaultStream),
  sessionId: Schema.optionalKey(Schema.NonEmptyString),
  /** A message type, or on `lifecycle` an event type such as RESOLVED. */
  messageType: Schema.optionalKey(Schema.NonEmptyString),
  /** How often it strikes before it is spent; absent is without end. */
  times: Schema.optionalKey(count)
}

/** gRPC statuses a fault can end a stream with. */
export const FaultStatus = Schema.Literals([
  "unavailable",
  "aborted",
  "internal",
  "resource_exhausted",
  "permission_denied",
  "unauthenticated",
  "not_found"
])
export type FaultStatus = typeof FaultStatus.Type

/**
 * One thing that goes wrong on purpose, for tests of clients. Sessions themselves stay sound: a fault is about what
 * reaches a receiver, never about what was accepted.
 */
export const Fault = Schema.Union([
  /** The frame is never delivered. */
  Schema.Struct({ kind: Schema.Literal("drop"), ...selector }),
  /** The frame is delivered twice. */
  Schema.Struct({ kind: Schema.Literal("duplicate"), ...selector }),
  /** The frame, and everything behind it on its stream, waits. */
  Schema.Struct({ kind: Schema.Literal("delay"), delayMs, ...selector }),
  /** A field no reader knows makes the frame larger by this much. */
  Schema.Struct({
    kind: Schema.Literal("oversize"),
    bytes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_FAULT_BYTES })),
    ...selector
  }),
  /** The stream ends as soon as it has delivered this many frames, whatever they are. */
  Schema.Struct({
    kind: Schema.Literal("cut"),
    afterFrames: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
    status: Schema.optionalKey(FaultStatus),
    stream: selector.stream,
    sessionId: selector.sessionId,
    times: selector.times
  }),
  /** Subscriptions are answered with a status. */
  Schema.Struct({
    kind: Schema.Literal("refuse"),
    status: Schema.optionalKey(FaultStatus),
    stream: selector.stream,
    sessionId: selector.sessionId,
    times: selector.times
  }),
  /**
   * WatchSessions says RESOLVED this long before the Commitment reaches StreamSession
   * (docs/internals/runtime.md#stream-silence).
   */
  Schema.Struct({
    kind: Schema.Literal("resolve-early"),
    delayMs,
    sessionId: selector.sessionId,
    times: selector.times
  })
])
export type Fault = typeof Fault.Type
