import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { flag, integer } from "../Settings.ts"

/** Times are milliseconds. Names and defaults: http-details section 14; those it does not name are ours. */
export interface ObserverOptions {
  readonly sessionPollBaseMs: number
  readonly sessionPollMaxMs: number
  /** How long a run waits for its initiator to open the session. */
  readonly sessionPollTimeoutMs: number
  readonly discoveryEnabled: boolean
  readonly recoveryEnabled: boolean
  /** How often unfinished runs are looked for that no process observes. */
  readonly takeOverIntervalMs: number
  readonly streamIdleTimeoutMs: number
  readonly streamMaxRetries: number
  readonly streamBackoffBaseMs: number
  readonly streamBackoffMaxMs: number
  /** How long an ended session may take over the next frame that its history still holds. */
  readonly drainTimeoutMs: number
  /** How long an ended session is waited for that brings nothing new, whatever its stream does. */
  readonly longestDrainMs: number
  /** Pause before a broken watch of all sessions or signals is opened again (http-details section 5.2). */
  readonly watchReconnectMs: number
  /** How long an unknown session may wait for its `POST /runs` before it becomes a discovered run. */
  readonly discoveryGraceMs: number
  /** How long after the session's deadline, or after its Commitment, the runtime is asked whether the session ended. */
  readonly endCheckDelayMs: number
}

export const defaultObserverOptions: ObserverOptions = {
  sessionPollBaseMs: 100,
  sessionPollMaxMs: 1_000,
  sessionPollTimeoutMs: 60_000,
  discoveryEnabled: true,
  recoveryEnabled: true,
  takeOverIntervalMs: 5_000,
  streamIdleTimeoutMs: 120_000,
  streamMaxRetries: 5,
  streamBackoffBaseMs: 250,
  streamBackoffMaxMs: 30_000,
  drainTimeoutMs: 2_000,
  longestDrainMs: 30_000,
  watchReconnectMs: 5_000,
  discoveryGraceMs: 1_000,
  endCheckDelayMs: 500
}

const settings = Config.all({
  sessionPollBaseMs: integer("SESSION_POLL_BASE_MS", defaultObserverOptions.sessionPollBaseMs, 0),
  sessionPollMaxMs: integer("SESSION_POLL_MAX_MS", defaultObserverOptions.sessionPollMaxMs, 0),
  sessionPollTimeoutMs: integer("SESSION_POLL_TIMEOUT_MS", defaultObserverOptions.sessionPollTimeoutMs, 0),
  discoveryEnabled: flag("SESSION_DISCOVERY_ENABLED", defaultObserverOptions.discoveryEnabled),
  recoveryEnabled: flag("RUN_RECOVERY_ENABLED", defaultObserverOptions.recoveryEnabled),
  takeOverIntervalMs: integer("RUN_TAKE_OVER_INTERVAL_MS", defaultObserverOptions.takeOverIntervalMs, 0),
  streamIdleTimeoutMs: integer("STREAM_IDLE_TIMEOUT_MS", defaultObserverOptions.streamIdleTimeoutMs, 0),
  streamMaxRetries: integer("STREAM_MAX_RETRIES", defaultObserverOptions.streamMaxRetries, 0),
  streamBackoffBaseMs: integer("STREAM_BACKOFF_BASE_MS", defaultObserverOptions.streamBackoffBaseMs, 0),
  streamBackoffMaxMs: integer("STREAM_BACKOFF_MAX_MS", defaultObserverOptions.streamBackoffMaxMs, 0),
  drainTimeoutMs: integer("STREAM_DRAIN_TIMEOUT_MS", defaultObserverOptions.drainTimeoutMs, 0),
  longestDrainMs: integer("STREAM_LONGEST_DRAIN_MS", defaultObserverOptions.longestDrainMs, 0),
  watchReconnectMs: integer("WATCH_RECONNECT_MS", defaultObserverOptions.watchReconnectMs, 0),
  discoveryGraceMs: integer("SESSION_DISCOVERY_GRACE_MS", defaultObserverOptions.discoveryGraceMs, 0),
  endCheckDelayMs: integer("SESSION_END_CHECK_DELAY_MS", defaultObserverOptions.endCheckDelayMs, 0)
})

/** How patient the observers are. */
export class ObserverSettings extends Context.Service<ObserverSettings, ObserverOptions>()(
  "runplane/control-plane/ObserverSettings"
) {
  static readonly layerFrom = (options: Partial<ObserverOptions>) =>
    Layer.succeed(ObserverSettings, { ...defaultObserverOptions, ...options })
  static readonly layer = Layer.effect(
    ObserverSettings,
    Effect.gen(function* () {
      return yield* settings
    })
  )
}
