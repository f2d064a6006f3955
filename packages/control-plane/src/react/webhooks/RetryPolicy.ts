import type { WebhookOptions } from "./WebhookSettings.ts"

/** How a failed attempt stands in the life of its delivery. */
export interface FailedAttempt {
  /** Attempts since the delivery was queued, this one included. */
  readonly tries: number
  /** Time since the delivery was queued. Milliseconds. */
  readonly ageMs: number
  /** What the receiver asked for. Milliseconds. */
  readonly retryAfterMs: number | undefined
  /** A random number from 0 to 1. */
  readonly random: number
}

/** Pauses vary by this part of them to either side, so that receivers do not meet all their deliveries at once. */
const JITTER = 0.2

type Policy = Pick<WebhookOptions, "retryBaseMs" | "retryMaxMs" | "retryWindowMs">

/**
 * The pause before the next attempt in milliseconds, undefined when the delivery is to be given up
 * (docs/http.md#webhook-delivery): exponential with jitter, never less than the receiver asked for. The last attempt
 * falls on the end of the window; a receiver that asks for more than the window holds gives the delivery up itself.
 */
export const retryDelayMs = (attempt: FailedAttempt, policy: Policy): number | undefined => {
  const leftMs = policy.retryWindowMs - attempt.ageMs
  const askedMs = attempt.retryAfterMs ?? 0
  if (leftMs <= 0 || askedMs > leftMs) return undefined
  const doubled = policy.retryBaseMs * 2 ** Math.min(attempt.tries - 1, MAX_DOUBLINGS)
  const jittered = Math.min(doubled, policy.retryMaxMs) * (1 + JITTER * (2 * attempt.random - 1))
  return Math.round(Math.max(askedMs, Math.min(jittered, leftMs)))
}

// Far beyond any window, and still an exact number.
const MAX_DOUBLINGS = 32

/** Reads a `Retry-After` header, which holds seconds or a date; undefined when it holds neither. Milliseconds. */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // A date always names its day or month: a bare number that is too long to be seconds is not a date either.
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
