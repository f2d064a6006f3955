import { ControlPlaneSettings, defaultsOf, readSettings, type SettingValues } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const settings = {
  sessionPollBaseMs: ControlPlaneSettings.SESSION_POLL_BASE_MS,
  sessionPollMaxMs: ControlPlaneSettings.SESSION_POLL_MAX_MS,
  sessionPollTimeoutMs: ControlPlaneSettings.SESSION_POLL_TIMEOUT_MS,
  policyReadTimeoutMs: ControlPlaneSettings.SESSION_POLICY_TIMEOUT_MS,
  discoveryEnabled: ControlPlaneSettings.SESSION_DISCOVERY_ENABLED,
  recoveryEnabled: ControlPlaneSettings.RUN_RECOVERY_ENABLED,
  recoveryIntervalMs: ControlPlaneSettings.RUN_TAKE_OVER_INTERVAL_MS,
  recoveryConcurrency: ControlPlaneSettings.RUN_TAKE_UP_CONCURRENCY,
  recoveryTimeoutMs: ControlPlaneSettings.RUN_TAKE_UP_PATIENCE_MS,
  leaseMs: ControlPlaneSettings.CLUSTER_LEASE_MS,
  refreshMs: ControlPlaneSettings.CLUSTER_LOOK_INTERVAL_MS,
  streamIdleTimeoutMs: ControlPlaneSettings.STREAM_IDLE_TIMEOUT_MS,
  streamMaxRetries: ControlPlaneSettings.STREAM_MAX_RETRIES,
  streamBackoffBaseMs: ControlPlaneSettings.STREAM_BACKOFF_BASE_MS,
  streamBackoffMaxMs: ControlPlaneSettings.STREAM_BACKOFF_MAX_MS,
  drainTimeoutMs: ControlPlaneSettings.STREAM_DRAIN_TIMEOUT_MS,
  longestDrainMs: ControlPlaneSettings.STREAM_LONGEST_DRAIN_MS,
  watchReconnectMs: ControlPlaneSettings.WATCH_RECONNECT_MS,
  discoveryGraceMs: ControlPlaneSettings.SESSION_DISCOVERY_GRACE_MS,
  reconcileIntervalMs: ControlPlaneSettings.SESSION_RECONCILE_INTERVAL_MS,
  reconcileEndedMs: ControlPlaneSettings.SESSION_RECONCILE_ENDED_MS,
  signalBufferBytes: ControlPlaneSettings.SIGNAL_BUFFER_BYTES,
  sessionLostAfterMs: ControlPlaneSettings.SESSION_LOST_AFTER_MS,
  endCheckDelayMs: ControlPlaneSettings.SESSION_END_CHECK_DELAY_MS
}

/**
 * The times and limits of the observers, as the settings table describes them; times are milliseconds
 * (docs/reference/settings.md).
 */
export type ObserverOptions = SettingValues<typeof settings>

/** An interval or a timeout with the setting 0 never ends. */
const withoutZeros = (options: ObserverOptions): ObserverOptions => ({
  ...options,
  recoveryIntervalMs: options.recoveryIntervalMs || Number.POSITIVE_INFINITY,
  streamIdleTimeoutMs: options.streamIdleTimeoutMs || Number.POSITIVE_INFINITY,
  sessionLostAfterMs: options.sessionLostAfterMs || Number.POSITIVE_INFINITY
})

export const defaultObserverOptions: ObserverOptions = defaultsOf(settings)

/** The times and limits of the observers. */
export class ObserverSettings extends Context.Service<ObserverSettings, ObserverOptions>()(
  "runplane/control-plane/ObserverSettings"
) {
  static readonly layerFrom = (options: Partial<ObserverOptions>) =>
    Layer.succeed(ObserverSettings, withoutZeros({ ...defaultObserverOptions, ...options }))
  static readonly layer = Layer.effect(ObserverSettings, Effect.map(readSettings(settings), withoutZeros))
}
