import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { MOST_WAITING } from "../src/FairTurns.ts"
import { makeFairTurns, makeLongTurns, RequestFacts, TurnRefused } from "../src/index.ts"

/** A lane whose turns end when the test ends them. */
const laneOf = (atOnce: number, turns = makeFairTurns("the lane", atOnce)) => {
  const begun: Array<string> = []
  const ends: Array<Deferred.Deferred<void>> = []
  const request = (caller: string, run: (typeof turns)["run" | "goOn"] = turns.run) =>
    Effect.gen(function* () {
      const end = yield* Deferred.make<void>()
      const work = Effect.suspend(() => {
        begun.push(caller)
        ends.push(end)
        return Deferred.await(end)
      })
      return yield* Effect.forkChild(
        Effect.provideService(run(work), RequestFacts, { client: caller, actor: undefined, address: "" }),
        { startImmediately: true }
      )
    })
  /** Ends the first turn in work, and lets the next begin. */
  const endOne = Effect.suspend(() =>
    Effect.andThen(Deferred.succeed(ends.shift() ?? assert.fail("no turn is in work"), undefined), Effect.yieldNow)
  )
  return { turns, begun, request, endOne }
}

const many = <A>(count: number, effect: Effect.Effect<A>) => Effect.all(Array.from({ length: count }, () => effect))

describe("turns by caller", () => {
  it.effect("let another caller in after one turn of a caller with 90 requests", () =>
    Effect.gen(function* () {
      const { begun, endOne, request } = laneOf(1)
      yield* many(90, request("a"))
      yield* request("b")
      yield* endOne
      assert.deepStrictEqual(begun, ["a", "b"])
    })
  )

  it.effect("run so many at once, and no more", () =>
    Effect.gen(function* () {
      const { begun, endOne, request } = laneOf(2)
      yield* many(3, request("a"))
      yield* many(2, request("b"))
      assert.deepStrictEqual(begun, ["a", "a"])
      yield* endOne
      yield* endOne
      assert.deepStrictEqual(begun, ["a", "a", "b", "a"])
    })
  )

  it.effect("that take long leave one turn for other callers", () =>
    Effect.gen(function* () {
      const { begun, endOne, request } = laneOf(2, makeLongTurns("the lane", 2))
      yield* many(90, request("a"))
      yield* request("b")
      yield* request("c")
      assert.deepStrictEqual(begun, ["a", "a", "b"])
      yield* endOne
      assert.deepStrictEqual(begun, ["a", "a", "b", "c"])
    })
  )

  it.effect("are held until a scope closes, and left by one that is interrupted", () =>
    Effect.gen(function* () {
      const lane = makeFairTurns("the lane", 1)
      const held = yield* Scope.make()
      yield* Scope.provide(lane.scoped, held)
      const interrupted = yield* Effect.forkChild(Effect.scoped(lane.scoped), { startImmediately: true })
      const waiting = yield* Effect.forkChild(Effect.scoped(lane.scoped), { startImmediately: true })
      yield* Fiber.interrupt(interrupted)
      assert.isUndefined(waiting.pollUnsafe())
      yield* Scope.close(held, Exit.void)
      yield* Fiber.join(waiting)
      yield* Effect.scoped(lane.scoped)
    })
  )

  it.effect("come to fibers that yield after every operation", () =>
    Effect.gen(function* () {
      const lane = makeFairTurns("the lane", 1)
      const short = Effect.scoped(lane.scoped)
      const effects = Array.from({ length: 40 }, (_, number) => (number % 2 === 0 ? lane.goOn(Effect.void) : short))
      yield* Effect.all(effects, { concurrency: "unbounded", discard: true })
    }).pipe(Effect.provideService(Scheduler.MaxOpsBeforeYield, 8))
  )

  it.effect("refuse a request that waits for too long, and forget it", () =>
    Effect.gen(function* () {
      const { begun, endOne, request } = laneOf(1)
      yield* request("a")
      const waiting = yield* request("b")
      yield* TestClock.adjust("31 seconds")
      const error = yield* Effect.flip(Fiber.join(waiting))
      assert.deepStrictEqual(
        [error, error.message],
        [
          new TurnRefused({ lane: "the lane", reason: "wait" }),
          "the lane: the turn of this request did not come in time"
        ]
      )
      yield* request("c")
      yield* endOne
      assert.deepStrictEqual(begun, ["a", "c"])
    })
  )

  it.effect("never refuse the continuation of an answer", () =>
    Effect.gen(function* () {
      const { begun, endOne, request, turns } = laneOf(1)
      yield* request("a")
      yield* request("b", turns.goOn)
      yield* TestClock.adjust("1 hour")
      yield* endOne
      assert.deepStrictEqual(begun, ["a", "b"])
    })
  )

  it.effect("refuse requests beyond the bounds of a caller and of the lane", () =>
    Effect.gen(function* () {
      const { request } = laneOf(1)
      yield* request("a")
      yield* many(MOST_WAITING.perCaller, request("a"))
      const refused = yield* Effect.flip(Fiber.join(yield* request("a")))
      assert.strictEqual(refused.reason, "caller")
      const callers = MOST_WAITING.total / MOST_WAITING.perCaller
      for (let caller = 1; caller < callers; caller++) yield* many(MOST_WAITING.perCaller, request(`b${caller}`))
      assert.strictEqual((yield* Effect.flip(Fiber.join(yield* request("c")))).reason, "total")
    })
  )

  it.effect("go to the next when a request is interrupted, waiting or in work", () =>
    Effect.gen(function* () {
      const { begun, request } = laneOf(1)
      const inWork = yield* request("a")
      const waiting = yield* request("b")
      yield* request("c")
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(inWork)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["a", "c"])
    })
  )

  it.effect("are released when a request is interrupted in the moment of its turn", () =>
    Effect.gen(function* () {
      const { begun, endOne, request } = laneOf(1)
      const first = yield* request("a")
      const second = yield* request("b")
      // The end of the first gives the second its turn.
      first.interruptUnsafe()
      second.interruptUnsafe()
      yield* Effect.yieldNow
      yield* request("c")
      assert.strictEqual(begun.at(-1), "c")
      assert.lengthOf(begun, new Set(begun).size)
      yield* Effect.exit(endOne)
    })
  )
})
