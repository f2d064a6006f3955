import { assert, describe, it } from "@effect/vitest"
import type { ObservedFrame } from "../../src/events/AppendRequest.ts"
import { StreamPlace } from "../../src/observer/StreamPlace.ts"

const frames = (...ids: ReadonlyArray<number>): ReadonlyArray<ObservedFrame> =>
  ids.map((id) => ({
    receivedAt: "2026-07-01T10:00:00.000Z",
    frame: {
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
    }
  }))

describe("the place of a stream", () => {
  it("is behind what is stored, whatever came twice", () => {
    const place = new StreamPlace()
    assert.strictEqual(place.open(0), 0)
    place.passed(frames(1, 1, 2, 2))
    assert.strictEqual(place.open(2), 2)
    assert.strictEqual(place.open(2), 2)
  })

  it("moves on over repetitions, so that a stream that is cut again and again gets past them", () => {
    const place = new StreamPlace()
    place.open(0)
    // The second envelope was lost: two are stored, the last of which is the third.
    place.passed(frames(1, 3))
    assert.strictEqual(place.open(2), 2)
    place.passed(frames(3))
    assert.strictEqual(place.open(2), 3)
    place.passed(frames(4))
    assert.strictEqual(place.open(3), 3)
  })

  it("begins anew when the history is read again, and goes on from there however often the stream is cut", () => {
    const place = new StreamPlace()
    place.open(0)
    place.passed(frames(1, 3))
    place.readAgain()
    // What was still on its way counts for the old subscription.
    place.passed(frames(4))
    assert.strictEqual(place.open(3), 0)
    place.passed(frames(1))
    assert.strictEqual(place.open(3), 1)
    place.passed(frames(2))
    assert.strictEqual(place.open(4), 2)
  })
})
