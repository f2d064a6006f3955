import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { canonicalEventFrame } from "../../../src/event-log/subscribe/LiveBatch.ts"
import type { SharedFrames } from "../../../src/platform/http/SharedFrames.ts"
import { RingBuffer } from "../../../src/streams/log/RingBuffer.ts"

const event = (seq: number, characters = 10) => ({ seq, index: seq, json: JSON.stringify("x".repeat(characters)) })
const textOf = (frames: ReadonlyArray<SharedFrames>) => Buffer.concat(frames.map(({ bytes }) => bytes)).toString("utf8")
const NO_LIMIT = Number.MAX_SAFE_INTEGER

const upTo = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))
/** Events that come at one look, how far the look goes behind them, and which followers take something then. */
const stretch = Arbitrary.all({
  events: Arbitrary.array(
    Arbitrary.map(Arbitrary.all({ more: upTo(2), size: upTo(300_000) }), ({ more, size }) => ({ gap: 1 + more, size })),
    { maxLength: 4 }
  ),
  beyond: upTo(3),
  takes: Arbitrary.array(upTo(2), { maxLength: 3 })
})

// docs/reference/http.md#log-stream
describe("the window at the end of the log", () => {
  it("knows nothing and misses nothing before the log was looked at", () => {
    const window = new RingBuffer()
    assert.deepStrictEqual(window.behind(7), { upTo: 0, frames: [] })
    window.begin(5)
    assert.isUndefined(window.behind(4))
    assert.deepStrictEqual(window.behind(5), { upTo: 5, frames: [] })
  })

  it("hands the same bytes to all who stand where a stretch begins", () => {
    const window = new RingBuffer()
    window.begin(5)
    window.push(8, [event(6), event(8)], NO_LIMIT)
    window.push(20, [], NO_LIMIT)
    const [first, second] = [window.behind(5), window.behind(5)]
    assert.strictEqual(first?.frames[0], second?.frames[0])
    assert.strictEqual(first?.upTo, 20)
    assert.strictEqual(textOf(window.behind(6)?.frames ?? []), canonicalEventFrame(event(8)))
    assert.deepStrictEqual(window.behind(8), { upTo: 20, frames: [] })
  })

  it("holds so many bytes at most, and says what it does not know any more", () => {
    const window = new RingBuffer()
    window.begin(0)
    for (let seq = 1; seq <= 100; seq++) window.push(seq, [event(seq, 1_000)], 10_000)
    assert.isAtMost(window.bytes, 10_000)
    assert.isUndefined(window.behind((window.start ?? 0) - 1))
    window.push(101, [event(101, 20_000)], 10_000)
    assert.deepStrictEqual([window.bytes, window.start, window.end], [0, 101, 101])
    assert.deepStrictEqual(window.behind(101), { upTo: 101, frames: [] })
  })

  it.prop(
    "brings every follower all matches in order, none twice, however slow it is",
    { stretches: Arbitrary.array(stretch, { maxLength: 12 }), from: upTo(30), limit: upTo(2_000_000) },
    ({ from, limit, stretches }) => {
      const window = new RingBuffer()
      window.begin(0)
      const log: Array<ReturnType<typeof event>> = []
      const followers = [0, from, from * 2].map((seq) => ({ start: seq, seq, got: "" }))
      const take = (follower: (typeof followers)[number]) => {
        const known = window.behind(follower.seq)
        if (known === undefined) {
          // What the feed does: the database brings it to where the window begins.
          const start = window.start ?? 0
          const missed = log.filter(({ seq }) => seq > follower.seq && seq <= start)
          follower.got += missed.map(canonicalEventFrame).join("")
          follower.seq = start
        } else {
          follower.got += textOf(known.frames)
          follower.seq = Math.max(follower.seq, known.upTo)
        }
      }
      for (const { beyond, events, takes } of stretches) {
        let at = window.end
        const found = events.map(({ gap, size }) => {
          at += gap
          return event(at, size)
        })
        log.push(...found)
        window.push(at + beyond, found, limit)
        assert.isAtMost(window.bytes, limit)
        for (const place of takes) for (const follower of followers.slice(place, place + 1)) take(follower)
      }
      for (const follower of followers) {
        while (follower.seq < window.end) take(follower)
        const expected = log.filter(({ seq }) => seq > follower.start).map(canonicalEventFrame)
        assert.isTrue(follower.got === expected.join(""))
      }
    }
  )
})
