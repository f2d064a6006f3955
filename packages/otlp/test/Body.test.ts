import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type ContentCoding, readBody, receiveBody } from "../src/index.ts"

const bounds = { coding: undefined, maxBytes: 1_000, maxInflatedBytes: 10_000 }

describe("a body", () => {
  it.effect("arrives in chunks, plain or as gzip", () =>
    Effect.gen(function* () {
      const text = "spans ".repeat(100)
      const plain = Stream.make(Buffer.from(text.slice(0, 10)), Buffer.from(text.slice(10)))
      assert.strictEqual(Buffer.from(yield* readBody(plain, bounds)).toString(), text)
      const packed = gzipSync(text)
      const chunks = Stream.make(packed.subarray(0, 5), packed.subarray(5))
      assert.strictEqual(Buffer.from(yield* readBody(chunks, { ...bounds, coding: "gzip" })).toString(), text)
    })
  )

  it.effect.each<[ContentCoding, string, (text: string) => Buffer]>([
    ["deflate", "deflate", deflateSync],
    ["deflate", "deflate without its header", deflateRawSync],
    ["zstd", "zstd", zstdCompressSync]
  ])("of %s arrives as %s, is bounded when it inflates, and malformed when it is something else", ([coding, , pack]) =>
    Effect.gen(function* () {
      const text = "spans ".repeat(1_000)
      const packed = pack(text)
      assert.strictEqual(Buffer.from(yield* readBody(Stream.make(packed), { ...bounds, coding })).toString(), text)
      const bomb = pack("0".repeat(10_000_000))
      const large = yield* Effect.flip(readBody(Stream.make(bomb), { ...bounds, maxBytes: 1_000_000, coding }))
      assert.deepInclude(large, { _tag: "BodyTooLarge", measured: "inflated" })
      for (const body of [Buffer.from("spans of nothing"), packed.subarray(0, packed.length - 6), Buffer.alloc(0)]) {
        assert.strictEqual(
          (yield* Effect.flip(readBody(Stream.make(body), { ...bounds, coding })))._tag,
          "BodyMalformed"
        )
      }
    })
  )

  it.effect("above a number of bytes takes a turn before the rest is read", () =>
    Effect.gen(function* () {
      const read: Array<string> = []
      const body = Stream.make(...[600, 600, 600].map((bytes) => Buffer.alloc(bytes))).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.sync(() => read.push("part")))
      )
      const turn = Effect.sync(() => void read.push("turn"))
      const whole = yield* receiveBody(body, 10_000, { above: 1_000, turn })
      assert.deepStrictEqual([whole.length, read], [1_800, ["part", "part", "turn", "part"]])
    })
  )

  it.effect("over the bound ends the read at the first byte beyond it", () =>
    Effect.gen(function* () {
      let pulled = 0
      const endless = Stream.fromIterable(
        (function* () {
          while (true) {
            pulled++
            yield Buffer.alloc(100)
          }
        })(),
        { chunkSize: 1 }
      )
      const failure = yield* Effect.flip(readBody(endless, bounds))
      assert.deepInclude(failure, { _tag: "BodyTooLarge", measured: "sent", limitBytes: 1_000 })
      assert.isBelow(pulled, 100)
    })
  )

  it.effect("that inflates beyond the bound fails, whatever its size as sent", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(100_000_000))
      const bytes = bomb.length
      const before = process.memoryUsage().rss
      const failure = yield* Effect.flip(
        readBody(Stream.make(bomb), { coding: "gzip", maxBytes: bytes, maxInflatedBytes: 1_000_000 })
      )
      assert.deepInclude(failure, { _tag: "BodyTooLarge", measured: "inflated" })
      assert.isBelow(process.memoryUsage().rss - before, 50_000_000)
    })
  )

  it.effect("that is not gzip, or only its beginning, is malformed", () =>
    Effect.gen(function* () {
      const packed = gzipSync("spans")
      for (const body of [Buffer.from("spans"), packed.subarray(0, packed.length - 6), Buffer.alloc(0)]) {
        const failure = yield* Effect.flip(readBody(Stream.make(body), { ...bounds, coding: "gzip" }))
        assert.strictEqual(failure._tag, "BodyMalformed")
      }
    })
  )
})
