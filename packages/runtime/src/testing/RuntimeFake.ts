import type {
  RawEnvelope,
  RuntimeSessionState,
  SessionLifecycleEvent,
  SessionLifecycleType,
  SessionSnapshot,
  SessionStreamFrame
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RuntimeClient } from "../RuntimeClient.ts"
import type { RuntimeClientShape } from "../RuntimeClientShape.ts"
import type { RuntimeErrorReason } from "../RuntimeError.ts"
import { changeState, inlineError, makeFakeClient } from "./FakeClient.ts"
import {
  type FakeCall,
  type FakeFault,
  type FakeMethod,
  type FakeReceiptKey,
  type FakeRegistry,
  FakeState
} from "./FakeState.ts"

export type { FakeCall, FakeMethod, FakeReceiptKey, FakeRegistry } from "./FakeState.ts"

/** Which calls a scripted fault hits: the method, the session, and how many of them (1 unless said). */
export interface FaultTarget {
  readonly method: FakeMethod | "any"
  readonly sessionId?: string
  readonly times?: number
}

export interface RuntimeFakeShape {
  /** The client end, for tests that hand it out in another way than by the layer. */
  readonly client: RuntimeClientShape

  /** A session appears (OPEN unless said otherwise) and is announced as CREATED. */
  readonly openSession: (
    session: Partial<SessionSnapshot> & { readonly sessionId: string }
  ) => Effect.Effect<SessionSnapshot>
  /** An envelope is accepted: into the history, and to the subscribers. Answers its ordinal. */
  readonly accept: (sessionId: string, envelope: Partial<RawEnvelope>) => Effect.Effect<number>
  /** A frame for the live subscribers only; what a misbehaving runtime might send. */
  readonly deliver: (sessionId: string, frame: SessionStreamFrame) => Effect.Effect<void>
  readonly deliverInlineError: (sessionId: string, message: string, code?: string) => Effect.Effect<void>
  /** Changes the session's state and notifies the watchers. */
  readonly transition: (sessionId: string, type: Exclude<SessionLifecycleType, "CREATED">) => Effect.Effect<void>
  /** Changes the session's state without a notice. */
  readonly setState: (sessionId: string, state: RuntimeSessionState) => Effect.Effect<void>
  /** A life-cycle event as given, with no change of state. */
  readonly announce: (event: SessionLifecycleEvent) => Effect.Effect<void>
  readonly signal: (envelope: Partial<RawEnvelope>) => Effect.Effect<void>
  /** The history is dropped, the ordinals stay used. */
  readonly compact: (sessionId: string) => Effect.Effect<void>
  /** The session leaves the memory of the runtime without a word. */
  readonly evict: (sessionId: string) => Effect.Effect<void>
  readonly configure: (registry: Partial<FakeRegistry>) => Effect.Effect<void>

  /**
   * Issues receipts from now on: the capability, and the key that signs them; without a key they are not signed. The
   * session answers `GetDecisionReceipt` with the receipt of its Commitment.
   */
  readonly issueReceipts: (key?: FakeReceiptKey) => Effect.Effect<void>
  /** The answer of GetDecisionReceipt for the session, whatever it is. */
  readonly setReceipt: (sessionId: string, text: string) => Effect.Effect<void>

  readonly fail: (target: FaultTarget, reason: RuntimeErrorReason, message?: string) => Effect.Effect<void>
  /** The call is never answered, the stream never opens. */
  readonly hang: (target: FaultTarget) => Effect.Effect<void>
  /** The call is answered after a while of the test clock. */
  readonly delay: (target: FaultTarget, duration: Duration.Input) => Effect.Effect<void>
  /** The stream is cut after that many frames; no reason means an orderly end. */
  readonly cutAfter: (target: FaultTarget, frames: number, reason?: RuntimeErrorReason) => Effect.Effect<void>
  /** Cuts open streams now, after the frames in their buffers. */
  readonly cut: (method: FakeMethod, options?: CutOptions) => Effect.Effect<void>
  /** False: every new call is UNAVAILABLE and open streams break with ABORTED, as when the process dies. */
  readonly setAvailable: (available: boolean) => Effect.Effect<void>

