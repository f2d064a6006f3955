import { assert, describe, it } from "@effect/vitest"
import { retryAfterMs, retryDelayMs } from "../../../src/react/webhooks/RetryPolicy.ts"
import { defaultWebhookOptions as policy } from "../../../src/react/webhooks/WebhookSettings.ts"

const HOUR_MS = 3_600_000
const failed = { tries: 1, ageMs: 0, retryAfterMs: undefined, random: 0.5 }

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
      assert.strictEqual(retryDelayMs({ ...failed, tries }, policy), expected)
    })
  }

  it("varies by a fifth to either side", () => {
    assert.strictEqual(retryDelayMs({ ...failed, random: 0 }, policy), 800)
    assert.strictEqual(retryDelayMs({ ...failed, random: 1 }, policy), 1_200)
  })

  it("is as long as the receiver asked for, when that is longer", () => {
    assert.strictEqual(retryDelayMs({ ...failed, retryAfterMs: 120_000 }, policy), 120_000)
    assert.strictEqual(retryDelayMs({ ...failed, retryAfterMs: 10 }, policy), 1_000)
  })

  it("gives up when the receiver asks for more than is left", () => {
    assert.isUndefined(retryDelayMs({ ...failed, retryAfterMs: 25 * HOUR_MS }, policy))
    assert.isUndefined(retryDelayMs({ ...failed, ageMs: 23 * HOUR_MS, retryAfterMs: 2 * HOUR_MS }, policy))
  })

  it("ends with an attempt at the end of the window, and with no other", () => {
    const ageMs = policy.retryWindowMs - 60_000
    assert.strictEqual(retryDelayMs({ ...failed, tries: 30, ageMs }, policy), 60_000)
    assert.isUndefined(retryDelayMs({ ...failed, tries: 31, ageMs: policy.retryWindowMs }, policy))
  })

  for (const random of [0, 0.5, 0.999]) {
    it(`makes some dozens of attempts within about a day when the dice say ${random}`, () => {
      let ageMs = 0
      let tries = 1
      for (let delay = retryDelayMs({ ...failed, random }, policy); delay !== undefined; tries++) {
        ageMs += delay
        delay = retryDelayMs({ ...failed, tries: tries + 1, ageMs, random }, policy)
      }
      assert.strictEqual(ageMs, policy.retryWindowMs)
      assert.isAbove(tries, 20)
      assert.isBelow(tries, 50)
    })
  }
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
    ["12345678901234567890", undefined],
    ["", undefined],
    [undefined, undefined]
  ] as const) {
    it(`reads ${JSON.stringify(header)} as ${expected} ms`, () => {
      assert.strictEqual(retryAfterMs(header, now), expected)
    })
  }
})
