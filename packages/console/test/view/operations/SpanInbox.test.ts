import { assert, describe, it } from "@effect/vitest"
import { bytesText, receivedPerSecond, spanInboxState } from "../../../src/view/operations/SpanInbox.ts"

const MIB = 1_048_576
const spanInbox = (waitingBytes: number, lagSeconds: number) => ({
  waiting: 1,
  waitingBytes,
  limitBytes: 64 * MIB,
  lagSeconds,
  received: 0,
  rejected: 0,
  duplicates: 0
})

describe("the span inbox", () => {
  it("is well until it is nearly full, full, or behind", () => {
    const states = [
      spanInbox(0, 0),
      spanInbox(MIB, 30),
      spanInbox(52 * MIB, 1),
      spanInbox(64 * MIB, 1),
      spanInbox(MIB, 31)
    ]
    assert.deepStrictEqual(
      states.map((state) => spanInboxState(state).ok),
      [true, true, false, false, false]
    )
    assert.include(spanInboxState(spanInbox(64 * MIB, 1)).text, "refused")
  })

  it("has the rate between two samples, and none after a restart", () => {
    assert.strictEqual(receivedPerSecond({ at: 1_000, received: 10 }, { at: 3_000, received: 110 }), 50)
    assert.isUndefined(receivedPerSecond(undefined, { at: 1_000, received: 10 }))
    assert.isUndefined(receivedPerSecond({ at: 1_000, received: 10 }, { at: 2_000, received: 3 }))
    assert.isUndefined(receivedPerSecond({ at: 1_000, received: 10 }, { at: 1_000, received: 30 }))
  })

  it("says its bytes", () => {
    assert.deepStrictEqual([0, 100, 12.5 * MIB].map(bytesText), ["0 KiB", "1 KiB", "12.5 MiB"])
  })
})
