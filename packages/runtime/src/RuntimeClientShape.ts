import type { RawEnvelope, SendAck, SessionLifecycleEvent, SessionSnapshot, SessionStreamFrame } from "@runplane/domain"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type {
  PolicyChange,
  RuntimeIdentity,
  RuntimeManifest,
  RuntimeMode,
  RuntimePolicy,
  RuntimeRoot
} from "./RuntimeCatalog.ts"
import type { RuntimeError } from "./RuntimeError.ts"
import type { ListingLimits, SessionListing, SessionPage, SessionPageRequest } from "./SessionListing.ts"

export interface SessionControl {
  readonly sessionId: string
  /** Recorded by the runtime; may be empty. */
  readonly reason: string
}

export interface SessionSubscription {
  readonly sessionId: string
  /** Ordinal (from 1) of the last envelope already seen; 0 replays everything. */
  readonly afterSequence: number
}

/**
 * The calls of an observer; implemented over gRPC, wrapped by the circuit breaker, and in memory for tests.
 * Every call fails with a `RuntimeError`. Streams never have a deadline; unary calls always do.
 */
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
   * Passive subscription to one session: its accepted envelopes after the ordinal, then live. The write side stays open
   * as long as the stream runs, and the runtime does not end the stream when the session ends.
   */
  readonly streamSession: (subscription: SessionSubscription) => Stream.Stream<SessionStreamFrame, RuntimeError>
  /** Life-cycle of all sessions; first one CREATED for each session there is. */
  readonly watchSessions: Stream.Stream<SessionLifecycleEvent, RuntimeError>
  /** Signal and Progress envelopes of all sessions, live only. */
  readonly watchSignals: Stream.Stream<RawEnvelope, RuntimeError>

  /** State conflicts are in the ack, missing authority and unknown sessions are failures. */
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

  /**
   * The receipt of a resolved session, the text of a JSON object; for runtimes with the capability `decisionReceipt`.
   * FAILED_PRECONDITION for a session without a receipt.
   */
  readonly getDecisionReceipt: (sessionId: string) => Effect.Effect<string, RuntimeError>
  /** The public keys of receipts, the text of a JSON Web Key Set. */
  readonly getReceiptKeys: Effect.Effect<string, RuntimeError>

  /** The standard modes; extension modes are named by `initialize` only. */
  readonly listModes: Effect.Effect<ReadonlyArray<RuntimeMode>, RuntimeError>
  readonly listRoots: Effect.Effect<ReadonlyArray<RuntimeRoot>, RuntimeError>
  /** Empty agent id: the manifest of the runtime itself. */
  readonly getManifest: (agentId: string) => Effect.Effect<RuntimeManifest, RuntimeError>
}
