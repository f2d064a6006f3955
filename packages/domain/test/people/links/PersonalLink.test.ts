import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import {
  CODE_LIFE_MS,
  codeText,
  codeVerdict,
  ItemState,
  LINK_LIFE_MS,
  linkEnd,
  linkEndsAtUnixMs,
  MAX_WRONG_CODES,
  maskedAddress,
  type PersonalLink
} from "../../../src/people/index.ts"

const HASH = "ab".repeat(32)
const open = { state: "open", proposalHash: HASH } as const
const linkOf = (over: Partial<PersonalLink> = {}): PersonalLink => ({
  proposalHash: HASH,
  expiresAtUnixMs: 1_000,
  wrongCodes: 0,
  sentCodes: 0,
  codeExpiresAtUnixMs: undefined,
  ...over
})

describe("a personal link", () => {
  it("given an open question of its hash before its end, goes on", () => {
    assert.isUndefined(linkEnd(linkOf(), open, 999))
  })

  it.each([
    ["five wrong codes", linkOf({ wrongCodes: MAX_WRONG_CODES }), open, 0, "wrong-codes"],
    ["an answer", linkOf(), { ...open, state: "answered" }, 0, "closed"],
    ["a question that has changed", linkOf(), { ...open, state: "stale" }, 0, "closed"],
    ["the hash of another proposal", linkOf(), { ...open, proposalHash: "cd".repeat(32) }, 0, "changed"],
    ["its time", linkOf(), open, 1_000, "expired"]
  ] as const)("given %s, is over", (_name, link, question, now, end) => {
    assert.strictEqual(linkEnd(link, question, now), end)
  })

  it("given four wrong codes, goes on", () => {
    assert.isUndefined(linkEnd(linkOf({ wrongCodes: MAX_WRONG_CODES - 1 }), open, 0))
  })

  it("given states, takes an answer in none but open", () => {
    for (const state of ItemState.literals) {
      assert.strictEqual(linkEnd(linkOf(), { ...open, state }, 0) === undefined, state === "open")
    }
  })

  it("ends after 24 hours, and with an earlier deadline", () => {
    assert.strictEqual(linkEndsAtUnixMs(5, undefined), 5 + LINK_LIFE_MS)
    assert.strictEqual(linkEndsAtUnixMs(5, 5 + LINK_LIFE_MS + 1), 5 + LINK_LIFE_MS)
    assert.strictEqual(linkEndsAtUnixMs(5, 70), 70)
  })

  it.effect("on a clock, goes on until its last millisecond", () =>
    Effect.gen(function* () {
      const link = linkOf({ expiresAtUnixMs: linkEndsAtUnixMs(yield* Clock.currentTimeMillis, undefined) })
      const end = Effect.map(Clock.currentTimeMillis, (now) => linkEnd(link, open, now))
      yield* TestClock.adjust(LINK_LIFE_MS - 1)
      assert.isUndefined(yield* end)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* end, "expired")
    })
  )
})

describe("a code", () => {
  it.each([
    ["right", 500, true, 499, "right"],
    ["wrong", 500, false, 499, "wrong"],
    ["a right one of the past", 500, true, 500, "old"],
    ["one that was never sent", undefined, false, 0, "none"]
  ] as const)("given %s, is that", (_name, codeExpiresAtUnixMs, isSame, now, verdict) => {
    assert.strictEqual(codeVerdict(linkOf({ codeExpiresAtUnixMs }), isSame, now), verdict)
  })

  it("has six digits", () => {
    assert.strictEqual(codeText(7), "000007")
    assert.strictEqual(codeText(999_999), "999999")
  })

  it("counts for ten minutes", () => {
    assert.strictEqual(CODE_LIFE_MS, 600_000)
  })
})

describe("the shown address of a code", () => {
  it("has the first sign and the host", () => {
    assert.strictEqual(maskedAddress("dora.klein@example.net"), "d…@example.net")
    assert.strictEqual(maskedAddress("nothing"), "…")
  })
})

describe("any link", () => {
  const upTo = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

  it.prop(
    "that is over stays over, whatever time passes and whatever codes follow",
    {
      wrong: upTo(9),
      expires: upTo(20),
      now: upTo(20),
      later: upTo(9),
      more: upTo(9),
      state: Arbitrary.schema(ItemState)
    },
    ({ expires, later, more, now, state, wrong }) => {
      const link = linkOf({ wrongCodes: wrong, expiresAtUnixMs: expires })
      const question = { ...open, state }
      if (linkEnd(link, question, now) === undefined) return
      assert.isDefined(linkEnd({ ...link, wrongCodes: wrong + more }, question, now + later))
    },
    { arbitrary: { runs: 300 } }
  )
})
