import { fromBinary } from "@bufbuild/protobuf"
import {
  type Envelope,
  type SessionLifecycleEvent_EventType as EventType,
  ProgressPayloadSchema,
  SessionLifecycleEvent_EventType,
  type SessionMetadata,
  SessionState,
  SignalPayloadSchema
} from "@runplane/runtime"
import { forever } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { Identity } from "../auth/Identity.ts"
import { isBlank } from "../core/Decode.ts"
import { isTelemetry } from "../core/EnvelopeShape.ts"
import {
  Forbidden,
  InvalidEnvelope,
  RateLimited,
  type Rejection,
  SessionAlreadyExists,
  Unauthenticated,
  UnknownSession
} from "../core/Rejection.ts"
import type { Outcome, Session, Transition } from "../core/Session.ts"
import { checkStart, startSession } from "../core/SessionStart.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { CallForbidden, SessionNotFound } from "./KernelFailure.ts"
import { Hub } from "./Mailbox.ts"
import { ModeRegistry } from "./ModeRegistry.ts"
import { PolicyRegistry } from "./PolicyRegistry.ts"
import { RateLimits } from "./RateLimits.ts"

/** What an accepted envelope reports back: the parts of an Ack that are not an echo. */
export interface Acceptance {
  readonly duplicate: boolean
  readonly state: SessionState
  readonly acceptedAt: number
}

export interface LifecycleEvent {
  readonly type: EventType
  readonly session: SessionMetadata
  readonly observedAt: number
}

export type ControlKind = "cancel" | "suspend" | "resume"

/**
 * The sessions of the runtime and everything that changes them. Each method runs without yielding, so calls never
 * interleave.
 */
export class Kernel extends Context.Service<
  Kernel,
  {
    /**
     * Identity, mode, start and rate checks of an envelope whose shape is fine
     * (docs/internals/runtime.md#envelope-shape).
     */
    readonly admit: (envelope: Envelope, identity: Identity) => Effect.Effect<void, Rejection>
    /** Accepts an admitted envelope: session start, session message, or Signal and Progress. */
    readonly accept: (envelope: Envelope, identity: Identity) => Effect.Effect<Acceptance, Rejection>
    /** Cancel, suspend or resume. State conflicts are the value's business, authority and absence are failures. */
    readonly control: (
      kind: ControlKind,
      sessionId: string,
      reason: string,
      identity: Identity
    ) => Effect.Effect<Result.Result<Acceptance, Rejection>, SessionNotFound | CallForbidden>
    /** A snapshot for the initiator, a participant or an observer. Notices a passed deadline. */
    readonly describe: (
      sessionId: string,
      identity: Identity
    ) => Effect.Effect<SessionMetadata, SessionNotFound | CallForbidden>
    /** Adds a session that was made elsewhere and announces it; false when its id is taken. */
    readonly adopt: (session: Session) => Effect.Effect<boolean>
    /** Announces a change of a session to its watchers and subscribers. */
    readonly announce: (session: Session, transition: Transition | undefined) => Effect.Effect<void>
    readonly find: (sessionId: string) => Session | undefined
    readonly sessions: () => ReadonlyArray<Session>
    readonly lifecycle: Hub<LifecycleEvent>
    readonly signals: Hub<Envelope>
  }
>()("runplane/sandbox/Kernel") {
  static readonly layer = (options: SandboxOptions): Layer.Layer<Kernel, never, PolicyRegistry | ModeRegistry> =>
    Layer.effect(Kernel, make(options))
}

const EVENT_TYPES: Readonly<Record<Transition | "CREATED", EventType>> = {
  CREATED: SessionLifecycleEvent_EventType.CREATED,
  RESOLVED: SessionLifecycleEvent_EventType.RESOLVED,
  EXPIRED: SessionLifecycleEvent_EventType.EXPIRED,
  SUSPENDED: SessionLifecycleEvent_EventType.SUSPENDED,
  RESUMED: SessionLifecycleEvent_EventType.RESUMED,
  CANCELLED: SessionLifecycleEvent_EventType.CANCELLED
}

