import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { flag, integer, word } from "../Settings.ts"

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** Time for one attempt, name resolution and connection included. Milliseconds (http-details section 12). */
export const WEBHOOK_TIMEOUT_MS = 10 * SECOND
/** The pause after the first failed attempt; it doubles with every further one. Milliseconds. */
export const WEBHOOK_RETRY_BASE_MS = SECOND
/** The longest pause between two attempts. Milliseconds. */
export const WEBHOOK_RETRY_MAX_MS = HOUR
/** How long a delivery is tried before it is given up. Milliseconds (http-details section 15, "about a day"). */
export const WEBHOOK_RETRY_WINDOW_MS = 24 * HOUR
/** Attempts under way at the same time in one process; a subscription never has more than one. */
export const WEBHOOK_CONCURRENCY = 64
/** How often a process looks for due deliveries by itself: retries, and what other processes left. Milliseconds. */
export const WEBHOOK_POLL_MS = SECOND

export interface WebhookOptions {
  readonly timeoutMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  readonly retryWindowMs: number
  readonly concurrency: number
  readonly pollMs: number
  /** Whether loopback and private addresses may be delivered to; link-local ones never may. */
  readonly allowPrivateTargets: boolean
}

/** The limits of webhook delivery, each with its setting. */
export class WebhookSettings extends Context.Service<WebhookSettings, WebhookOptions>()(
  "runplane/control-plane/WebhookSettings"
) {
  static readonly layer = Layer.effect(
    WebhookSettings,
    Effect.gen(function* () {
      const inDevelopment = (yield* word("NODE_ENV", "development")) === "development"
      return WebhookSettings.of({
        timeoutMs: yield* integer("WEBHOOK_TIMEOUT_MS", WEBHOOK_TIMEOUT_MS, 1),
        retryBaseMs: yield* integer("WEBHOOK_RETRY_BASE_MS", WEBHOOK_RETRY_BASE_MS, 1),
        retryMaxMs: yield* integer("WEBHOOK_RETRY_MAX_MS", WEBHOOK_RETRY_MAX_MS, 1),
        retryWindowMs: yield* integer("WEBHOOK_RETRY_WINDOW_MS", WEBHOOK_RETRY_WINDOW_MS, 0),
        concurrency: yield* integer("WEBHOOK_CONCURRENCY", WEBHOOK_CONCURRENCY, 1),
        pollMs: yield* integer("WEBHOOK_POLL_MS", WEBHOOK_POLL_MS, 1),
        allowPrivateTargets: yield* flag("WEBHOOK_ALLOW_PRIVATE_TARGETS", inDevelopment)
      })
    })
  )
}
