import { assert, describe, it } from "@effect/vitest"
import { EventCounter, FrameScanner } from "../../src/client/FrameScanner.ts"

const event = (id: number) => `event: canonical_event\nid: ${id}\ndata: {"n":${id}}`
const stream = [`event: snapshot\ndata: {}`, event(1), event(2), `event: heartbeat\ndata: {}`, event(3)]
const bytes = Buffer.from(stream.map((frame) => `${frame}\n\n`).join(""))

const scan = (chunks: ReadonlyArray<Buffer>) => {
  const scanner = new FrameScanner()
  const events = chunks.flatMap((chunk) => scanner.push(chunk).map((frame) => frame.toString()))
  return { events, frames: scanner.frames }
}

describe("the frames of an event stream", () => {
  it("are found wherever the chunks are cut", () => {
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size)
      )
      assert.deepStrictEqual(scan(chunks), { events: [event(1), event(2), event(3)], frames: stream.length })
    }
  })

  it("are counted wherever the chunks are cut, also when each is written over the one before", () => {
    const buffer = Buffer.alloc(bytes.length)
    for (let size = 1; size <= bytes.length; size++) {
      const counter = new EventCounter()
      for (let at = 0; at < bytes.length; at += size) {
        const length = bytes.copy(buffer, 0, at, at + size)
        counter.push(buffer.subarray(0, length))
      }
      assert.strictEqual(counter.events, 3)
    }
  })

  it("are not reported before their end", () => {
    assert.deepStrictEqual(scan([Buffer.from(`${event(1)}\n`)]), { events: [], frames: 0 })
  })
})