const make = Effect.fnUntraced(function* (options: SandboxOptions) {
  const policies = yield* PolicyRegistry
  const modes = yield* ModeRegistry
  const sessions = new Map<string, Session>()
  const lifecycle = new Hub<LifecycleEvent>(options.lifecycleBuffer, "fail")
  const signals = new Hub<Envelope>(options.signalBuffer, "fail")
  const { release } = options
  const rates = new RateLimits(options.rateLimits)

  /**
   * Announces to WatchSessions first, then to the stream: an ending is announced before its Commitment frame
   * (docs/internals/runtime.md#stream-silence).
   */
  const announce = (session: Session, type: Transition | "CREATED" | undefined, now: number) => {
    if (type !== undefined) {
      lifecycle.publish({ type: EVENT_TYPES[type], session: session.metadata(), observedAt: now })
    }
    const log = session.log
    if (type !== undefined && session.isTerminal && options.compactOnTerminal) session.compact()
    // Subscribers of before the compaction read on from the log they hold.
    log.notify()
  }

  const settle = <A>(session: Session, outcome: Outcome<A>, now: number): Result.Result<A, Rejection> => {
    announce(session, outcome.transition, now)
    return outcome.result
  }

  const start = (envelope: Envelope, identity: Identity, now: number): Result.Result<Acceptance, Rejection> =>
    Result.flatMap(checkStart(envelope, release, modes.find), (request): Result.Result<Acceptance, Rejection> => {
      const existing = sessions.get(envelope.sessionId)
      if (existing !== undefined) {
        return existing.hasAccepted(envelope.messageId)
          ? Result.succeed({ duplicate: true, state: existing.state, acceptedAt: now })
          : Result.fail(SessionAlreadyExists)
      }
      const started = startSession(request, identity.sender, now, policies.resolve, release)
      return Result.flatMap(started, (session) => {
        const limit = identity.maxOpenSessions
        if (limit !== undefined && openSessionsOf(identity.sender, sessions) >= limit) return Result.fail(RateLimited)
        sessions.set(envelope.sessionId, session)
        announce(session, "CREATED", now)
        return Result.succeed({ duplicate: false, state: session.state, acceptedAt: now })
      })
    })

  const telemetry = (envelope: Envelope, sender: string, now: number): Result.Result<Acceptance, Rejection> => {
    if (!isReadable(envelope)) return Result.fail(InvalidEnvelope)
    envelope.sender = sender
    signals.publish(envelope)
    return Result.succeed({ duplicate: false, state: SessionState.OPEN, acceptedAt: now })
  }

  const message = (envelope: Envelope, sender: string, now: number): Result.Result<Acceptance, Rejection> => {
    const session = sessions.get(envelope.sessionId)
    if (session === undefined) return Result.fail(UnknownSession)
    return Result.map(settle(session, session.submit(envelope, sender, now), now), ({ duplicate }) => ({
      duplicate,
      state: session.state,
      acceptedAt: now
    }))
  }

  const admit = Effect.fnUntraced(function* (envelope: Envelope, identity: Identity) {
    if (envelope.sender !== "" && envelope.sender !== identity.sender) return yield* Effect.fail(Unauthenticated)
    const isStart = envelope.messageType === "SessionStart"
    const allowed = identity.allowedModes === undefined || identity.allowedModes.has(envelope.mode)
    if (!allowed || (isStart && !identity.canStartSessions)) return yield* Effect.fail(Forbidden)
    const now = yield* Clock.currentTimeMillis
    if (!rates.admit(identity.sender, isStart, now)) return yield* Effect.fail(RateLimited)
  })

  const accept = Effect.fnUntraced(function* (envelope: Envelope, identity: Identity) {
    const now = yield* Clock.currentTimeMillis
    if (isTelemetry(envelope)) return yield* Effect.fromResult(telemetry(envelope, identity.sender, now))
    if (envelope.messageType === "SessionStart") return yield* Effect.fromResult(start(envelope, identity, now))
    return yield* Effect.fromResult(message(envelope, identity.sender, now))
  })

  const control = Effect.fn("Kernel.control")(function* (
    kind: ControlKind,
    sessionId: string,
    reason: string,
    identity: Identity
  ) {
    const session = sessions.get(sessionId)
    if (session === undefined) return yield* new SessionNotFound({ sessionId })
    if (!session.mayControl(identity.sender)) {
      return yield* new CallForbidden({ detail: `caller may not ${kind} this session` })
    }
    const now = yield* Clock.currentTimeMillis
    const outcome = session[kind](identity.sender, reason, now, options.annotateStream)
    return Result.map(settle(session, outcome, now), () => ({
      duplicate: false,
      state: session.state,
      acceptedAt: now
    }))
  })

  const describe = Effect.fn("Kernel.describe")(function* (sessionId: string, identity: Identity) {
    const session = sessions.get(sessionId)
    if (session === undefined) return yield* new SessionNotFound({ sessionId })
    if (!identity.isObserver && !session.isMember(identity.sender)) {
      return yield* new CallForbidden({ detail: "caller is not a participant or observer of this session" })
    }
    const now = yield* Clock.currentTimeMillis
    announce(session, session.refresh(now), now)
    return session.metadata()
  })

  const sweep = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const [id, session] of sessions) {
      announce(session, session.refresh(now), now)
      if (session.isTerminal && now - session.startedAt > options.retentionMs) sessions.delete(id)
    }
    rates.prune(now)
  })

  const every = options.sweepIntervalMs
  yield* Effect.forkScoped(forever("sweep", sweep, { every, first: every }))

  return Kernel.of({
    admit,
    accept,
    control,
    describe,
    adopt: (session) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { sessionId } = session.binding
        if (sessions.has(sessionId)) return false
        sessions.set(sessionId, session)
        announce(session, "CREATED", now)
        return true
      }),
    announce: (session, transition) => Effect.map(Clock.currentTimeMillis, (now) => announce(session, transition, now)),
    find: (sessionId) => sessions.get(sessionId),
    sessions: () => [...sessions.values()],
    lifecycle,
    signals
  })
})

const openSessionsOf = (sender: string, sessions: ReadonlyMap<string, Session>): number => {
  let open = 0
  for (const session of sessions.values()) {
    if (session.state === SessionState.OPEN && session.binding.initiator === sender) open += 1
  }
  return open
}

/**
 * Signals and Progress must decode when they carry anything, and a Signal must name its type
 * (docs/internals/runtime.md#ambient).
 */
const isReadable = ({ messageType, payload }: Envelope): boolean => {
  if (payload.length === 0) return true
  return Result.match(
    Result.try(() =>
      messageType === "Signal"
        ? !isBlank(fromBinary(SignalPayloadSchema, payload).signalType)
        : fromBinary(ProgressPayloadSchema, payload) !== undefined
    ),
    { onFailure: () => false, onSuccess: (readable) => readable }
  )
}
