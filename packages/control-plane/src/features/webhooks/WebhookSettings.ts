import { ControlPlaneSettings, defaultsOf, readSetting, readSettings, type SettingValues } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** All times in milliseconds. */
const settings = {
  /** Time for one attempt, name resolution and connection included. */
  timeoutMs: ControlPlaneSettings.WEBHOOK_TIMEOUT_MS,
  /** The pause after the first failed attempt; it doubles with every further one. */
  retryBaseMs: ControlPlaneSettings.WEBHOOK_RETRY_BASE_MS,
  /** The longest pause between two attempts. */
  retryMaxMs: ControlPlaneSettings.WEBHOOK_RETRY_MAX_MS,
  /** How long a delivery is tried before it is given up. */
  retryWindowMs: ControlPlaneSettings.WEBHOOK_RETRY_WINDOW_MS,
  /** Attempts of one subscription under way at the same time, in all processes, each of another run. */
  concurrency: ControlPlaneSettings.WEBHOOK_CONCURRENCY,
  /** Attempts under way at the same time in one process. */
  totalConcurrency: ControlPlaneSettings.WEBHOOK_TOTAL_CONCURRENCY,
  /** The pause between two polls for due deliveries that other processes left. */
  pollMs: ControlPlaneSettings.WEBHOOK_POLL_MS,
  /** Whether loopback and private addresses may be delivered to; link-local ones never may. */
  allowPrivateTargets: ControlPlaneSettings.WEBHOOK_ALLOW_PRIVATE_TARGETS
}

export type WebhookOptions = SettingValues<typeof settings>

export const defaultWebhookOptions: WebhookOptions = defaultsOf(settings)

/** The limits of webhook delivery, each with its setting. */
export class WebhookSettings extends Context.Service<WebhookSettings, WebhookOptions>()(
  "runplane/control-plane/WebhookSettings"
) {
  static readonly layer = Layer.effect(WebhookSettings, readSettings(settings))
}

/** The launch service as browsers reach it, for the links of questions to people; without it they have none. */
export const LauncherAddress = Context.Reference<string | undefined>("runplane/control-plane/LauncherAddress", {
  defaultValue: () => undefined
})

export const layerLauncherAddress = Layer.effect(
  LauncherAddress,
  Effect.map(readSetting(ControlPlaneSettings.LAUNCHER_PUBLIC_URL), (url) => url?.replace(/\/+$/, ""))
)
