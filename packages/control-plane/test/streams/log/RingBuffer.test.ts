import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { RingBuffer } from "../../../src/streams/log/RingBuffer.ts"
import type { SharedFrames } from "../../../src/streams/SharedFrames.ts"
import { canonicalEventFrame } from "../../../src/streams/SseFrames.ts"

const event = (seq: number, characters = 10) => ({ seq, index: seq, json: JSON.stringify("x".repeat(characters)) })
const textOf = (frames: ReadonlyArray<SharedFrames>) => Buffer.concat(frames.map(({ bytes }) => bytes)).toString("utf8")
const NO_LIMIT = Number.MAX_SAFE_INTEGER

const upTo = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))
/** The events of one read, how far it reads behind them, and the followers that take frames then. */
const read = Arbitrary.all({
  events: Arbitrary.array(
    Arbitrary.map(Arbitrary.all({ more: upTo(2), size: upTo(300_000) }), ({ more, size }) => ({ gap: 1 + more, size })),
    { maxLength: 4 }
  ),
  beyond: upTo(3),
  takes: Arbitrary.array(upTo(2), { maxLength: 3 })
})

// docs/reference/streams.md#log-stream
describe("the ring buffer", () => {
  it("is empty and misses nothing before the first read of the log", () => {
    const buffer = new RingBuffer()
    assert.deepStrictEqual(buffer.behind(7), { upTo: 0, frames: [] })
    buffer.begin(5)
    assert.isUndefined(buffer.behind(4))
    assert.deepStrictEqual(buffer.behind(5), { upTo: 5, frames: [] })
  })

  it("returns the same bytes for equal positions", () => {
    const buffer = new RingBuffer()
    buffer.begin(5)
    buffer.push(8, [event(6), event(8)], NO_LIMIT)
    buffer.push(20, [], NO_LIMIT)
    const [first, second] = [buffer.behind(5), buffer.behind(5)]
    assert.strictEqual(first?.frames[0], second?.frames[0])
    assert.strictEqual(first?.upTo, 20)
    assert.strictEqual(textOf(buffer.behind(6)?.frames ?? []), canonicalEventFrame(event(8)))
    assert.deepStrictEqual(buffer.behind(8), { upTo: 20, frames: [] })
  })

  it("is bounded in bytes, and returns undefined for removed events", () => {
    const buffer = new RingBuffer()
    buffer.begin(0)
    for (let seq = 1; seq <= 100; seq++) buffer.push(seq, [event(seq, 1_000)], 10_000)
    assert.isAtMost(buffer.bytes, 10_000)
    assert.isUndefined(buffer.behind((buffer.start ?? 0) - 1))
    buffer.push(101, [event(101, 20_000)], 10_000)
    assert.deepStrictEqual([buffer.bytes, buffer.start, buffer.end], [0, 101, 101])
    assert.deepStrictEqual(buffer.behind(101), { upTo: 101, frames: [] })
  })

  it.prop(
    "returns all matches in order, none twice, to followers of any speed",
    { reads: Arbitrary.array(read, { maxLength: 12 }), from: upTo(30), limit: upTo(2_000_000) },
    ({ from, limit, reads }) => {
      const buffer = new RingBuffer()
      buffer.begin(0)
      const log: Array<ReturnType<typeof event>> = []
      const followers = [0, from, from * 2].map((seq) => ({ start: seq, seq, got: "" }))
      const take = (follower: (typeof followers)[number]) => {
        const known = buffer.behind(follower.seq)
        if (known === undefined) {
          // The stream reads the database up to the start of the buffer.
          const start = buffer.start ?? 0
          const missed = log.filter(({ seq }) => seq > follower.seq && seq <= start)
          follower.got += missed.map(canonicalEventFrame).join("")
          follower.seq = start
        } else {
          follower.got += textOf(known.frames)
          follower.seq = Math.max(follower.seq, known.upTo)
        }
      }
      for (const { beyond, events, takes } of reads) {
        let at = buffer.end
        const found = events.map(({ gap, size }) => {
          at += gap
          return event(at, size)
        })
        log.push(...found)
        buffer.push(at + beyond, found, limit)
        assert.isAtMost(buffer.bytes, limit)
        for (const index of takes) for (const follower of followers.slice(index, index + 1)) take(follower)
      }
      for (const follower of followers) {
        while (follower.seq < buffer.end) take(follower)
        const expected = log.filter(({ seq }) => seq > follower.start).map(canonicalEventFrame)
        assert.isTrue(follower.got === expected.join(""))
      }
    }
  )
})