  /** Calls so far, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<FakeCall>>
  readonly awaitCalls: (method: FakeMethod, count: number) => Effect.Effect<void>
  readonly openStreams: (method: FakeMethod, sessionId?: string) => Effect.Effect<number>
  readonly awaitOpenStreams: (method: FakeMethod, count: number, sessionId?: string) => Effect.Effect<void>
}

export interface CutOptions {
  readonly sessionId?: string
  readonly reason?: RuntimeErrorReason
}

/**
 * A runtime in memory for tests, and its script: sessions, frames, signals, life-cycle and faults. It reads time from
 * the Clock only, so everything runs under the test clock.
 */
export class RuntimeFake extends Context.Service<RuntimeFake, RuntimeFakeShape>()("runplane/runtime/RuntimeFake") {
  /** The script, and the client that plays it. */
  static readonly layer: Layer.Layer<RuntimeClient | RuntimeFake> = Layer.effect(
    RuntimeClient,
    Effect.map(RuntimeFake, ({ client }) => client)
  ).pipe(Layer.provideMerge(Layer.sync(RuntimeFake, () => make(new FakeState()))))
}

const make = (state: FakeState): RuntimeFakeShape => {
  const existing = (sessionId: string) => Effect.orDie(state.session(sessionId, "GetSession"))
  const addFault = ({ method, sessionId, times }: FaultTarget, effect: FakeFault["effect"]) =>
    Effect.sync(() => {
      state.faults.push({ method, effect, times: times ?? 1, ...(sessionId === undefined ? {} : { sessionId }) })
    })

  return {
    client: makeFakeClient(state),

    openSession: (session) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const snapshot: SessionSnapshot = {
          ...defaultSnapshot,
          startedAtUnixMs: now,
          expiresAtUnixMs: now + SESSION_TTL_MS,
          ...session
        }
        state.sessions.set(snapshot.sessionId, { snapshot, history: [], base: 0 })
        state.broadcast(state.lifecycleStreams, { type: "CREATED", session: snapshot, observedAtUnixMs: now })
        return snapshot
      }),
    accept: (sessionId, envelope) =>
      Effect.gen(function* () {
        const session = yield* existing(sessionId)
        const now = yield* Clock.currentTimeMillis
        const ordinal = session.base + session.history.length + 1
        const accepted: RawEnvelope = {
          ...defaultEnvelope,
          mode: session.snapshot.mode,
          messageId: `m${ordinal}`,
          sessionId,
          timestampUnixMs: now,
          ...envelope
        }
        session.history.push(accepted)
        state.broadcast(state.sessionStreams, { _tag: "Envelope", envelope: accepted }, sessionId)
        return ordinal
      }),
    deliver: (sessionId, frame) => Effect.sync(() => state.broadcast(state.sessionStreams, frame, sessionId)),
    deliverInlineError: (sessionId, message, code) =>
      Effect.sync(() => state.broadcast(state.sessionStreams, inlineError(sessionId, message, code), sessionId)),
    transition: (sessionId, type) =>
      Effect.gen(function* () {
        changeState(state, yield* existing(sessionId), type, yield* Clock.currentTimeMillis)
      }),
    setState: (sessionId, sessionState) =>
      Effect.map(existing(sessionId), (session) => {
        session.snapshot = { ...session.snapshot, state: sessionState }
      }),
    announce: (event) => Effect.sync(() => state.broadcast(state.lifecycleStreams, event)),
    signal: (envelope) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        state.broadcast(state.signalStreams, {
          ...defaultEnvelope,
          messageType: "Signal",
          messageId: `signal-${now}`,
          timestampUnixMs: now,
          ...envelope
        })
      ),
    compact: (sessionId) =>
      Effect.map(existing(sessionId), (session) => {
        session.base += session.history.length
        session.history = []
      }),
    evict: (sessionId) => Effect.sync(() => void state.sessions.delete(sessionId)),
    configure: (registry) =>
      Effect.sync(() => {
        state.registry = { ...state.registry, ...registry }
      }),

    issueReceipts: (key) =>
      Effect.sync(() => {
        const { identity } = state.registry
        const decisionReceipt = { getDecisionReceipt: true, signed: key !== undefined }
        const capabilities = { ...identity.capabilities, decisionReceipt }
        state.registry = { ...state.registry, identity: { ...identity, capabilities } }
        state.receiptKey = key
      }),
    setReceipt: (sessionId, text) => Effect.sync(() => void state.receipts.set(sessionId, text)),

    fail: (target, reason, message = `scripted ${reason}`) => addFault(target, { _tag: "fail", reason, message }),
    hang: (target) => addFault(target, { _tag: "hang" }),
    delay: (target, duration) => addFault(target, { _tag: "delay", duration }),
    cutAfter: (target, frames, reason) => addFault(target, { _tag: "cut", frames, reason }),
    cut: (method, options) => Effect.sync(() => state.endAll(options?.reason, method, options?.sessionId)),
    setAvailable: (available) =>
      Effect.sync(() => {
        state.available = available
        if (!available) state.endAll("ABORTED")
      }),

    calls: Effect.sync(() => [...state.calls]),
    awaitCalls: (method, count) =>
      state.until(() => state.calls.filter((call) => call.method === method).length >= count),
    openStreams: (method, sessionId) => Effect.sync(() => state.openStreams(method, sessionId)),
    awaitOpenStreams: (method, count, sessionId) => state.until(() => state.openStreams(method, sessionId) === count)
  }
}

/** Short, because an observer without a notice of the end queries the session at the deadline. */
const SESSION_TTL_MS = 1_000

const defaultSnapshot: Omit<SessionSnapshot, "sessionId"> = {
  mode: "macp.mode.decision.v1",
  state: "OPEN",
  startedAtUnixMs: 0,
  expiresAtUnixMs: 0,
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  policyVersion: "policy.default",
  participants: [],
  participantActivity: [],
  initiator: "",
  contextId: "",
  extensionKeys: []
}

const defaultEnvelope: RawEnvelope = {
  macpVersion: "1.0",
  mode: "",
  messageType: "Proposal",
  messageId: "",
  sessionId: "",
  sender: "agent://lead",
  timestampUnixMs: 0,
  payload: new Uint8Array()
}
