import { assert, describe, it } from "@effect/vitest"
import { FrameReader, framed, UnreadableFrame } from "../src/GrpcFrames.ts"

const MIB = 1024 * 1024

const messageOf = (length: number, seed: number) => new Uint8Array(length).map((_, index) => (index * 7 + seed) % 256)

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => new Uint8Array(Buffer.concat(parts))

const prefix = (flag: number, length: number): Uint8Array => {
  const bytes = framed(new Uint8Array(0))
  new DataView(bytes.buffer).setUint32(1, length)
  bytes[0] = flag
  return bytes
}

const readAll = (reader: FrameReader): Array<Uint8Array> => {
  const messages: Array<Uint8Array> = []
  for (let message = reader.next(); message !== undefined; message = reader.next()) messages.push(message)
  return messages
}

const refusal = (bytes: Uint8Array, mostBytes = MIB): UnreadableFrame => {
  const reader = new FrameReader(mostBytes)
  reader.push(bytes)
  try {
    readAll(reader)
  } catch (cause) {
    if (cause instanceof UnreadableFrame) return cause
    throw cause
  }
  throw new Error("the frame was read")
}

describe("the frames of gRPC", () => {
  const messages = [0, 1, 5, 300, 0, 70_000, 1_024, 3_000].map(messageOf)
  const bytes = joined(messages.map(framed))

  it("are read for every division into parts", () => {
    for (const size of [1, 2, 3, 4, 5, 6, 7, 1_000, 16_384, bytes.length]) {
      const reader = new FrameReader(MIB)
      const read: Array<Uint8Array> = []
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.subarray(at, at + size))
        read.push(...readAll(reader))
      }
      assert.deepStrictEqual(read, messages, `parts of ${size} bytes`)
      assert.isFalse(reader.isInsideMessage)
    }
  })

  it("are read late, too, after the arrival of several parts", () => {
    const reader = new FrameReader(MIB)
    for (let at = 0; at < bytes.length; at += 999) {
      reader.push(bytes.subarray(at, at + 999))
      reader.push(new Uint8Array(0))
    }
    assert.deepStrictEqual(readAll(reader), messages)
  })

  it("are known to be incomplete, inside of the length as well as of the message", () => {
    const frame = framed(messageOf(3, 1))
    for (let arrived = 1; arrived < frame.length; arrived++) {
      const reader = new FrameReader(MIB)
      reader.push(frame.subarray(0, arrived))
      assert.isUndefined(reader.next())
      assert.isTrue(reader.isInsideMessage, `${arrived} bytes`)
    }
  })

  it("hold on to nothing that has arrived together with them", () => {
    const reader = new FrameReader(MIB)
    reader.push(bytes)
    for (const message of readAll(reader)) assert.strictEqual(message.buffer.byteLength, message.length)
  })

  it("use memory for the received bytes and not for the length prefix", () => {
    const before = process.memoryUsage().arrayBuffers
    const readers = Array.from({ length: 500 }, () => {
      const reader = new FrameReader(16 * MIB)
      reader.push(joined([prefix(0, 16 * MIB), messageOf(10, 1)]))
      assert.isUndefined(reader.next())
      return reader
    })
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 4 * MIB)
    assert.isTrue(readers.every(({ isInsideMessage }) => isInsideMessage))
  })

  it("are refused above the limit", () => {
    const whole = new FrameReader(100)
    whole.push(framed(messageOf(100, 1)))
    assert.strictEqual(whole.next()?.length, 100)
    assert.strictEqual(refusal(prefix(0, 101), 100).reason, "RESOURCE_EXHAUSTED")
    assert.strictEqual(refusal(prefix(0, 0xffffffff)).reason, "RESOURCE_EXHAUSTED")
  })

  it("are refused when they are compressed, or have a flag that gRPC does not know", () => {
    assert.strictEqual(refusal(prefix(1, 0)).message, "a message is compressed, which was not offered")
    for (const flag of [2, 7, 128, 255]) assert.strictEqual(refusal(prefix(flag, 0)).reason, "INTERNAL")
  })
})
