import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { makeKeyedQueue } from "../../src/observe/KeyedQueue.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

describe("keyed queues", () => {
  it.effect("keep the order of a key, and let other keys pass", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const done: Array<string> = []
      yield* Effect.scoped(
        Effect.gen(function* () {
          const queue = yield* makeKeyedQueue<number>({
            capacityBytes: 1_000,
            keyBytes: 1_000,
            ownerBytes: 1_000,
            concurrency: 4,
            batch: 3,
            work: (key, items) =>
              Effect.andThen(
                key === "held" ? Deferred.await(gate) : Effect.void,
                Effect.sync(() => done.push(`${key} ${items.join("")}`))
              )
          })
          for (const number of numbers(5)) {
            yield* queue.put("held", "a", number, 1)
            yield* queue.put("free", "a", number, 1)
            yield* Effect.yieldNow
          }
          assert.strictEqual(done.map((line) => line.replace("free ", "")).join(""), "01234")
          yield* Deferred.succeed(gate, undefined)
          // The scope waits for what is in the queue.
        })
      )
      const held = done.filter((line) => line.startsWith("held"))
      assert.strictEqual(held.map((line) => line.replace("held ", "")).join(""), "01234")
      assert.isAtMost(held.length, 3)
    })
  )

  it.effect("accept no more of a key than its share while its work is blocked", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const queue = yield* makeKeyedQueue<number>({
        capacityBytes: 100,
        keyBytes: 25,
        ownerBytes: 25,
        concurrency: 4,
        batch: 1,
        work: (key) => (key === "held" ? Deferred.await(gate) : Effect.void)
      })
      const taken = yield* Effect.forEach(numbers(4), (number) => queue.put("held", "a", number, 10))
      assert.deepStrictEqual(taken, [true, true, false, false])
      for (const number of numbers(50)) {
        assert.isTrue(yield* queue.put("free", "a", number, 10))
        yield* Effect.yieldNow
      }
      yield* Deferred.succeed(gate, undefined)
    }).pipe(Effect.scoped)
  )

  it.effect("accept no more of an owner than its share of the key", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const done: Array<number> = []
      const queue = yield* makeKeyedQueue<number>({
        capacityBytes: 1_000,
        keyBytes: 100,
        ownerBytes: 50,
        concurrency: 4,
        batch: 2,
        work: (_, items) =>
          Effect.andThen(
            Deferred.await(gate),
            Effect.sync(() => done.push(...items))
          )
      })
      const put = (owner: string, number: number, bytes = 20) => queue.put("key", owner, number, bytes)
      assert.deepStrictEqual(yield* Effect.forEach(numbers(5), (number) => put("flood", number)), [
        ...[true, true],
        ...[false, false, false]
      ])
      assert.isTrue(yield* put("quiet", 10))
      assert.isTrue(yield* put("quiet", 11))
      // A single item may be larger than the share, as far as the lane has room.
      assert.isFalse(yield* put("large", 12, 60))
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.deepStrictEqual(done, [0, 1, 10, 11])
      assert.isTrue(yield* put("large", 12, 60))
      assert.isTrue(yield* put("flood", 13))
    }).pipe(Effect.scoped)
  )

  it.effect("block a producer at their capacity, and accept a larger item alone", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const done: Array<number> = []
      const queue = yield* makeKeyedQueue<number>({
        capacityBytes: 10,
        keyBytes: 1_000,
        ownerBytes: 1_000,
        concurrency: 4,
        batch: 100,
        work: (_, items) =>
          Effect.andThen(
            Deferred.await(gate),
            Effect.sync(() => done.push(...items))
          )
      })
      let put = 0
      const putting = yield* Effect.forkChild(
        Effect.forEach([4, 4, 4, 1_000, 4], (bytes, number) =>
          Effect.andThen(
            queue.put("key", "a", number, bytes),
            Effect.sync(() => (put += 1))
          )
        )
      )
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.strictEqual(put, 2)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(putting)
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.deepStrictEqual(done, [0, 1, 2, 3, 4])
    }).pipe(Effect.scoped)
  )
})
