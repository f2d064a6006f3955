import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { FrameBudget } from "../../../src/event-log/append/FrameBudget.ts"
import { EventLogSettings } from "../../../src/event-log/EventLogSettings.ts"

const limits = {
  bufferBytes: 100,
  runBufferBytes: 60,
  appendBytes: 10,
  groupBytes: 10,
  oldestAppendMs: 1
}
const layer = FrameBudget.layer.pipe(Layer.provide(Layer.succeed(EventLogSettings, limits)))

/** Holds so many bytes in a fiber of its own; `handed` notes what got through. */
const holding = (handed: Array<string>) =>
  Effect.fnUntraced(function* (
    share: FrameBudget["Service"]["share"] extends Effect.Effect<infer A, never, Scope.Scope> ? A : never,
    name: string,
    bytes: number
  ) {
    const fiber = yield* Effect.forkChild(share.acquire(bytes, () => handed.push(name)))
    yield* Effect.yieldNow
    return fiber
  })

describe("FrameBudget", () => {
  it.effect("lets a run hold its share, and the runs together no more than the budget", () =>
    Effect.gen(function* () {
      const { used, share } = yield* FrameBudget
      const handed: Array<string> = []
      const hold = holding(handed)
      const a = yield* share
      const b = yield* share
      yield* hold(a, "a1", 40)
      yield* hold(a, "a2", 40)
      yield* hold(b, "b1", 50)
      assert.deepStrictEqual(handed, ["a1", "b1"])
      assert.strictEqual(used(), 90)
      a.release(40)
      yield* Effect.yieldNow
      assert.deepStrictEqual(handed, ["a1", "b1", "a2"])
      assert.strictEqual(used(), 90)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("serves in order: small requests do not overtake a large one", () =>
    Effect.gen(function* () {
      const { share } = yield* FrameBudget
      const handed: Array<string> = []
      const hold = holding(handed)
      const [a, b, c] = [yield* share, yield* share, yield* share]
      yield* hold(a, "first", 60)
      yield* hold(b, "large", 50)
      yield* hold(c, "small", 10)
      assert.deepStrictEqual(handed, ["first"])
      a.release(60)
      yield* Effect.yieldNow
      assert.deepStrictEqual(handed, ["first", "large", "small"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("lets one frame pass that is larger than the whole budget, alone", () =>
    Effect.gen(function* () {
      const { used, share } = yield* FrameBudget
      const handed: Array<string> = []
      const hold = holding(handed)
      const [a, b] = [yield* share, yield* share]
      yield* hold(a, "huge", 10_000)
      yield* hold(b, "next", 1)
      assert.deepStrictEqual(handed, ["huge"])
      a.release(10_000)
      yield* Effect.yieldNow
      assert.deepStrictEqual(handed, ["huge", "next"])
      assert.strictEqual(used(), 1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("gets everything back from who is interrupted, and from a run that ends", () =>
    Effect.gen(function* () {
      const { used, share } = yield* FrameBudget
      const handed: Array<string> = []
      const hold = holding(handed)
      const scope = yield* Scope.make()
      const a = yield* Scope.provide(share, scope)
      const b = yield* share
      yield* hold(b, "b1", 60)
      const waiting = yield* hold(a, "a1", 60)
      yield* Fiber.interrupt(waiting)
      yield* hold(a, "a2", 40)
      assert.deepStrictEqual(handed, ["b1", "a2"])
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(used(), 60)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
