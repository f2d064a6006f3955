import { assert, describe, it } from "@effect/vitest"
import type { ObservedFrame } from "../../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../../src/event-log/append/FrameBytes.ts"
import { open, passed, readAgain, streamPosition } from "../../../src/observe/decide/StreamPosition.ts"

const frames = (...ids: ReadonlyArray<number>): ReadonlyArray<ObservedFrame> =>
  ids.map((id) =>
    observed(
      {
        kind: "stream-envelope",
        ambient: false,
        envelope: {
          macpVersion: "1.0",
          mode: "macp.mode.decision.v1",
          messageType: "Vote",
          messageId: `m${id}`,
          sessionId: "s",
          sender: "agent://a",
          timestampUnixMs: 0,
          payload: new Uint8Array()
        }
      },
      "2026-07-01T10:00:00.000Z"
    )
  )

/** The ordinals that subscriptions begin after; before each, the frames that the one before it brought into the log. */
const positionsAfter = (...subscriptions: ReadonlyArray<readonly [brought: ReadonlyArray<number>, stored: number]>) => {
  let position = open(streamPosition, 0)
  return subscriptions.map(([brought, stored]) => {
    position = open(passed(position, frames(...brought)), stored)
    return position.after
  })
}

describe("the position of a stream", () => {
  it("is after the stored envelopes, also when some were delivered twice", () => {
    assert.strictEqual(open(streamPosition, 0).after, 0)
    assert.deepStrictEqual(positionsAfter([[1, 1, 2, 2], 2], [[], 2]), [2, 2])
  })

  it("moves on over repetitions, so that a stream that is cut again and again gets past them", () => {
    // The second envelope was lost: two are stored, the last of which is the third.
    assert.deepStrictEqual(positionsAfter([[1, 3], 2], [[3], 2], [[4], 3]), [2, 3, 3])
  })

  it("begins anew when the history is read again, and continues from there however often the stream is cut", () => {
    const before = passed(open(streamPosition, 0), frames(1, 3))
    // What was still on its way counts for the old subscription.
    const again = open(passed(readAgain(before), frames(4)), 3)
    assert.strictEqual(again.after, 0)
    const second = open(passed(again, frames(1)), 3)
    assert.strictEqual(second.after, 1)
    assert.strictEqual(open(passed(second, frames(2)), 4).after, 2)
  })
})
