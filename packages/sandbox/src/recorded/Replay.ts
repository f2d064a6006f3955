import { create, fromBinary, toBinary } from "@bufbuild/protobuf"
import { DEFAULT_POLICY, PINNED_RELEASE } from "@runplane/domain"
import { type Envelope, EnvelopeSchema, SignalPayloadSchema } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Mode, ModeRun } from "../core/Mode.ts"
import { Forbidden } from "../core/Rejection.ts"
import { Session, type Transition } from "../core/Session.ts"
import type { Kernel } from "../kernel/Kernel.ts"
import { type RecordedRun, type RecordedState, type RecordedStep, readBundle } from "./RecordedRun.ts"

/** There is a session of this id already, perhaps the same bundle played before. */
export class SessionIdTaken extends Data.TaggedError("SessionIdTaken")<{ readonly sessionId: string }> {
  override get message() {
    return `session ${this.sessionId} exists already`
  }
}

export interface ReplayOptions {
  /** How many times faster than it happened; 1 by default. Infinity leaves no pauses. */
  readonly speed?: number
  /** Another id for the session, so that one bundle can be played more than once. */
  readonly sessionId?: string
}

/** What was played. */
export interface Replayed {
  readonly sessionId: string
  /** Envelopes of the session, its start included. */
  readonly envelopes: number
  readonly signals: number
}

/** Plays a bundle against the kernel: pauses as they were, divided by the speed, and times as of now. */
export const replayBundle = Effect.fn("Sandbox.replayBundle")(function* (
  kernel: Kernel["Service"],
  bundle: unknown,
  { sessionId, speed = 1 }: ReplayOptions
) {
  const run = yield* Effect.fromResult(readBundle(bundle))
  const id = sessionId ?? run.sessionId
  const begin = yield* Clock.currentTimeMillis
  const session = recordedSession(run, id, begin)
  if (!(yield* kernel.adopt(session))) return yield* new SessionIdTaken({ sessionId: id })
  const played = { sessionId: id, envelopes: 1, signals: 0 }
  for (const step of run.steps) {
    yield* pauseUntil(begin + Math.max(0, step.at - run.startedAt) / speed)
    const now = yield* Clock.currentTimeMillis
    if (step.kind === "signal") {
      played.signals += 1
      kernel.signals.publish(movedSignal(step.envelope, run.sessionId, id, now))
    } else {
      if (step.kind === "envelope") played.envelopes += 1
      yield* kernel.announce(session, apply(session, step, id, now))
    }
  }
  return played
})

const pauseUntil = Effect.fnUntraced(function* (time: number) {
  const now = yield* Clock.currentTimeMillis
  if (time > now) yield* Effect.sleep(time - now)
})

const apply = (
  session: Session,
  step: Exclude<RecordedStep, { readonly kind: "signal" }>,
  sessionId: string,
  now: number
): Transition | undefined => {
  if (step.kind === "envelope") return session.repeat(moved(step.envelope, sessionId, now), now)
  const transition = TRANSITIONS[step.state]
  return session.repeatState(transition, now)
}

/** The transition into each state. An open session that is reported open does not change. */
const TRANSITIONS: Readonly<Record<RecordedState, Transition>> = {
  OPEN: "RESUMED",
  SUSPENDED: "SUSPENDED",
  RESOLVED: "RESOLVED",
  EXPIRED: "EXPIRED",
  CANCELLED: "CANCELLED"
}

const recordedSession = (run: RecordedRun, sessionId: string, now: number): Session => {
  const envelope = moved(run.start, sessionId, now)
  const { configurationVersion, modeVersion, participants, policyVersion } = run.payload
  const binding = {
    sessionId,
    initiator: envelope.sender,
    participants,
    modeVersion,
    configurationVersion,
    policy: { ...DEFAULT_POLICY, policyId: policyVersion === "" ? DEFAULT_POLICY.policyId : policyVersion },
    release: PINNED_RELEASE
  } as const
  return new Session({ mode, run: readOnly, binding, payload: run.payload, envelope, now, isRecorded: true })
}

/** A recording accepts no messages. */
const readOnly: ModeRun = {
  apply: () => Result.fail(Forbidden),
  commit: () => Result.fail(Forbidden),
  reservesId: () => false,
  due: () => [],
  view: () => ({ recorded: true })
}

const mode: Mode = {
  info: {
    mode: "recorded",
    modeVersion: "1.0.0",
    title: "Recording",
    description: "Repeats what was observed once.",
    determinismClass: "context-frozen",
    participantModel: "declared",
    messageTypes: [],
    schemaUris: {}
  },
  policyAuthority: false,
  needsParticipants: false,
  isStrict: true,
  start: () => Result.succeed(readOnly)
}

/** The envelope in the session of the replay and at its time; one without a time stays so. */
const moved = (envelope: Envelope, sessionId: string, now: number): Envelope =>
  create(EnvelopeSchema, {
    ...envelope,
    sessionId,
    timestampUnixMs: envelope.timestampUnixMs === 0n ? 0n : BigInt(now)
  })

/** A signal about the recorded session becomes one about its replay; an ambient one still names no session. */
const movedSignal = (envelope: Envelope, from: string, to: string, now: number): Envelope => {
  const signal = moved(envelope, envelope.sessionId === "" ? "" : to, now)
  if (envelope.messageType !== "Signal" || from === to) return signal
  const payload = Result.try(() => fromBinary(SignalPayloadSchema, envelope.payload))
  if (Result.isFailure(payload) || payload.success.correlationSessionId !== from) return signal
  signal.payload = toBinary(SignalPayloadSchema, { ...payload.success, correlationSessionId: to })
  return signal
}
