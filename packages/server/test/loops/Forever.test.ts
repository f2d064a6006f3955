import { assert, describe, it } from "@effect/vitest"
import { forever, type LoopOptions, Loops, type Pause, roundGoesOn, roundWaits } from "@runplane/server"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import { TestClock } from "effect/testing"

/** The longest pauses of the back-off: the part that is drawn is none. */
const unspread = Random.Random.of({ ...Random.Random.defaultValue(), nextDoubleUnsafe: () => 0 })

/** Starts a loop whose rounds the test decides, and says when they began and what was logged. */
const started = Effect.fnUntraced(function* <E>(
  round: (number: number) => Effect.Effect<Pause | void, E>,
  options: LoopOptions = {}
) {
  const loops = Loops.make(() => 0)
  const began: Array<number> = []
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel !== "Debug") lines.push(`${logLevel} ${Array.isArray(message) ? message[0] : message}`)
  })
  const counted = Effect.gen(function* () {
    began.push(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
    return yield* round(began.length)
  })
  const fiber = yield* forever("test", counted, options).pipe(
    Effect.provideService(Loops, loops),
    Effect.provideService(Random.Random, unspread),
    Effect.provide(Logger.layer([logger])),
    Effect.forkScoped
  )
  yield* TestClock.adjust(0)
  const troubles = Effect.clockWith((clock) => Effect.map(clock.currentTimeMillis, loops.troubles))
  return { began, fiber, lines, loops, troubles }
})

const failing = (from: number, to: number) => (number: number) =>
  number >= from && number < to ? Effect.fail("it is closed") : Effect.void

describe("forever", () => {
  it.effect("given rounds that work, repeats them at their interval and logs nothing", () =>
    Effect.gen(function* () {
      const { began, lines } = yield* started(() => Effect.void, { every: 1_000, first: 500 })
      yield* TestClock.adjust(3_000)
      assert.deepStrictEqual(began, [500, 1_500, 2_500])
      assert.deepStrictEqual(lines, [])
    })
  )

  it.effect("given a round that answers its own pause, takes that one", () =>
    Effect.gen(function* () {
      const own = (number: number) => (number === 2 ? Effect.void : Effect.succeed({ pauseMs: number * 10 }))
      const { began } = yield* started(own, { every: 1_000 })
      yield* TestClock.adjust(1_100)
      assert.deepStrictEqual(began, [0, 10, 1_010, 1_040, 1_080])
    })
  )

  it.effect("given failures, logs their start and their end alone, and doubles the pauses up to the longest", () =>
    Effect.gen(function* () {
      const backoff = { firstMs: 100, longestMs: 300 }
      const { began, lines } = yield* started(failing(2, 6), { every: 1_000, backoff })
      yield* TestClock.adjust(3_000)
      assert.deepStrictEqual(began, [0, 1_000, 1_100, 1_300, 1_600, 1_900, 2_900])
      assert.deepStrictEqual(lines, [
        "Warn loop test failed, and is retried: it is closed",
        "Info loop test works again after 1 s and 4 failed rounds"
      ])
    })
  )

  it.effect("given a second outage, begins its pauses anew and logs it again", () =>
    Effect.gen(function* () {
      const round = (number: number) => (number === 1 || number === 2 || number === 4 ? Effect.fail("x") : Effect.void)
      const { began, lines } = yield* started(round, { every: 1_000, backoff: { firstMs: 100, longestMs: 9_000 } })
      yield* TestClock.adjust(1_500)
      assert.deepStrictEqual(began, [0, 100, 300, 1_300, 1_400])
      assert.strictEqual(lines.length, 4)
    })
  )

  it.effect("given a defect, goes on and logs it as an error", () =>
    Effect.gen(function* () {
      const round = (number: number) => (number === 1 ? Effect.die(new TypeError("no seal")) : Effect.void)
      const { began, lines, troubles } = yield* started(round, { every: 1_000 })
      assert.deepStrictEqual(lines, ["Error loop test failed, and is retried: no seal"])
      assert.deepStrictEqual(yield* troubles, [
        { name: "test", failures: 1, failingSince: 0, error: "no seal", lateMs: 0 }
      ])
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(began, [0, 1_000, 2_000])
      assert.deepStrictEqual(yield* troubles, [])
    })
  )

  it.effect("given a round whose own fiber was interrupted by another, goes on", () =>
    Effect.gen(function* () {
      const { began } = yield* started((number) => (number === 1 ? Effect.interrupt : Effect.void), { every: 1_000 })
      yield* TestClock.adjust(1_500)
      assert.deepStrictEqual(began, [0, 1_000])
    })
  )

  it.effect("given a defect that throws where the effect is made, goes on", () =>
    Effect.gen(function* () {
      const { began } = yield* started(
        (number) => {
          if (number === 1) throw new Error("thrown")
          return Effect.void
        },
        { every: 1_000 }
      )
      yield* TestClock.adjust(1_500)
      assert.deepStrictEqual(began, [0, 1_000])
    })
  )

  it.effect("given a wake, ends the pause early; without a period it waits for the wake alone", () =>
    Effect.gen(function* () {
      const signal = yield* Queue.sliding<void>(1)
      const { began, troubles } = yield* started(() => Effect.void, {
        wake: Queue.take(signal),
        first: Number.POSITIVE_INFINITY
      })
      yield* TestClock.adjust("3 hours")
      assert.deepStrictEqual(began, [])
      assert.deepStrictEqual(yield* troubles, [])
      yield* Queue.offer(signal, undefined)
      yield* TestClock.adjust(5)
      assert.deepStrictEqual(began, [10_800_000])
    })
  )

  it.effect("given a wake in the pause after a failure, does not shorten it and does not lose the wake", () =>
    Effect.gen(function* () {
      const signal = yield* Queue.sliding<void>(1)
      const { began } = yield* started(failing(1, 2), {
        wake: Queue.take(signal),
        every: 60_000,
        backoff: { firstMs: 1_000, longestMs: 1_000 }
      })
      yield* TestClock.adjust(10)
      yield* Queue.offer(signal, undefined)
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(began, [0])
      yield* TestClock.adjust(490)
      assert.deepStrictEqual(began, [0, 1_000, 1_000])
    })
  )

  it.effect("spreads the pauses after failures by the Random service", () =>
    Effect.gen(function* () {
      const begun: Array<number> = []
      const round = Effect.andThen(
        Effect.clockWith((clock) => Effect.map(clock.currentTimeMillis, (now) => void begun.push(now))),
        Effect.fail("x")
      )
      yield* forever("test", round, { backoff: { firstMs: 1_000, longestMs: 1_000 } }).pipe(
        Effect.provideService(Random.Random, Random.Random.of({ ...unspread, nextDoubleUnsafe: () => 0.5 })),
        Effect.forkScoped
      )
      yield* TestClock.adjust(1_850)
      assert.deepStrictEqual(begun, [0, 900, 1_800])
    })
  )
})

