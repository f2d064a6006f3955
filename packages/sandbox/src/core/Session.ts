import { create, toBinary } from "@bufbuild/protobuf"
import { isReleaseFrom, MAX_SUSPENSIONS, mayCommit } from "@runplane/domain"
import {
  type Envelope,
  EnvelopeSchema,
  SessionCancelPayloadSchema,
  type SessionMetadata,
  SessionMetadataSchema,
  SessionResumePayloadSchema,
  type SessionStartPayload,
  SessionState,
  SessionSuspendPayloadSchema
} from "@runplane/runtime"
import * as Result from "effect/Result"
import { decodeCommitment } from "./CommitmentRules.ts"
import { PROTOCOL_VERSION } from "./EnvelopeShape.ts"
import type { Mode, ModeMessage, ModeRun, RuntimeMessage, SessionBinding } from "./Mode.ts"
import { Forbidden, InvalidEnvelope, type Rejection, SessionExpired, SessionNotOpen } from "./Rejection.ts"
import { SessionLog } from "./SessionLog.ts"

/**
 * Longest cumulative suspension when the start names none, in milliseconds: seven days
 * (docs/internals/runtime.md#session-time).
 */
export const DEFAULT_MAX_SUSPEND_MS = 604_800_000

/**
 * The latest deadline, Unix milliseconds: the end of what a date can hold. A start may name any time, also one at which
 * the deadline would not fit on the wire.
 */
export const LATEST_DEADLINE = 8_640_000_000_000_000

/** A change of state that WatchSessions announces. */
export type Transition = "RESOLVED" | "EXPIRED" | "SUSPENDED" | "RESUMED" | "CANCELLED"

/** What a submission or a control call did: its answer, and the change of state it caused, if any. */
export interface Outcome<A> {
  readonly result: Result.Result<A, Rejection>
  readonly transition: Transition | undefined
}

export interface SessionParts {
  readonly mode: Mode
  readonly run: ModeRun
  readonly binding: SessionBinding
  readonly payload: SessionStartPayload
  readonly envelope: Envelope
  /** Server clock, Unix milliseconds. */
  readonly now: number
  /** The session only repeats a recording: it evaluates no rules and has no time of its own. */
  readonly isRecorded?: boolean
}

const STATE_AFTER: Readonly<Record<Transition, SessionState>> = {
  RESOLVED: SessionState.RESOLVED,
  EXPIRED: SessionState.EXPIRED,
  SUSPENDED: SessionState.SUSPENDED,
  RESUMED: SessionState.OPEN,
  CANCELLED: SessionState.CANCELLED
}

/** Types that only the runtime itself writes (docs/internals/runtime.md#control-calls). */
const ANNOTATIONS = new Set(["SessionCancel", "SessionSuspend", "SessionResume"])

/**
 * One session: bindings, history, activity, state (docs/internals/runtime.md#session-states), time
 * (docs/internals/runtime.md#session-time) and the ids it has accepted (docs/internals/runtime.md#duplicates). It has
 * no clock and does no I/O: the same calls with the same times give the same session. Calls are synchronous, which
 * serialises acceptance within a session.
 */
export class Session {
  readonly binding: SessionBinding
  readonly modeId: string
  readonly startedAt: number
  #log: SessionLog
  #run: ModeRun
  #state: SessionState = SessionState.OPEN
  #deadline: number
  #suspendedAt: number | undefined
  #suspendedTotal = 0
  #suspensions = 0
  readonly #isRecorded: boolean
  readonly #mode: Mode
  readonly #payload: SessionStartPayload
  readonly #maxSuspend: number
  #resolution: Uint8Array | undefined
  readonly #messageIds = new Set<string>()
  readonly #activity = new Map<string, { last: number; count: number }>()

  constructor({ binding, envelope, isRecorded = false, mode, now, payload, run }: SessionParts) {
    this.#isRecorded = isRecorded
    this.binding = binding
    this.modeId = envelope.mode
    this.startedAt = now
    this.#mode = mode
    this.#run = run
    this.#payload = payload
    const clientTime = Number(envelope.timestampUnixMs)
    this.#deadline = Math.min((clientTime > 0 ? clientTime : now) + Number(payload.ttlMs), LATEST_DEADLINE)
    this.#maxSuspend = payload.maxSuspendMs > 0n ? Number(payload.maxSuspendMs) : DEFAULT_MAX_SUSPEND_MS
    this.#log = new SessionLog(0)
    this.#messageIds.add(envelope.messageId)
    this.#log.append({ envelope: stamped(envelope, binding.initiator), receivedAt: now })
  }

  get state(): SessionState {
    return this.#state
  }

  /** The accepted envelopes. A compacted session has a new log that starts after the dropped ordinals. */
  get log(): SessionLog {
    return this.#log
  }

  /** The payload of the accepted Commitment; it stays when the history is dropped. */
  get resolution(): Uint8Array | undefined {
    return this.#resolution
  }

  get isTerminal(): boolean {
    return this.#state !== SessionState.OPEN && this.#state !== SessionState.SUSPENDED
  }

