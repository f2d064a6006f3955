import { assert, describe, it } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { SessionDirectory } from "../../../src/observe/sessions/SessionDirectory.ts"

const idOf = (number: number) => `session-${String(number).padStart(5, "0")}`
const MANY = Array.from({ length: 1_000 }, (_, number) => idOf(number))

/** Sessions that are counted. */
const open = (ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const fake = yield* RuntimeFake
    for (const sessionId of ids) {
      yield* fake.openSession({
        sessionId,
        participantActivity: [{ participantId: "agent://a", lastMessageAtUnixMs: 1, messageCount: 1 }]
      })
    }
  })

/** Queries all at the same time, and returns the ids with an answer after so long. */
const ask = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, wait: Duration.Input = "5 seconds") {
  const directory = yield* SessionDirectory
  const asking = yield* Effect.forEach(ids, (id) => Effect.forkChild(Effect.result(directory.query(id))))
  yield* TestClock.adjust(wait)
  return yield* Effect.forEach(asking, (fiber) =>
    Effect.map(Fiber.join(fiber), (answer) =>
      Result.isSuccess(answer) ? answer.success.sessionId : answer.failure.reason
    )
  )
})

/** The calls of the runtime since the last time. */
const counted = () => {
  let seen = 0
  return Effect.gen(function* () {
    const calls = yield* (yield* RuntimeFake).calls
    const fresh = calls.slice(seen)
    seen = calls.length
    const count = (method: string) => fresh.filter((call) => call.method === method).length
    return { sessions: count("GetSession"), pages: count("ListSessions") }
  })
}

const test = (name: string, effect: Effect.Effect<void, unknown, SessionDirectory | RuntimeFake>) =>
  it.effect(name, () =>
    Effect.provide(
      effect,
      SessionDirectory.layer.pipe(
        Layer.provide(ObserverSettings.layerFrom({})),
        Layer.provideMerge(Layer.fresh(RuntimeFake.layer))
      )
    )
  )

describe("queries that can wait", () => {
  test(
    "are sent one by one and at once while they are few",
    Effect.gen(function* () {
      const calls = counted()
      yield* open(MANY)
      const directory = yield* SessionDirectory
      for (const id of MANY.slice(0, 20)) assert.strictEqual((yield* directory.query(id)).sessionId, id)
      yield* TestClock.adjust("1 second")
      for (const id of MANY.slice(0, 20)) assert.strictEqual((yield* directory.query(id)).sessionId, id)
      assert.deepStrictEqual(yield* calls, { sessions: 40, pages: 0 })
    })
  )

  test(
    "are answered by one listing when they are many",
    Effect.gen(function* () {
      const calls = counted()
      yield* open(MANY)
      assert.deepStrictEqual(yield* ask(MANY), MANY)
      assert.deepStrictEqual(yield* calls, { sessions: 20, pages: 5 })
      // The listing is read only as far as queries are pending.
      assert.deepStrictEqual(yield* ask(MANY.slice(0, 150)), MANY.slice(0, 150))
      assert.deepStrictEqual(yield* calls, { sessions: 20, pages: 1 })
    })
  )

  test(
    "are sent one by one when the list is far longer than they are many",
    Effect.gen(function* () {
      const calls = counted()
      yield* open(MANY)
      assert.deepStrictEqual(yield* ask(MANY), MANY)
      yield* calls
      const few = MANY.slice(0, 99)
      assert.deepStrictEqual(yield* ask(few), few)
      assert.deepStrictEqual(yield* calls, { sessions: 99, pages: 0 })
      // The list may have become shorter.
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* ask(few), few)
      assert.deepStrictEqual(yield* calls, { sessions: 20, pages: 1 })
    })
  )

  test(
    "are never answered by an earlier listing",
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* open(MANY)
      const directory = yield* SessionDirectory
      yield* fake.delay({ method: "ListSessions", times: 5 }, "1 second")
      const early = yield* Effect.forkChild(ask(MANY, "5 seconds"))
      yield* TestClock.adjust("1500 millis")
      const late = yield* Effect.forEach(MANY.slice(0, 30), (id) => Effect.forkChild(directory.query(id)))
      yield* fake.setState(idOf(29), "SUSPENDED")
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(early)
      const last = late.at(-1)
      assert.strictEqual(last && (yield* Fiber.join(last)).state, "SUSPENDED")
    })
  )

  test(
    "are sent one by one when the listing has no answer: of sessions that are gone, or not counted",
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const calls = counted()
      yield* open(MANY.slice(0, 100))
      const uncounted = MANY.slice(100, 110)
      for (const sessionId of uncounted) yield* fake.openSession({ sessionId })
      const gone = MANY.slice(110, 120)
      const answers = yield* ask([...MANY.slice(0, 120)])
      assert.deepStrictEqual(answers.slice(0, 110), MANY.slice(0, 110))
      assert.deepStrictEqual(
        answers.slice(110),
        gone.map(() => "NOT_FOUND")
      )
      assert.deepStrictEqual(yield* calls, { sessions: 20 + 20, pages: 1 })
    })
  )

  test(
    "are sent one by one when the runtime does not list, which is not tried again for ten minutes",
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const calls = counted()
      yield* open(MANY)
      yield* fake.fail({ method: "ListSessions", times: 1 }, "PERMISSION_DENIED")
      assert.deepStrictEqual(yield* ask(MANY), MANY)
      assert.deepStrictEqual(yield* calls, { sessions: 1_000, pages: 1 })
      assert.deepStrictEqual(yield* ask(MANY), MANY)
      assert.deepStrictEqual(yield* calls, { sessions: 1_000, pages: 0 })
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* ask(MANY), MANY)
      assert.deepStrictEqual(yield* calls, { sessions: 20, pages: 5 })
    })
  )

  test(
    "are sent one by one when a listing breaks or takes too long, and listed the next time",
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const calls = counted()
      yield* open(MANY)
      yield* fake.fail({ method: "ListSessions", times: 1 }, "UNAVAILABLE")
      assert.deepStrictEqual(yield* ask(MANY), MANY)
      assert.deepStrictEqual(yield* calls, { sessions: 1_000, pages: 1 })
      yield* fake.hang({ method: "ListSessions", times: 1 })
      assert.deepStrictEqual(yield* ask(MANY, "20 seconds"), MANY)
      assert.deepStrictEqual(yield* calls, { sessions: 1_000, pages: 1 })
      assert.deepStrictEqual(yield* ask(MANY), MANY)
      assert.deepStrictEqual(yield* calls, { sessions: 20, pages: 5 })
    })
  )
})
