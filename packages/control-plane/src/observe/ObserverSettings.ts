import { ControlPlaneSettings, defaultsOf, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Times are milliseconds. What each means for an observer: docs/internals/runtime.md#await-session and the sections
 * after it.
 */
export interface ObserverOptions {
  readonly sessionPollBaseMs: number
  readonly sessionPollMaxMs: number
  /** How long a run waits for its initiator to open the session. */
  readonly sessionPollTimeoutMs: number
  /** How long the runtime may take to tell a session's policy before the run is bound without it. */
  readonly policyReadTimeoutMs: number
  readonly discoveryEnabled: boolean
  readonly recoveryEnabled: boolean
  /** How often unfinished runs are looked for that no process observes. */
  readonly takeOverIntervalMs: number
  /** Observers that look for their place at the same time: they share the database with the requests. */
  readonly takeUpConcurrency: number
  /** A run that finds its place no sooner than this holds up the next ones no longer. */
  readonly takeUpPatienceMs: number
  /** How long a process that stands still keeps its runs. */
  readonly leaseMs: number
  /** How often a process looks which others are there. */
  readonly lookMs: number
  readonly streamIdleTimeoutMs: number
  readonly streamMaxRetries: number
  readonly streamBackoffBaseMs: number
  readonly streamBackoffMaxMs: number
  /** How long an ended session may take over the next frame that its history still holds. */
  readonly drainTimeoutMs: number
  /** How long an ended session is waited for that brings nothing new, whatever its stream does. */
  readonly longestDrainMs: number
  /** Pause before a broken watch of all sessions or signals is opened again (docs/internals/runtime.md#watches). */
  readonly watchReconnectMs: number
  /** How long an unknown session may wait for its `POST /runs` before it becomes a discovered run. */
  readonly discoveryGraceMs: number
  /** How often the runtime's list of sessions is compared with the runs; 0: never. */
  readonly reconcileIntervalMs: number
  /** Bytes that signals may take while they wait for the database. */
  readonly signalBufferBytes: number
  /** How long the runtime says NOT_FOUND of a bound session before its run fails; infinite: never. */
  readonly sessionLostAfterMs: number
  /** How long after the session's deadline, or after its Commitment, the runtime is asked whether the session ended. */
  readonly endCheckDelayMs: number
}

const settings = {
  sessionPollBaseMs: ControlPlaneSettings.SESSION_POLL_BASE_MS,
  sessionPollMaxMs: ControlPlaneSettings.SESSION_POLL_MAX_MS,
  sessionPollTimeoutMs: ControlPlaneSettings.SESSION_POLL_TIMEOUT_MS,
  policyReadTimeoutMs: ControlPlaneSettings.SESSION_POLICY_TIMEOUT_MS,
  discoveryEnabled: ControlPlaneSettings.SESSION_DISCOVERY_ENABLED,
  recoveryEnabled: ControlPlaneSettings.RUN_RECOVERY_ENABLED,
  takeOverIntervalMs: ControlPlaneSettings.RUN_TAKE_OVER_INTERVAL_MS,
  takeUpConcurrency: ControlPlaneSettings.RUN_TAKE_UP_CONCURRENCY,
  takeUpPatienceMs: ControlPlaneSettings.RUN_TAKE_UP_PATIENCE_MS,
  leaseMs: ControlPlaneSettings.CLUSTER_LEASE_MS,
  lookMs: ControlPlaneSettings.CLUSTER_LOOK_INTERVAL_MS,
  streamIdleTimeoutMs: ControlPlaneSettings.STREAM_IDLE_TIMEOUT_MS,
  streamMaxRetries: ControlPlaneSettings.STREAM_MAX_RETRIES,
  streamBackoffBaseMs: ControlPlaneSettings.STREAM_BACKOFF_BASE_MS,
  streamBackoffMaxMs: ControlPlaneSettings.STREAM_BACKOFF_MAX_MS,
  drainTimeoutMs: ControlPlaneSettings.STREAM_DRAIN_TIMEOUT_MS,
  longestDrainMs: ControlPlaneSettings.STREAM_LONGEST_DRAIN_MS,
  watchReconnectMs: ControlPlaneSettings.WATCH_RECONNECT_MS,
  discoveryGraceMs: ControlPlaneSettings.SESSION_DISCOVERY_GRACE_MS,
  reconcileIntervalMs: ControlPlaneSettings.SESSION_RECONCILE_INTERVAL_MS,
  signalBufferBytes: ControlPlaneSettings.SIGNAL_BUFFER_BYTES,
  sessionLostAfterMs: ControlPlaneSettings.SESSION_LOST_AFTER_MS,
  endCheckDelayMs: ControlPlaneSettings.SESSION_END_CHECK_DELAY_MS
}

/** What happens every so often, or after so long, never happens when its setting is 0. */
const withoutZeros = (options: ObserverOptions): ObserverOptions => ({
  ...options,
  takeOverIntervalMs: options.takeOverIntervalMs || Number.POSITIVE_INFINITY,
  streamIdleTimeoutMs: options.streamIdleTimeoutMs || Number.POSITIVE_INFINITY,
  sessionLostAfterMs: options.sessionLostAfterMs || Number.POSITIVE_INFINITY
})

export const defaultObserverOptions: ObserverOptions = defaultsOf(settings)

/** How patient the observers are. */
export class ObserverSettings extends Context.Service<ObserverSettings, ObserverOptions>()(
  "runplane/control-plane/ObserverSettings"
) {
  static readonly layerFrom = (options: Partial<ObserverOptions>) =>
    Layer.succeed(ObserverSettings, withoutZeros({ ...defaultObserverOptions, ...options }))
  static readonly layer = Layer.effect(ObserverSettings, Effect.map(readSettings(settings), withoutZeros))
}
