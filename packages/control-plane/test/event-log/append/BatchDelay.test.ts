import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { BatchDelay, PACE_MS, WORTH_ANOTHER } from "../../../src/event-log/append/BatchDelay.ts"

const isOver = (fiber: Fiber.Fiber<void>) => fiber.pollUnsafe() !== undefined
const waitForDue = Effect.gen(function* () {
  const { due } = yield* BatchDelay
  return yield* Effect.forkChild(due, { startImmediately: true })
})

describe("BatchDelay", () => {
  it.effect("does not delay a frame of an idle log", () =>
    Effect.gen(function* () {
      const pace = yield* BatchDelay
      yield* TestClock.setTime(1_000_000)
      pace.come(1)
      assert.isTrue(isOver(yield* waitForDue))
      pace.begun()
      yield* TestClock.adjust(PACE_MS)
      assert.isTrue(isOver(yield* waitForDue))
    }).pipe(Effect.provide(BatchDelay.layer))
  )

  it.effect("joins frames that arrive soon after the beginning of a transaction", () =>
    Effect.gen(function* () {
      const pace = yield* BatchDelay
      pace.begun()
      const first = yield* waitForDue
      yield* TestClock.adjust(PACE_MS - 1)
      const second = yield* waitForDue
      assert.isFalse(isOver(first))
      yield* TestClock.adjust(1)
      assert.isTrue(isOver(first))
      assert.isTrue(isOver(second))
    }).pipe(Effect.provide(BatchDelay.layer))
  )

  it.effect("does not extend a wait when transactions begin for others", () =>
    Effect.gen(function* () {
      const pace = yield* BatchDelay
      pace.begun()
      const waiting = yield* waitForDue
      for (let ms = 0; ms < PACE_MS; ms++) {
        pace.begun()
        assert.isFalse(isOver(waiting))
        yield* TestClock.adjust(1)
      }
      assert.isTrue(isOver(waiting))
    }).pipe(Effect.provide(BatchDelay.layer))
  )

  it.effect("holds up nothing once many frames have come since the transaction began", () =>
    Effect.gen(function* () {
      const pace = yield* BatchDelay
      pace.come(WORTH_ANOTHER)
      pace.begun()
      const waiting = yield* waitForDue
      pace.come(WORTH_ANOTHER - 1)
      assert.isFalse(isOver(waiting))
      pace.come(1)
      yield* Effect.yieldNow
      assert.isTrue(isOver(waiting))
      assert.isTrue(isOver(yield* waitForDue))
    }).pipe(Effect.provide(BatchDelay.layer))
  )

  it.effect("forgets who is interrupted", () =>
    Effect.gen(function* () {
      const pace = yield* BatchDelay
      pace.begun()
      const gone = yield* waitForDue
      gone.interruptUnsafe()
      const waiting = yield* waitForDue
      yield* TestClock.adjust(PACE_MS)
      assert.isTrue(isOver(waiting))
    }).pipe(Effect.provide(BatchDelay.layer))
  )
})
