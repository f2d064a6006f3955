import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import { gatherReads } from "../../../src/event-log/projection/GatheredReads.ts"

const MOST = 4

/** Reads that wait to be answered, and the keys that each was asked for. Keys of upper case have a row. */
const counted = Effect.gen(function* () {
  const reads: Array<{ readonly keys: ReadonlyArray<string>; readonly go: Deferred.Deferred<void, string> }> = []
  let value = 0
  const read = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
    const seen = value
    const go = yield* Deferred.make<void, string>()
    reads.push({ keys, go })
    yield* Deferred.await(go)
    const found = keys.filter((key) => key === key.toUpperCase())
    return new Map(found.map((key) => [key, `${key}: ${seen}`]))
  })
  const gathered = yield* gatherReads(read, MOST)
  const ask = (key: string) => Effect.forkChild(gathered(key), { startImmediately: true })
  const answer = Effect.fnUntraced(function* (number: number, failure?: string) {
    while (reads.length <= number) yield* Effect.yieldNow
    const { go } = reads[number] ?? assert.fail("there is no such read")
    yield* failure === undefined ? Deferred.succeed(go, undefined) : Deferred.fail(go, failure)
  })
  const change = () => {
    value++
  }
  const keys = () => reads.map((read) => read.keys.join(""))
  /** Two reads of a key each, under way: as many as there are at a time. */
  const busy = Effect.gen(function* () {
    const first = yield* ask("A")
    while (reads.length < 1) yield* Effect.yieldNow
    const second = yield* ask("B")
    while (reads.length < 2) yield* Effect.yieldNow
    return [first, second] as const
  })
  return { ask, answer, busy, change, keys }
})

describe("gathered reads", () => {
  it.effect("bring together what was asked for while others were under way, and what changed before", () =>
    Effect.gen(function* () {
      const { answer, ask, busy, change, keys } = yield* counted
      const first = yield* busy
      change()
      const later = yield* Effect.forEach(["C", "d", "C", "A"], ask)
      assert.deepStrictEqual(keys(), ["A", "B"])
      yield* answer(1)
      yield* answer(2)
      yield* answer(0)
      assert.deepStrictEqual(yield* Effect.forEach(first, Fiber.join), ["A: 0", "B: 0"])
      assert.deepStrictEqual(yield* Effect.forEach(later, Fiber.join), ["C: 1", undefined, "C: 1", "A: 1"])
      assert.deepStrictEqual(keys(), ["A", "B", "CdA"])
    })
  )

  it.effect("bring so many at a time at most", () =>
    Effect.gen(function* () {
      const { answer, ask, busy, keys } = yield* counted
      const first = yield* busy
      const fibers = yield* Effect.forEach([..."CDEFGHIJK"], ask)
      for (const number of [0, 1, 2, 3, 4]) yield* answer(number)
      yield* Effect.forEach([...first, ...fibers], Fiber.join)
      assert.deepStrictEqual(
        keys().map(({ length }) => length),
        [1, 1, MOST, MOST, 1]
      )
      assert.strictEqual(keys().join(""), "ABCDEFGHIJK")
    })
  )

  it.effect("fail for those who asked, and for nobody who asks afterwards", () =>
    Effect.gen(function* () {
      const { answer, ask, busy } = yield* counted
      const [first, second] = yield* busy
      const third = yield* ask("C")
      yield* answer(0, "away")
      yield* answer(1)
      yield* answer(2)
      assert.strictEqual(yield* Effect.flip(Fiber.join(first)), "away")
      assert.strictEqual(yield* Fiber.join(second), "B: 0")
      assert.strictEqual(yield* Fiber.join(third), "C: 0")
      const after = yield* ask("D")
      yield* answer(3)
      assert.strictEqual(yield* Fiber.join(after), "D: 0")
    })
  )

  it.effect("lose nobody who asks in the moment in which all of them end", () =>
    Effect.gen(function* () {
      for (let turns = 0; turns < 30; turns++) {
        const together = yield* Deferred.make<void>()
        const gathered = yield* gatherReads(
          (keys) => Effect.as(Deferred.await(together), new Map(keys.map((key) => [key, key]))),
          1
        )
        const early = yield* Effect.forEach(["A", "B"], (key) =>
          Effect.forkChild(gathered(key), { startImmediately: true })
        )
        for (let turn = 0; turn < 30; turn++) yield* Effect.yieldNow
        yield* Deferred.succeed(together, undefined)
        for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
        assert.strictEqual(yield* gathered("C"), "C")
        assert.deepStrictEqual(yield* Effect.forEach(early, Fiber.join), ["A", "B"])
      }
      // A fiber that has had its few operations lets the others run, so the reads end in many small steps.
    }).pipe(Effect.provideService(Scheduler.MaxOpsBeforeYield, 3))
  )

  it.effect("go on when a caller goes away", () =>
    Effect.gen(function* () {
      const { answer, ask, busy, keys } = yield* counted
      const others = yield* busy
      const [leaves, stays] = [yield* ask("C"), yield* ask("C")]
      yield* Effect.forEach([leaves, ...others], Fiber.interrupt)
      for (const number of [0, 1, 2]) yield* answer(number)
      assert.strictEqual(yield* Fiber.join(stays), "C: 0")
      assert.deepStrictEqual(keys(), ["A", "B", "C"])
    })
  )
})
