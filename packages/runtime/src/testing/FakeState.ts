import type {
  RawEnvelope,
  ReceiptSigner,
  SessionLifecycleEvent,
  SessionSnapshot,
  SessionStreamFrame
} from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { RuntimeIdentity, RuntimeManifest, RuntimeMode, RuntimePolicy, RuntimeRoot } from "../RuntimeCatalog.ts"
import { RuntimeError, type RuntimeErrorReason } from "../RuntimeError.ts"

/** Buffered frames of a fake stream beyond a replay; a slower reader is cut, as runtimes do. */
const FAKE_STREAM_BUFFER_FRAMES = 4096

export type FakeMethod =
  | "Initialize"
  | "GetSession"
  | "ListSessions"
  | "StreamSession"
  | "WatchSessions"
  | "WatchSignals"
  | "CancelSession"
  | "SuspendSession"
  | "ResumeSession"
  | "RegisterPolicy"
  | "UnregisterPolicy"
  | "GetPolicy"
  | "ListPolicies"
  | "ListModes"
  | "ListRoots"
  | "GetManifest"
  | "GetDecisionReceipt"
  | "GetReceiptKeys"

/** A call as it arrived at the fake; `detail` is its argument where it has one. */
export interface FakeCall {
  readonly method: FakeMethod
  readonly sessionId?: string
  readonly afterSequence?: number
  readonly detail?: string
}

export interface FakeFault {
  readonly method: FakeMethod | "any"
  /** Only calls about this session. */
  readonly sessionId?: string
  /** Calls left to hit. */
  times: number
  readonly effect:
    | { readonly _tag: "fail"; readonly reason: RuntimeErrorReason; readonly message: string }
    | { readonly _tag: "hang" }
    | { readonly _tag: "delay"; readonly duration: Duration.Input }
    | { readonly _tag: "cut"; readonly frames: number; readonly reason: RuntimeErrorReason | undefined }
}

export interface FakeSession {
  snapshot: SessionSnapshot
  /** Accepted envelopes with ordinals above `base`. */
  history: Array<RawEnvelope>
  /** Ordinals that were compacted away. */
  base: number
}

interface StreamName {
  readonly method: FakeMethod
  readonly sessionId: string | undefined
}

interface FakeStream<Frame> extends StreamName {
  readonly queue: Queue.Queue<Frame, RuntimeError | Cause.Done>
  framesLeft: number
  readonly cutReason: RuntimeErrorReason | undefined
}

/** A key that signs receipts, and its public half as a JSON Web Key. */
export interface FakeReceiptKey {
  readonly signer: ReceiptSigner
  readonly jwk: Readonly<Record<string, string>>
}

export interface FakeRegistry {
  readonly identity: RuntimeIdentity
  readonly manifest: RuntimeManifest
  readonly modes: ReadonlyArray<RuntimeMode>
  readonly roots: ReadonlyArray<RuntimeRoot>
}

/** Everything the fake runtime knows. Changed only synchronously, so that no fiber sees half of a change. */
export class FakeState {
  readonly sessions = new Map<string, FakeSession>()
  readonly policies = new Map<string, RuntimePolicy>()
  readonly calls: Array<FakeCall> = []
  readonly faults: Array<FakeFault> = []
  available = true
  registry: FakeRegistry = emptyRegistry
  /** The answers of GetDecisionReceipt that a script gives, by session; the others are issued. */
  readonly receipts = new Map<string, string>()
  receiptKey: FakeReceiptKey | undefined
  readonly sessionStreams = new Set<FakeStream<SessionStreamFrame>>()
  readonly lifecycleStreams = new Set<FakeStream<SessionLifecycleEvent>>()
  readonly signalStreams = new Set<FakeStream<RawEnvelope>>()
  readonly #waiting = new Set<{ readonly condition: () => boolean; readonly reached: Deferred.Deferred<void> }>()

