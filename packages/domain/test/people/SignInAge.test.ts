import { assert, describe, it } from "@effect/vitest"
import { FRESH_SECONDS, isFreshSignIn } from "@runplane/domain"

const NOW = Date.parse("2026-11-30T10:00:00Z")

describe("a sign-in is fresh", () => {
  it.each([
    ["now", 0, true],
    ["5 minutes ago", FRESH_SECONDS * 1_000, true],
    ["a millisecond earlier", FRESH_SECONDS * 1_000 + 1, false],
    ["by an issuer whose clock is a minute ahead", -60_000, true],
    ["by an issuer whose clock is further ahead", -60_001, false],
    ["at a time that is not a number", Number.NaN, false]
  ])("%s", (_, ageMs, isFresh) => {
    assert.strictEqual(isFreshSignIn(NOW - ageMs, NOW), isFresh)
  })

  it("never without a time", () => {
    assert.isFalse(isFreshSignIn(undefined, NOW))
  })
})
