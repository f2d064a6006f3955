import { jitteredBackoff } from "@runplane/runtime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
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

/** After so many doublings the pause of any setting is the longest. */
const STEPS = 53

/**
 * The pause before the next attempt in milliseconds, undefined when the delivery is to be given up
 * (docs/reference/webhooks.md#webhook-delivery): the back-off of the policy, at least the `Retry-After` of the
 * receiver. The last attempt falls on the end of the window, even when `Retry-After` is longer.
 */
export const retryDelayMs = Effect.fnUntraced(function* (attempt: FailedAttempt, policy: Policy) {
  const leftMs = policy.retryWindowMs - attempt.ageMs
  if (leftMs <= 0) return undefined
  const pauseMs = yield* pauseOf(jitteredBackoff(policy.retryBaseMs, policy.retryMaxMs), attempt.tries)
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

/** The schedule's pause after that attempt, milliseconds: an outbox keeps the number of attempts, and no schedule. */
const pauseOf = Effect.fnUntraced(function* (schedule: ReturnType<typeof jitteredBackoff>, tries: number) {
  const step = yield* Schedule.toStep(schedule)
  let pause = Duration.zero
  for (let taken = 0; taken < Math.min(tries, STEPS); taken++) {
    const [, next] = yield* Pull.catchDone(step(0, undefined), () => Effect.succeed([undefined, pause] as const))
    pause = next
  }
  return Duration.toMillis(pause)
})

/** Reads a `Retry-After` header, which holds seconds or a date; undefined when it holds neither. Milliseconds. */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // A date always names its day or month.
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