describe("the interruption of a loop", () => {
  const interrupted = Effect.fnUntraced(function* (round: Effect.Effect<void, string>, options: LoopOptions) {
    const { fiber, lines, loops } = yield* started(() => round, options)
    assert.deepStrictEqual(loops.names(), ["test"])
    const exit = yield* Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))
    assert.strictEqual(exit._tag, "Failure")
    // A loop that has ended is not a late one.
    assert.deepStrictEqual(loops.names(), [])
    return lines
  })

  it.effect("in a round ends it at once, without a line", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const lines = yield* interrupted(
        Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined)),
        {}
      )
      yield* Deferred.await(ended)
      assert.deepStrictEqual(lines, [])
    })
  )

  it.effect("in a pause, in the wait for a wake, and in the pause after a failure ends it at once", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* interrupted(Effect.void, { every: 60_000 }), [])
      assert.deepStrictEqual(yield* interrupted(Effect.void, { wake: Effect.never }), [])
      assert.strictEqual((yield* interrupted(Effect.fail("x"), {})).length, 1)
    })
  )
})

describe("a late loop", () => {
  it.effect("is one whose round hangs for longer than its limit", () =>
    Effect.gen(function* () {
      const { troubles } = yield* started((number) => (number === 2 ? Effect.never : Effect.void), {
        every: 1_000,
        limitMs: 5_000
      })
      yield* TestClock.adjust(6_000)
      assert.deepStrictEqual(yield* troubles, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* troubles, [
        { name: "test", failures: 0, failingSince: undefined, error: undefined, lateMs: 5_001 }
      ])
    })
  )

  it.effect("is one whose rounds fail for longer than that, with its last error", () =>
    Effect.gen(function* () {
      const { troubles } = yield* started(failing(2, 99), {
        every: 10_000,
        limitMs: 5_000,
        backoff: { firstMs: 1_000, longestMs: 1_000 }
      })
      yield* TestClock.adjust(15_500)
      const [trouble] = yield* troubles
      assert.deepStrictEqual(
        { ...trouble },
        { name: "test", failures: 6, failingSince: 10_000, error: "it is closed", lateMs: 5_500 }
      )
    })
  )

  it.effect("is not one with a long pause, nor one whose long round goes on", () =>
    Effect.gen(function* () {
      const paused = yield* started(() => Effect.void, { every: 86_400_000, limitMs: 5_000 })
      yield* TestClock.adjust("20 hours")
      assert.deepStrictEqual(yield* paused.troubles, [])
      const part = Effect.andThen(Effect.sleep(4_000), roundGoesOn)
      const long = yield* started(() => Effect.andThen(part, Effect.andThen(part, part)), { limitMs: 5_000 })
      yield* TestClock.adjust(11_000)
      assert.deepStrictEqual(yield* long.troubles, [])
    })
  )

  it.effect("is not one whose round waits for input, until that fails", () =>
    Effect.gen(function* () {
      const waiting = Effect.andThen(roundWaits, Effect.andThen(Effect.sleep("1 hour"), Effect.fail("closed")))
      const { troubles } = yield* started((number) => (number === 1 ? waiting : Effect.never), { limitMs: 5_000 })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* troubles)[0]?.lateMs, 0)
      yield* TestClock.adjust(5_001)
      assert.strictEqual((yield* troubles)[0]?.lateMs, 5_001)
    })
  )

  it.effect("shows its error without secrets", () =>
    Effect.gen(function* () {
      const text = "cannot reach postgres://me:hunter2@db:5432/runs?password=hunter3\nwith a second line"
      const { lines, troubles } = yield* started(() => Effect.fail(new Error(text)))
      assert.strictEqual((yield* troubles)[0]?.error, "cannot reach postgres://***@db:5432/runs?password=***")
      assert.strictEqual(lines.length, 1)
    })
  )
})
