import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { framesOf } from "../../src/client/EventFrames.ts"

/** The message of a stream with these bytes that then fails. */
const broken = (text: string, error?: unknown) =>
  Stream.encodeText(Stream.make(text)).pipe(
    Stream.concat(error === undefined ? Stream.empty : Stream.fail(error)),
    (bytes) => Stream.runDrain(framesOf(bytes, () => true)),
    Effect.flip,
    Effect.map(({ message }) => message)
  )

// docs/reference/streams.md#stream-end
describe("a broken event stream", () => {
  it.effect("names the cause", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* broken("retry: 700\n\n"), "event stream broken: the service stops")
      const reset = Object.assign(new Error("aborted"), { code: "ECONNRESET" })
      assert.strictEqual(
        yield* broken("", { _tag: "HttpClientError", reason: { cause: reset } }),
        "event stream broken: aborted"
      )
      assert.strictEqual(yield* broken("", { odd: true }), "event stream broken: the connection failed")
      assert.strictEqual(yield* broken("", "cut"), "event stream broken: cut")
    })
  )

  it.effect("is one that is silent for three heartbeats", () =>
    Effect.gen(function* () {
      const silent = Stream.runDrain(framesOf(Stream.never, () => true, 1_000))
      const fiber = yield* Effect.forkChild(Effect.flip(silent), { startImmediately: true })
      yield* TestClock.adjust(2_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber)).message, "event stream broken: silence")
    })
  )
})
