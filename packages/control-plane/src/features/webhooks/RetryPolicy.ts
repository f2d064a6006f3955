import { backoffMs, spreadBy } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { WebhookOptions } from "./WebhookSettings.ts"

/** A failed attempt in the life of its delivery. */
export interface FailedAttempt {
  /** Attempts since the delivery was queued, this one included. */
  readonly tries: number
  /** Time since the delivery was queued. Milliseconds. */
  readonly ageMs: number
  /** The `Retry-After` of the receiver. Milliseconds. */
  readonly retryAfterMs: number | undefined
}

type Policy = Pick<WebhookOptions, "retryBaseMs" | "retryMaxMs" | "retryWindowMs">

/**
 * The pause before the next attempt in milliseconds, undefined when the delivery is to be given up
 * (docs/reference/webhooks.md#webhook-delivery): the back-off of the policy, at least the `Retry-After` of the
 * receiver. The last attempt falls on the end of the window, even when `Retry-After` is longer.
 */
export const retryDelayMs = Effect.fnUntraced(function* (attempt: FailedAttempt, policy: Policy) {
  const leftMs = policy.retryWindowMs - attempt.ageMs
  if (leftMs <= 0) return undefined
  const backoff = { firstMs: policy.retryBaseMs, longestMs: policy.retryMaxMs }
  const pauseMs = spreadBy(0.2, backoffMs(backoff, attempt.tries - 1), yield* Random.next)
  return Math.round(Math.min(Math.max(attempt.retryAfterMs ?? 0, pauseMs), leftMs))
})

/** The statuses by which a receiver says that it is busy, and not that it refuses this delivery. */
const BUSY: ReadonlySet<number> = new Set([429, 503])

/**
 * How long an answer holds every delivery of the subscription, milliseconds: the `Retry-After` of a busy receiver, at
 * most the window. 0 where the answer holds nothing.
 */
export const holdMs = (
  { retryAfterMs, status }: { readonly status: number | undefined; readonly retryAfterMs: number | undefined },
  { retryWindowMs }: Pick<Policy, "retryWindowMs">
): number => (status !== undefined && BUSY.has(status) ? Math.min(retryAfterMs ?? 0, retryWindowMs) : 0)

/** Reads a `Retry-After` header, which holds seconds or a date; undefined when it holds neither. Milliseconds. */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A date always names its day or month.
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
