import type { RawEnvelope, SendAck, SessionLifecycleEvent, SessionSnapshot, SessionStreamFrame } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import { guardUnaryCalls } from "./BreakerClient.ts"
import { CircuitBreaker } from "./CircuitBreaker.ts"
import { type GrpcClientOptions, grpcClientSettings, makeGrpcClient } from "./GrpcClient.ts"
import type {
  PolicyChange,
  RuntimeIdentity,
  RuntimeManifest,
  RuntimeMode,
  RuntimePolicy,
  RuntimeRoot
} from "./RuntimeCatalog.ts"
import { RuntimeCredentials } from "./RuntimeCredentials.ts"
import type { RuntimeError } from "./RuntimeError.ts"
import { RuntimeFake } from "./RuntimeFake.ts"
import type { ListingLimits, SessionListing, SessionPage, SessionPageRequest } from "./SessionListing.ts"

export interface SessionControl {
  readonly sessionId: string
  /** Recorded by the runtime; may be empty. */
  readonly reason: string
}

export interface SessionSubscription {
  readonly sessionId: string
  /** Ordinal (from 1) of the last envelope already seen; 0 replays everything (runtime-wire section 3.4). */
  readonly afterSequence: number
}

export interface RuntimeClientShape {
  /** `host:port` of the runtime. */
  readonly address: string
  /** Kind of runtime, as run descriptors name it (`rust`). */
  readonly kind: string
  /** Limits of `listSessions`. */
  readonly listing: ListingLimits

  readonly initialize: Effect.Effect<RuntimeIdentity, RuntimeError>
  readonly getSession: (sessionId: string) => Effect.Effect<SessionSnapshot, RuntimeError>
  readonly listSessionsPage: (request: SessionPageRequest) => Effect.Effect<SessionPage, RuntimeError>
  /** All pages within the limits. */
  readonly listSessions: Effect.Effect<SessionListing, RuntimeError>

  /**
   * Passive subscription to one session: its accepted envelopes after the ordinal, then live. The write side stays open as
   * long as the stream runs, and the runtime does not end the stream when the session ends (runtime-wire section 3).
   */
  readonly streamSession: (subscription: SessionSubscription) => Stream.Stream<SessionStreamFrame, RuntimeError>
  /** Life-cycle of all sessions; first one CREATED for each session there is (runtime-wire section 4). */
  readonly watchSessions: Stream.Stream<SessionLifecycleEvent, RuntimeError>
  /** Signal and Progress envelopes of all sessions, live only. */
  readonly watchSignals: Stream.Stream<RawEnvelope, RuntimeError>

  /** State conflicts are in the ack, missing authority and unknown sessions are failures (runtime-wire section 5.3). */
  readonly cancelSession: (control: SessionControl) => Effect.Effect<SendAck, RuntimeError>
  readonly suspendSession: (control: SessionControl) => Effect.Effect<SendAck, RuntimeError>
  readonly resumeSession: (control: SessionControl) => Effect.Effect<SendAck, RuntimeError>

  readonly registerPolicy: (
    policy: Omit<RuntimePolicy, "registeredAtUnixMs">
  ) => Effect.Effect<PolicyChange, RuntimeError>
  readonly unregisterPolicy: (policyId: string) => Effect.Effect<PolicyChange, RuntimeError>
  readonly getPolicy: (policyId: string) => Effect.Effect<RuntimePolicy, RuntimeError>
  /** Empty mode: all policies. */
  readonly listPolicies: (mode: string) => Effect.Effect<ReadonlyArray<RuntimePolicy>, RuntimeError>

  /** The standard modes; extension modes are named by `initialize` only. */
  readonly listModes: Effect.Effect<ReadonlyArray<RuntimeMode>, RuntimeError>
  readonly listRoots: Effect.Effect<ReadonlyArray<RuntimeRoot>, RuntimeError>
  /** Empty agent id: the manifest of the runtime itself. */
  readonly getManifest: (agentId: string) => Effect.Effect<RuntimeManifest, RuntimeError>
}

/**
 * The runtime as an observer uses it (runtime-wire sections 1 to 7). It cannot write into a session: there is no Send.
 * Streams never have a deadline; unary calls always do.
 */
export class RuntimeClient extends Context.Service<RuntimeClient, RuntimeClientShape>()(
  "runplane/runtime/RuntimeClient"
) {
  /** gRPC by connect-node, with everything given by the caller. */
  static readonly layerGrpc = (options: GrpcClientOptions): Layer.Layer<RuntimeClient, never, RuntimeCredentials> =>
    Layer.effect(RuntimeClient, makeGrpcClient(options))

  /** gRPC, options from the RUNTIME_* settings of http-details section 14. */
  static readonly layerConfig = Layer.effect(RuntimeClient, Effect.flatMap(grpcClientSettings, makeGrpcClient))

  /** Puts the circuit breaker around the unary calls of the client below; streams pass. */
  static readonly layerBreaker: Layer.Layer<RuntimeClient, never, RuntimeClient | CircuitBreaker> = Layer.effect(
    RuntimeClient,
    Effect.gen(function* () {
      return guardUnaryCalls(yield* RuntimeClient, yield* CircuitBreaker)
    })
  )

  /** What main uses: gRPC, credentials and breaker from the settings; the breaker is offered to the administration. */
  static readonly layer = RuntimeClient.layerBreaker.pipe(
    Layer.provide(RuntimeClient.layerConfig),
    Layer.provide(RuntimeCredentials.layer),
    Layer.provideMerge(CircuitBreaker.layer)
  )

  /** A runtime in memory, scripted through `RuntimeFake`. */
  static readonly layerTest: Layer.Layer<RuntimeClient | RuntimeFake> = Layer.effect(
    RuntimeClient,
    Effect.map(RuntimeFake, (fake) => fake.client)
  ).pipe(Layer.provideMerge(RuntimeFake.layer))
}
