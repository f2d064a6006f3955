import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { KEYS_RETRY_MS, KEYS_STALE_MS, KEYS_TTL_MS, KeysUnavailable, remember } from "../../src/auth/KeySource.ts"

const makeFetch = () => {
  const log = { count: 0, works: true }
  const fetch = Effect.suspend(() => {
    log.count += 1
    return log.works ? Effect.succeed([]) : Effect.fail(new KeysUnavailable({ message: "gone" }))
  })
  return { log, fetch }
}

describe("a remembered key set", () => {
  it.effect("is fetched once while it is fresh, for all callers", () =>
    Effect.gen(function* () {
      const { fetch, log } = makeFetch()
      const keys = yield* remember(fetch)
      yield* Effect.all([keys, keys, keys], { concurrency: "unbounded" })
      yield* TestClock.adjust(KEYS_TTL_MS - 1)
      yield* keys
      assert.strictEqual(log.count, 1)
      yield* TestClock.adjust(1)
      yield* keys
      assert.strictEqual(log.count, 2)
    })
  )

  it.effect("stays in use while it cannot be fetched, and is not fetched at every call", () =>
    Effect.gen(function* () {
      const { fetch, log } = makeFetch()
      const keys = yield* remember(fetch)
      yield* keys
      log.works = false
      yield* TestClock.adjust(KEYS_TTL_MS)
      yield* keys
      yield* keys
      assert.strictEqual(log.count, 2)
      yield* TestClock.adjust(KEYS_RETRY_MS)
      yield* keys
      assert.strictEqual(log.count, 3)
      yield* TestClock.adjust(KEYS_STALE_MS)
      assert.isTrue(Result.isFailure(yield* Effect.result(keys)))
    })
  )

  it.effect("is not there when it never could be fetched", () =>
    Effect.gen(function* () {
      const { fetch, log } = makeFetch()
      log.works = false
      const keys = yield* remember(fetch)
      assert.isTrue(Result.isFailure(yield* Effect.result(keys)))
      log.works = true
      assert.deepStrictEqual(yield* keys, [])
    })
  )
})
