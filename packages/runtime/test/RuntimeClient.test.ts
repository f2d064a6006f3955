import { assert, describe, it } from "@effect/vitest"
import {
  CircuitBreaker,
  collectSessions,
  RuntimeClient,
  RuntimeError,
  type SessionPageRequest
} from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

describe("collectSessions", () => {
  const snapshot = (sessionId: string) =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      return yield* fake.openSession({ sessionId })
    })

  it.effect("reads page after page until the last one", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c", "d", "e"]) yield* snapshot(id)
      const { listSessionsPage } = yield* RuntimeClient
      const listing = yield* collectSessions(listSessionsPage, { pageSize: 2, maxPages: 10, timeoutMs: 1000 })
      assert.isTrue(listing.complete)
      assert.deepStrictEqual(
        listing.sessions.map(({ sessionId }) => sessionId),
        ["a", "b", "c", "d", "e"]
      )
    }).pipe(Effect.provide(RuntimeFake.layer))
  )

  it.effect("is marked as incomplete at the limit of pages or time", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c", "d", "e"]) yield* snapshot(id)
      const fake = yield* RuntimeFake
      const { listSessionsPage } = yield* RuntimeClient
      const capped = yield* collectSessions(listSessionsPage, { pageSize: 2, maxPages: 2, timeoutMs: 1000 })
      assert.deepStrictEqual([capped.complete, capped.sessions.length], [false, 4])
      yield* fake.delay({ method: "ListSessions", times: 10 }, "400 millis")
      const [slow] = yield* Effect.all(
        [
          collectSessions(listSessionsPage, { pageSize: 2, maxPages: 10, timeoutMs: 1000 }),
          TestClock.adjust("1 second")
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual([slow.complete, slow.sessions.length], [false, 4])
    }).pipe(Effect.provide(RuntimeFake.layer))
  )

  it.effect("halves a page that is too large at most twice", () =>
    Effect.gen(function* () {
      const sizes: Array<number> = []
      const tooLarge = ({ pageSize }: SessionPageRequest) => {
        sizes.push(pageSize)
        return Effect.fail(new RuntimeError({ reason: "RESOURCE_EXHAUSTED", method: "ListSessions", message: "" }))
      }
      const error = yield* Effect.flip(collectSessions(tooLarge, { pageSize: 200, maxPages: 200, timeoutMs: 1000 }))
      assert.strictEqual(error.reason, "RESOURCE_EXHAUSTED")
      assert.deepStrictEqual(sizes, [200, 100, 50])
    })
  )

  it.effect("discards its pages on any other failure", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c"]) yield* snapshot(id)
      const client = yield* RuntimeClient
      let pages = 0
      const error = yield* Effect.flip(
        collectSessions(
          (request) =>
            ++pages === 2
              ? Effect.fail(new RuntimeError({ reason: "UNAVAILABLE", method: "ListSessions", message: "" }))
              : client.listSessionsPage(request),
          { pageSize: 1, maxPages: 10, timeoutMs: 1000 }
        )
      )
      assert.strictEqual(error.reason, "UNAVAILABLE")
    }).pipe(Effect.provide(RuntimeFake.layer))
  )
})

describe("RuntimeClient.layerBreaker", () => {
  const guarded = RuntimeClient.layerBreaker.pipe(
    Layer.provideMerge(RuntimeFake.layer),
    Layer.provideMerge(CircuitBreaker.layer({ threshold: 2 }))
  )

  it.effect("refuses unary calls without making them while streams still open", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const client = yield* RuntimeClient
      const breaker = yield* CircuitBreaker
      yield* fake.openSession({ sessionId: "s1" })
      yield* fake.fail({ method: "GetSession", times: 2 }, "UNAVAILABLE")
      yield* Effect.flip(client.getSession("s1"))
      yield* Effect.flip(client.getSession("s1"))
      assert.strictEqual(yield* breaker.state, "OPEN")
      assert.strictEqual((yield* Effect.flip(client.listSessions)).reason, "CIRCUIT_BREAKER_OPEN")
      assert.strictEqual((yield* Effect.flip(client.initialize)).reason, "CIRCUIT_BREAKER_OPEN")
      const events = yield* Stream.runCollect(Stream.take(client.watchSessions, 1))
      assert.strictEqual(events[0]?.session?.sessionId, "s1")
      assert.deepStrictEqual(
        (yield* fake.calls).map(({ method }) => method),
        ["GetSession", "GetSession", "WatchSessions"]
      )
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* client.getSession("s1")).sessionId, "s1")
      assert.strictEqual(yield* breaker.state, "CLOSED")
    }).pipe(Effect.provide(guarded))
  )

  it.effect("lets a slow answer through", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const client = yield* RuntimeClient
      yield* fake.delay({ method: "ListModes" }, "3 seconds")
      const call = yield* Effect.forkChild(client.listModes, { startImmediately: true })
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* Fiber.join(call), [])
    }).pipe(Effect.provide(guarded))
  )
})
