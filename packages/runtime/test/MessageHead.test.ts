import { toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { StreamSessionResponseSchema } from "@runplane/runtime"
import { envelopeOfHead } from "../src/MessageHead.ts"
import { envelopeFrame } from "./GrpcClients.ts"

const HEAD = 1_024
const bytesOf = (...given: Parameters<typeof envelopeFrame>) =>
  toBinary(StreamSessionResponseSchema, envelopeFrame(...given))

describe("the first bytes of a message", () => {
  it("have the envelope without its payload, whether they are all or some", () => {
    const whole = bytesOf("s1", "m1", new Uint8Array(100_000))
    for (const length of [HEAD, 50_000, whole.length]) {
      const envelope = envelopeOfHead(whole.subarray(0, length))
      assert.deepInclude(envelope, { messageId: "m1", sessionId: "s1", messageType: "Vote" })
      assert.lengthOf(envelope?.payload ?? [1], 0)
    }
  })

  it("have the envelope when a field behind it makes the message large", () => {
    const padding = Buffer.from([0xf2, 0x02, 0xff, 0xff, 0x7f])
    const envelope = envelopeOfHead(Buffer.concat([bytesOf("s1", "m1", new Uint8Array(10)), padding]))
    assert.strictEqual(envelope?.messageId, "m1")
  })

  it("have no envelope when they end before the ids, or are something else", () => {
    const whole = bytesOf("s1", "m".repeat(2_000), new Uint8Array(100_000))
    for (const head of [whole.subarray(0, HEAD), whole.subarray(0, 3), new Uint8Array(), new Uint8Array([255, 255])]) {
      assert.isUndefined(envelopeOfHead(head))
    }
    for (let length = 0; length < 60; length++)
      envelopeOfHead(bytesOf("s1", "m1", new Uint8Array(99)).subarray(0, length))
  })
})
