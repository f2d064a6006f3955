import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { readBody } from "../src/index.ts"

const bounds = { gzip: false, maxBytes: 1_000, maxInflatedBytes: 10_000 }

describe("a body", () => {
  it.effect("arrives in chunks, plain or as gzip", () =>
    Effect.gen(function* () {
      const text = "spans ".repeat(100)
      const plain = Stream.make(Buffer.from(text.slice(0, 10)), Buffer.from(text.slice(10)))
      assert.strictEqual(Buffer.from(yield* readBody(plain, bounds)).toString(), text)
      const packed = gzipSync(text)
      const chunks = Stream.make(packed.subarray(0, 5), packed.subarray(5))
      assert.strictEqual(Buffer.from(yield* readBody(chunks, { ...bounds, gzip: true })).toString(), text)
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
        readBody(Stream.make(bomb), { gzip: true, maxBytes: bytes, maxInflatedBytes: 1_000_000 })
      )
      assert.deepInclude(failure, { _tag: "BodyTooLarge", measured: "inflated" })
      assert.isBelow(process.memoryUsage().rss - before, 50_000_000)
    })
  )

  it.effect("that is not gzip, or only its beginning, is malformed", () =>
    Effect.gen(function* () {
      const packed = gzipSync("spans")
      for (const body of [Buffer.from("spans"), packed.subarray(0, packed.length - 6), Buffer.alloc(0)]) {
        const failure = yield* Effect.flip(readBody(Stream.make(body), { ...bounds, gzip: true }))
        assert.strictEqual(failure._tag, "BodyMalformed")
      }
    })
  )
})
