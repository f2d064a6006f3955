import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Times are milliseconds. Names and defaults: http-details section 14; the last three are ours. */
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
  discoveryGraceMs: 1_000,
  endCheckDelayMs: 500
}

const milliseconds = (name: string, fallback: number) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Config.map((text) => {
      const value = Number(text)
      return text.trim() === "" || !Number.isFinite(value) || value < 0 ? fallback : value
    })
  )

const TRUE = new Set(["1", "true", "yes", "on"])
const flag = (name: string, fallback: boolean) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Config.map((text) => (text.trim() === "" ? fallback : TRUE.has(text.trim().toLowerCase())))
  )

const settings = Config.all({
  sessionPollBaseMs: milliseconds("SESSION_POLL_BASE_MS", defaultObserverOptions.sessionPollBaseMs),
  sessionPollMaxMs: milliseconds("SESSION_POLL_MAX_MS", defaultObserverOptions.sessionPollMaxMs),
  sessionPollTimeoutMs: milliseconds("SESSION_POLL_TIMEOUT_MS", defaultObserverOptions.sessionPollTimeoutMs),
  discoveryEnabled: flag("SESSION_DISCOVERY_ENABLED", defaultObserverOptions.discoveryEnabled),
  recoveryEnabled: flag("RUN_RECOVERY_ENABLED", defaultObserverOptions.recoveryEnabled),
  takeOverIntervalMs: milliseconds("RUN_TAKE_OVER_INTERVAL_MS", defaultObserverOptions.takeOverIntervalMs),
  streamIdleTimeoutMs: milliseconds("STREAM_IDLE_TIMEOUT_MS", defaultObserverOptions.streamIdleTimeoutMs),
  streamMaxRetries: milliseconds("STREAM_MAX_RETRIES", defaultObserverOptions.streamMaxRetries),
  streamBackoffBaseMs: milliseconds("STREAM_BACKOFF_BASE_MS", defaultObserverOptions.streamBackoffBaseMs),
  streamBackoffMaxMs: milliseconds("STREAM_BACKOFF_MAX_MS", defaultObserverOptions.streamBackoffMaxMs),
  drainTimeoutMs: milliseconds("STREAM_DRAIN_TIMEOUT_MS", defaultObserverOptions.drainTimeoutMs),
  discoveryGraceMs: milliseconds("SESSION_DISCOVERY_GRACE_MS", defaultObserverOptions.discoveryGraceMs),
  endCheckDelayMs: milliseconds("SESSION_END_CHECK_DELAY_MS", defaultObserverOptions.endCheckDelayMs)
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
