import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { framesOf } from "../../src/client/EventFrames.ts"

/** Why a connection broke that brought these bytes and then failed with the error. */
const broken = (text: string, error?: unknown) =>
  Stream.encodeText(Stream.make(text)).pipe(
    Stream.concat(error === undefined ? Stream.empty : Stream.fail(error)),
    (bytes) => Stream.runDrain(framesOf(bytes, () => true)),
    Effect.flip,
    Effect.map(({ message }) => message)
  )

// docs/reference/http.md#stream-end
describe("a broken event stream", () => {
  it.effect("names what broke it", () =>
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
})
