import { assert, describe, it } from "@effect/vitest"
import { streamReadsAt } from "@runplane/database"
import { RunId } from "@runplane/domain"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { EventRepository, type EventSlice } from "../../src/event-log/EventRepository.ts"
import { RunStateReader } from "../../src/event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../src/event-log/runs/RunRepository.ts"
import { StreamReads } from "../../src/streams/StreamReads.ts"

const POOL = 8

/** A database that returns when the latch opens, and counts concurrent reads. */
const database = () => {
  const latch = Latch.makeUnsafe(false)
  const counts = { reads: 0, atOnce: 0, most: 0 }
  const read = <A>(result: () => A) =>
    Effect.suspend(() => {
      counts.reads++
      counts.atOnce++
      counts.most = Math.max(counts.most, counts.atOnce)
      return Effect.andThen(
        latch.await,
        Effect.sync(() => {
          counts.atOnce--
          return result()
        })
      )
    })
  const layer = StreamReads.layer.pipe(
    Layer.provide([
      Layer.mock(EventRepository, { slice: () => read((): EventSlice => ({ events: [], isLast: true })) }),
      Layer.mock(RunRepository, { resolve: () => read(() => undefined) }),
      Layer.mock(RunStateReader, { current: () => read(() => undefined), head: () => read(() => undefined) }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { DB_POOL_MAX: String(POOL) } }))
    ])
  )
  return { another: read(() => undefined), counts, latch, layer }
}

const run = (number: number) => RunId.make(`0197c0de-6f0a-7c53-9a56-${String(number).padStart(12, "0")}`)

const openAll = <A, E>(opened: ReadonlyArray<Effect.Effect<A, E>>, latch: Latch.Latch) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.all(opened, { concurrency: "unbounded" }))
    yield* Effect.repeat(Effect.yieldNow, { times: 50 })
    yield* latch.open
    return yield* Fiber.join(fiber)
  })

// docs/reference/streams.md#stream-reads
describe("the reads of streams", () => {
  it.effect("are shared by streams that read the same page of a run at the same time", () => {
    const { counts, latch, layer } = database()
    return Effect.gen(function* () {
      const { events } = yield* StreamReads
      const first = yield* Effect.forkChild(events.slice(run(1), { afterSeq: 0 }, 500))
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      const others = Array.from({ length: 300 }, () => events.slice(run(1), { afterSeq: 0 }, 500))
      const pages = yield* openAll(others, latch)
      yield* Fiber.join(first)
      // Later streams do not receive the result of a read that has begun.
      assert.strictEqual(counts.reads, 2)
      assert.strictEqual(new Set(pages).size, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("use at most their share of the pool", () => {
    const { another, counts, latch, layer } = database()
    return Effect.gen(function* () {
      const { events, inTurn, resolve, states } = yield* StreamReads
      const opened = Array.from({ length: 40 }, (_, number) => [
        Effect.asVoid(events.slice(run(number), { afterSeq: number }, 500)),
        Effect.asVoid(states.current(run(number))),
        Effect.asVoid(states.head(run(number))),
        Effect.asVoid(resolve(run(number))),
        Effect.asVoid(inTurn(another))
      ]).flat()
      yield* openAll(opened, latch)
      assert.strictEqual(counts.reads, opened.length)
      assert.strictEqual(counts.most, streamReadsAt(POOL))
    }).pipe(Effect.provide(layer))
  })

  it("have at least one connection", () => {
    assert.deepStrictEqual([1, 3, 8, 20].map(streamReadsAt), [1, 1, 2, 5])
  })
})
