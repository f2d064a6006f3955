import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { type FailedAttempt, holdMs, retryAfterMs, retryDelayMs } from "../../../src/features/webhooks/RetryPolicy.ts"
import { defaultWebhookOptions as policy } from "../../../src/features/webhooks/WebhookSettings.ts"

const HOUR_MS = 3_600_000
const failed: FailedAttempt = { tries: 1, ageMs: 0, retryAfterMs: undefined }

/** The pause when every die shows this number, from 0 to 1. */
const pause = (attempt: FailedAttempt, die = 0.5) =>
  Effect.runSync(
    Effect.provideService(retryDelayMs(attempt, policy), Random.Random, {
      nextDoubleUnsafe: () => die,
      nextIntUnsafe: () => 0
    })
  )

describe("the pause after a failed attempt", () => {
  for (const [tries, expected] of [
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [12, 2_048_000],
    [13, HOUR_MS],
    [5_000, HOUR_MS]
  ] as const) {
    it(`is ${expected} ms after attempt ${tries}`, () => {
      assert.strictEqual(pause({ ...failed, tries }), expected)
    })
  }

  it("varies by a fifth to either side", () => {
    assert.strictEqual(pause(failed, 0), 800)
    assert.strictEqual(pause(failed, 1), 1_200)
  })

  it("is the Retry-After of the receiver, when that is longer", () => {
    assert.strictEqual(pause({ ...failed, retryAfterMs: 120_000 }), 120_000)
    assert.strictEqual(pause({ ...failed, retryAfterMs: 10 }), 1_000)
  })

  it("is cut to the remaining window", () => {
    assert.strictEqual(pause({ ...failed, retryAfterMs: 25 * HOUR_MS }), 24 * HOUR_MS)
    assert.strictEqual(pause({ ...failed, retryAfterMs: Number.POSITIVE_INFINITY }), 24 * HOUR_MS)
    assert.strictEqual(pause({ ...failed, ageMs: 23 * HOUR_MS, retryAfterMs: 2 * HOUR_MS }), HOUR_MS)
    assert.isUndefined(pause({ ...failed, ageMs: 24 * HOUR_MS, retryAfterMs: 2 * HOUR_MS }))
  })

  it("ends with an attempt at the end of the window, and with no other", () => {
    const ageMs = policy.retryWindowMs - 60_000
    assert.strictEqual(pause({ ...failed, tries: 30, ageMs }), 60_000)
    assert.isUndefined(pause({ ...failed, tries: 31, ageMs: policy.retryWindowMs }))
  })

  for (const random of [0, 0.5, 0.999]) {
    it(`makes some dozens of attempts within about a day when the dice say ${random}`, () => {
      let ageMs = 0
      let tries = 1
      for (let delay = pause(failed, random); delay !== undefined; tries++) {
        ageMs += delay
        delay = pause({ ...failed, tries: tries + 1, ageMs }, random)
      }
      assert.strictEqual(ageMs, policy.retryWindowMs)
      assert.isAbove(tries, 20)
      assert.isBelow(tries, 50)
    })
  }
})

describe("the hold of a subscription", () => {
  it("is the Retry-After of a busy receiver, cut to the window", () => {
    for (const status of [429, 503]) {
      assert.strictEqual(holdMs({ status, retryAfterMs: HOUR_MS }, policy), HOUR_MS)
      assert.strictEqual(holdMs({ status, retryAfterMs: 25 * HOUR_MS }, policy), policy.retryWindowMs)
      for (const retryAfterMs of [0, undefined]) assert.strictEqual(holdMs({ status, retryAfterMs }, policy), 0)
    }
    for (const status of [400, 404, 500, 502, undefined]) {
      assert.strictEqual(holdMs({ status, retryAfterMs: HOUR_MS }, policy), 0)
    }
  })
})

describe("Retry-After", () => {
  const now = Date.parse("2026-07-01T10:00:00Z")
  for (const [header, expected] of [
    ["120", 120_000],
    [" 0 ", 0],
    ["Wed, 01 Jul 2026 10:02:00 GMT", 120_000],
    ["Wed, 01 Jul 2026 09:00:00 GMT", 0],
    ["soon", undefined],
    ["-5", undefined],
    ["100000000000000000000", 1e23],
    ["", undefined],
    [undefined, undefined]
  ] as const) {
    it(`reads ${JSON.stringify(header)} as ${expected} ms`, () => {
      assert.strictEqual(retryAfterMs(header, now), expected)
    })
  }
})
