import { assert, describe, it } from "@effect/vitest"
import type { Sliced } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { inSlices, makeComputations, ThreadTime } from "../src/InSlices.ts"
import { RequestFacts } from "../src/index.ts"

/** The time that a part of a computation takes. Milliseconds. */
const PART_MS = 3

/** Computations of which each part moves the time. */
const makeWork = () => {
  let now = 0
  const log: Array<string> = []
  const computations = makeComputations(() => now)
  const works = function* (name: string, parts: number): Sliced<string> {
    for (let part = 0; part < parts; part++) {
      now += PART_MS
      log.push(name)
      yield
    }
    return name
  }
  const run = (caller: string, parts: number, computation = works(caller, parts)) =>
    inSlices(computation).pipe(
      Effect.provideService(RequestFacts, { client: caller, actor: undefined, address: "" }),
      Effect.provideService(ThreadTime, computations)
    )
  return { log, run }
}

const many = <A>(count: number, effect: () => Effect.Effect<A>) =>
  Effect.all(Array.from({ length: count }, effect), { concurrency: "unbounded" })

/** The end of this turn of the event loop. */
const loopTurn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** The callers in the order of their slices, with the parts of each. */
const slicesOf = (log: ReadonlyArray<string>) => log.join("").match(/(.)\1*/g) ?? []

describe("a computation in slices", () => {
  it.effect("returns its result, and lets the event loop turn after each slice", () =>
    Effect.gen(function* () {
      const { log, run } = makeWork()
      const computing = yield* Effect.forkChild(run("a", 10), { startImmediately: true })
      assert.strictEqual(log.length, 4)
      yield* loopTurn
      assert.strictEqual(log.length, 8)
      assert.strictEqual(yield* Fiber.join(computing), "a")
    })
  )

  it.effect("runs at once while it is short, in all 10 ms of a turn of the loop", () =>
    Effect.gen(function* () {
      const { log, run } = makeWork()
      const computing = yield* Effect.forkChild(
        many(20, () => run("a", 1)),
        { startImmediately: true }
      )
      assert.strictEqual(log.length, 4)
      yield* loopTurn
      assert.strictEqual(log.length, 8)
      yield* Fiber.join(computing)
      assert.strictEqual(log.length, 20)
    })
  )

  it.effect("takes turns with those of other callers, however many one has", () =>
    Effect.gen(function* () {
      const { log, run } = makeWork()
      const first = yield* Effect.forkChild(
        many(20, () => run("a", 8)),
        { startImmediately: true }
      )
      const other = yield* Effect.forkChild(run("b", 8), { startImmediately: true })
      assert.strictEqual(yield* Fiber.join(other), "b")
      assert.isAtMost(log.lastIndexOf("b"), 20)
      assert.strictEqual(slicesOf(log).filter((slice) => slice === "bbbb").length, 2)
      yield* Fiber.join(first)
      assert.strictEqual(log.length, 21 * 8)
    })
  )

  it.effect("leaves its turn when it is interrupted, or fails", () =>
    Effect.gen(function* () {
      const { log, run } = makeWork()
      const interrupted = yield* Effect.forkChild(
        many(3, () => run("a", 1_000)),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(interrupted)
      const begun = log.length
      const fails = function* (): Sliced<string> {
        yield
        throw new Error("unreadable")
      }
      const exit = yield* Effect.exit(run("b", 0, fails()))
      assert.strictEqual(exit._tag, "Failure")
      assert.strictEqual(yield* run("c", 5), "c")
      assert.strictEqual(log.length, begun + 5)
    })
  )
})