  hasAccepted(messageId: string): boolean {
    return this.#messageIds.has(messageId)
  }

  isMember(sender: string): boolean {
    return sender === this.binding.initiator || this.binding.participants.includes(sender)
  }

  /** Whether the sender may cancel, suspend and resume: the initiator always, and every sender that may commit. */
  mayControl(sender: string): boolean {
    return sender === this.binding.initiator || this.#mayCommit(sender)
  }

  inspectMode(): Readonly<Record<string, unknown>> {
    return this.#run.view()
  }

  /** Submits a message that is not the start. The value says whether it was a duplicate. */
  submit(envelope: Envelope, sender: string, now: number): Outcome<{ readonly duplicate: boolean }> {
    if (this.hasAccepted(envelope.messageId)) return done({ duplicate: true })
    if (envelope.mode !== this.modeId) return refused(InvalidEnvelope)
    const expired = this.refresh(now)
    if (expired !== undefined) return refused(SessionExpired, expired)
    if (this.#state !== SessionState.OPEN) return refused(SessionNotOpen)
    if (this.#run.reservesId(envelope.messageId)) return refused(InvalidEnvelope)
    const next = this.#advance(envelope, sender, now)
    if (Result.isFailure(next)) return refused(next.failure)
    this.#run = next.success
    this.#accept(envelope, sender, now)
    if (envelope.messageType !== "Commitment") return done({ duplicate: false })
    this.#state = SessionState.RESOLVED
    return done({ duplicate: false }, "RESOLVED")
  }

  /**
   * Notices a passed deadline, or a suspension over its cap; strictly greater, so the last millisecond still counts. In
   * an open session it then writes the messages that are due by themselves.
   */
  refresh(now: number): "EXPIRED" | undefined {
    if (this.#isRecorded) return undefined
    const overdue =
      this.#state === SessionState.OPEN
        ? now > this.#deadline
        : this.#state === SessionState.SUSPENDED && this.#suspendedFor(now) > this.#maxSuspend
    if (overdue) {
      this.#state = SessionState.EXPIRED
      return "EXPIRED"
    }
    if (this.#state === SessionState.OPEN) {
      for (const message of this.#run.due(now - this.#suspendedTotal)) this.#write(message)
    }
    return undefined
  }

  /** Cancelling a session that has ended already is fine and records nothing. */
  cancel(by: string, reason: string, now: number, annotate: boolean): Outcome<void> {
    const expired = this.refresh(now)
    if (this.isTerminal) return done(undefined, expired)
    const payload = create(SessionCancelPayloadSchema, { reason, cancelledBy: by })
    if (annotate) this.#annotate("SessionCancel", by, now, toBinary(SessionCancelPayloadSchema, payload))
    this.#state = SessionState.CANCELLED
    return done(undefined, "CANCELLED")
  }

  suspend(by: string, reason: string, now: number, annotate: boolean): Outcome<void> {
    const expired = this.refresh(now)
    if (this.#state !== SessionState.OPEN) return refused(SessionNotOpen, expired)
    const payload = create(SessionSuspendPayloadSchema, { reason, suspendedBy: by })
    if (annotate) this.#annotate("SessionSuspend", by, now, toBinary(SessionSuspendPayloadSchema, payload))
    this.#state = SessionState.SUSPENDED
    this.#suspendedAt = now
    return done(undefined, "SUSPENDED")
  }

  /** Moves the deadline by the time spent suspended. The resume of one suspension too many expires the session. */
  resume(by: string, reason: string, now: number, annotate: boolean): Outcome<void> {
    const expired = this.refresh(now)
    if (this.#state !== SessionState.SUSPENDED) return refused(SessionNotOpen, expired)
    this.#suspensions += 1
    if (this.#suspensions > MAX_SUSPENSIONS && isReleaseFrom(this.binding.release, "0.13.0")) {
      this.#state = SessionState.EXPIRED
      return refused(SessionExpired, "EXPIRED")
    }
    const banked = now - (this.#suspendedAt ?? now)
    this.#suspendedTotal += banked
    this.#suspendedAt = undefined
    this.#deadline = Math.min(this.#deadline + banked, LATEST_DEADLINE)
    const payload = create(SessionResumePayloadSchema, { reason, resumedBy: by, bankedMs: BigInt(banked) })
    if (annotate) this.#annotate("SessionResume", by, now, toBinary(SessionResumePayloadSchema, payload))
    this.#state = SessionState.OPEN
    return done(undefined, "RESUMED")
  }

  /** Repeats an envelope that was accepted once, whatever the rules would say now. */
  repeat(envelope: Envelope, now: number): "RESOLVED" | undefined {
    this.#accept(envelope, envelope.sender, now)
    return envelope.messageType === "Commitment" ? this.repeatState("RESOLVED", now) : undefined
  }

  /** Repeats a change of state; undefined when the session is in that state already, or has ended. */
  repeatState<T extends Transition>(transition: T, now: number): T | undefined {
    const state = STATE_AFTER[transition]
    if (this.isTerminal || this.#state === state) return undefined
    if (transition === "RESUMED") {
      this.#deadline = Math.min(this.#deadline + now - (this.#suspendedAt ?? now), LATEST_DEADLINE)
    }
    this.#suspendedAt = transition === "SUSPENDED" ? now : undefined
    this.#state = state
    return transition
  }

  /**
   * Drops the history, as runtimes with a compacting store do at a terminal state
   * (docs/internals/runtime.md#compaction).
   */
  compact(): void {
    this.#log = new SessionLog(this.#log.end)
  }

  metadata(): SessionMetadata {
    return create(SessionMetadataSchema, {
      sessionId: this.binding.sessionId,
      mode: this.modeId,
      state: this.#state,
      startedAtUnixMs: BigInt(this.startedAt),
      expiresAtUnixMs: BigInt(this.#deadline),
      modeVersion: this.binding.modeVersion,
      configurationVersion: this.binding.configurationVersion,
      policyVersion: this.binding.policy.policyId,
      participants: [...this.binding.participants],
      participantActivity: Array.from(this.#activity, ([participantId, { count, last }]) => ({
        participantId,
        lastMessageAtUnixMs: BigInt(last),
        messageCount: count
      })),
      initiator: this.binding.initiator,
      contextId: this.#payload.contextId,
      extensionKeys: Object.keys(this.#payload.extensions)
    })
  }

  #advance(envelope: Envelope, sender: string, now: number): Result.Result<ModeRun, Rejection> {
    if (envelope.messageType === "Commitment") {
      if (!this.#mayCommit(sender)) return Result.fail(Forbidden)
      return Result.flatMap(decodeCommitment(envelope.payload, this.binding), ({ outcomePositive }) =>
        this.#run.commit({ outcomePositive, now })
      )
    }
    if (this.#forbidsAnnotation(envelope.messageType)) return Result.fail(Forbidden)
    return this.#apply(envelope.messageType, sender, "participant", envelope.payload, now)
  }

  /** In the decision mode, and from 0.14.0 in every mode; before, the others refuse them like any unknown type. */
  #forbidsAnnotation(messageType: string): boolean {
    if (!ANNOTATIONS.has(messageType)) return false
    return this.modeId === "macp.mode.decision.v1" || isReleaseFrom(this.binding.release, "0.14.0")
  }

  #mayCommit(sender: string): boolean {
    return this.#mode.policyAuthority ? mayCommit(sender, this.binding) : sender === this.binding.initiator
  }

  #apply(type: string, sender: string, author: ModeMessage["author"], payload: Uint8Array, now: number) {
    const activeAt = now - this.#suspendedTotal
    return this.#run.apply({ type, sender, author, payload, receivedAt: now, activeAt })
  }

  #accept(envelope: Envelope, sender: string, now: number): void {
    if (envelope.messageType === "Commitment") this.#resolution = envelope.payload
    this.#messageIds.add(envelope.messageId)
    this.#log.append({ envelope: stamped(envelope, sender), receivedAt: now })
    const activity = this.#activity.get(sender)
    if (activity === undefined) this.#activity.set(sender, { last: now, count: 1 })
    else {
      activity.last = now
      activity.count += 1
    }
  }

  /**
   * A message of the runtime in a participant's name, dated when it was due. It does not count as activity. When the
   * rules refuse it after all, nothing has happened.
   */
  #write({ dueAt, messageId, payload, sender, type }: RuntimeMessage): void {
    const at = dueAt + this.#suspendedTotal
    const next = this.#apply(type, sender, "runtime", payload, at)
    if (Result.isFailure(next) || this.hasAccepted(messageId)) return
    this.#run = next.success
    this.#messageIds.add(messageId)
    this.#log.append({ envelope: this.#compose(type, messageId, sender, payload, at), receivedAt: at })
  }

  #annotate(messageType: string, sender: string, now: number, payload: Uint8Array<ArrayBuffer>): void {
    const messageId = `${messageType}-${this.#log.end + 1}`
    this.#messageIds.add(messageId)
    this.#log.append({ envelope: this.#compose(messageType, messageId, sender, payload, now), receivedAt: now })
  }

  #compose(messageType: string, messageId: string, sender: string, payload: Uint8Array<ArrayBuffer>, now: number) {
    return create(EnvelopeSchema, {
      macpVersion: PROTOCOL_VERSION,
      mode: this.modeId,
      messageType,
      messageId,
      sessionId: this.binding.sessionId,
      sender,
      timestampUnixMs: BigInt(now),
      payload
    })
  }

  #suspendedFor(now: number): number {
    return this.#suspendedTotal + (this.#suspendedAt === undefined ? 0 : now - this.#suspendedAt)
  }
}

/** Receivers always see the authenticated identity (docs/internals/runtime.md#envelope-fields). */
const stamped = (envelope: Envelope, sender: string): Envelope => {
  envelope.sender = sender
  return envelope
}

const done = <A>(value: A, transition?: Transition): Outcome<A> => ({ result: Result.succeed(value), transition })

const refused = (rejection: Rejection, transition?: Transition): Outcome<never> => ({
  result: Result.fail(rejection),
  transition
})