  /** Completes once the condition is true; it is checked after every change. */
  readonly until = (condition: () => boolean): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (condition()) return Effect.void
      const waiter = { condition, reached: Deferred.makeUnsafe<void>() }
      this.#waiting.add(waiter)
      return Effect.ensuring(
        Deferred.await(waiter.reached),
        Effect.sync(() => this.#waiting.delete(waiter))
      )
    })

  changed(): void {
    for (const waiter of this.#waiting) {
      if (waiter.condition()) Deferred.doneUnsafe(waiter.reached, Effect.void)
    }
  }

  /** Notes the call and applies what was scripted for it. Returns after how many frames a stream is to be cut. */
  readonly arrive = (call: FakeCall): Effect.Effect<FakeFault["effect"] | undefined, RuntimeError> =>
    Effect.suspend(() => {
      this.calls.push(call)
      this.changed()
      if (!this.available) return Effect.fail(this.#unavailable(call.method))
      const fault = this.faults.find(
        ({ method, sessionId, times }) =>
          times > 0 &&
          (method === "any" || method === call.method) &&
          (sessionId === undefined || sessionId === call.sessionId)
      )
      if (fault === undefined) return Effect.undefined
      fault.times -= 1
      switch (fault.effect._tag) {
        case "fail":
          return Effect.fail(new RuntimeError({ ...fault.effect, method: call.method }))
        case "hang":
          return Effect.never
        case "delay":
          return Effect.as(Effect.sleep(fault.effect.duration), undefined)
        case "cut":
          return Effect.succeed(fault.effect)
      }
    })

  session(sessionId: string, method: FakeMethod): Effect.Effect<FakeSession, RuntimeError> {
    const session = this.sessions.get(sessionId)
    return session === undefined
      ? Effect.fail(new RuntimeError({ reason: "NOT_FOUND", method, message: `unknown session ${sessionId}` }))
      : Effect.succeed(session)
  }

  /** Opens a stream for as long as the scope lives. `initial` is delivered first and never counts as lag. */
  readonly openStream = <Frame>(
    streams: Set<FakeStream<Frame>>,
    call: FakeCall,
    cut: FakeFault["effect"] | undefined,
    initial: ReadonlyArray<Frame>
  ): Effect.Effect<Queue.Dequeue<Frame, RuntimeError | Cause.Done>, never, Scope.Scope> =>
    Effect.gen({ self: this }, function* () {
      const stream: FakeStream<Frame> = {
        method: call.method,
        sessionId: call.sessionId,
        queue: yield* Queue.dropping<Frame, RuntimeError | Cause.Done>(initial.length + FAKE_STREAM_BUFFER_FRAMES),
        framesLeft: cut?._tag === "cut" ? cut.frames : Number.POSITIVE_INFINITY,
        cutReason: cut?._tag === "cut" ? cut.reason : undefined
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          streams.add(stream)
          if (stream.framesLeft === 0) this.end(streams, stream, stream.cutReason)
          for (const frame of initial) this.push(streams, stream, frame)
          this.changed()
        }),
        () =>
          Effect.sync(() => {
            streams.delete(stream)
            this.changed()
          })
      )
      return stream.queue
    })

  push<Frame>(streams: Set<FakeStream<Frame>>, stream: FakeStream<Frame>, frame: Frame): void {
    if (!streams.has(stream)) return
    if (Queue.offerUnsafe(stream.queue, frame)) {
      stream.framesLeft -= 1
      if (stream.framesLeft === 0) this.end(streams, stream, stream.cutReason)
    } else {
      this.end(streams, stream, "RESOURCE_EXHAUSTED")
    }
  }

  broadcast<Frame>(streams: Set<FakeStream<Frame>>, frame: Frame, sessionId?: string): void {
    for (const stream of [...streams]) {
      if (sessionId === undefined || stream.sessionId === sessionId) this.push(streams, stream, frame)
    }
    this.changed()
  }

  /** Ends a stream after its buffered frames; undefined ends it with status OK. */
  end<Frame>(streams: Set<FakeStream<Frame>>, stream: FakeStream<Frame>, reason: RuntimeErrorReason | undefined): void {
    streams.delete(stream)
    Queue.failCauseUnsafe(
      stream.queue,
      reason === undefined
        ? Cause.fail(Cause.Done())
        : Cause.fail(new RuntimeError({ reason, method: stream.method, message: `stream cut: ${reason}` }))
    )
    this.changed()
  }

  endAll(reason: RuntimeErrorReason | undefined, method?: FakeMethod, sessionId?: string): void {
    const matches = (stream: StreamName): boolean =>
      (method === undefined || stream.method === method) && (sessionId === undefined || stream.sessionId === sessionId)
    for (const stream of [...this.sessionStreams]) if (matches(stream)) this.end(this.sessionStreams, stream, reason)
    for (const stream of [...this.lifecycleStreams])
      if (matches(stream)) this.end(this.lifecycleStreams, stream, reason)
    for (const stream of [...this.signalStreams]) if (matches(stream)) this.end(this.signalStreams, stream, reason)
  }

  openStreams(method: FakeMethod, sessionId?: string): number {
    let count = 0
    for (const stream of [...this.sessionStreams, ...this.lifecycleStreams, ...this.signalStreams]) {
      if (stream.method === method && (sessionId === undefined || stream.sessionId === sessionId)) count += 1
    }
    return count
  }

  #unavailable(method: FakeMethod): RuntimeError {
    return new RuntimeError({ reason: "UNAVAILABLE", method, message: "connect ECONNREFUSED" })
  }
}

const emptyRegistry: FakeRegistry = {
  identity: {
    protocolVersion: "1.0",
    name: "runtime-fake",
    version: "0.0.0",
    supportedModes: ["macp.mode.decision.v1"],
    capabilities: {
      sessions: { stream: true, listSessions: true, watchSessions: true },
      cancellation: { cancelSession: true },
      progress: { progress: true },
      manifest: { getManifest: true },
      modeRegistry: { listModes: true, listChanged: false },
      roots: { listRoots: true, listChanged: false },
      policyRegistry: { registerPolicy: true, listPolicies: true, listChanged: false },
      decisionReceipt: { getDecisionReceipt: false, signed: false },
      experimental: {}
    }
  },
  manifest: { agentId: "runtime-fake", supportedModes: ["macp.mode.decision.v1"], metadata: {} },
  modes: [],
  roots: []
}
