import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { EventRepository, type EventSlice } from "../../../src/event-log/EventRepository.ts"
import { RunStateReader } from "../../../src/event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../../src/event-log/runs/RunRepository.ts"
import { streamReadsAt } from "../../../src/platform/postgres/PoolUse.ts"
import { StreamReads } from "../../../src/streams/run/StreamReads.ts"

const POOL = 8

/** A database that answers when it is let, and counts what it is asked at a time. */
const database = () => {
  const latch = Latch.makeUnsafe(false)
  const counts = { reads: 0, atOnce: 0, most: 0 }
  const asked = <A>(answer: () => A) =>
    Effect.suspend(() => {
      counts.reads++
      counts.atOnce++
      counts.most = Math.max(counts.most, counts.atOnce)
      return Effect.andThen(
        latch.await,
        Effect.sync(() => {
          counts.atOnce--
          return answer()
        })
      )
    })
  const layer = StreamReads.layer.pipe(
    Layer.provide([
      Layer.mock(EventRepository, { slice: () => asked((): EventSlice => ({ events: [], isLast: true })) }),
      Layer.mock(RunRepository, { resolve: () => asked(() => undefined) }),
      Layer.mock(RunStateReader, { current: () => asked(() => undefined), head: () => asked(() => undefined) }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { DB_POOL_MAX: String(POOL) } }))
    ])
  )
  return { another: asked(() => undefined), counts, latch, layer }
}

const run = (place: number) => RunId.make(`0197c0de-6f0a-7c53-9a56-${String(place).padStart(12, "0")}`)

const openAll = <A, E>(opened: ReadonlyArray<Effect.Effect<A, E>>, latch: Latch.Latch) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.all(opened, { concurrency: "unbounded" }))
    yield* Effect.repeat(Effect.yieldNow, { times: 50 })
    yield* latch.open
    return yield* Fiber.join(fiber)
  })

// docs/reference/http.md#stream-reads
describe("what streams read", () => {
  it.effect("is read once for all that want the same page of a run at the same time", () => {
    const { counts, latch, layer } = database()
    return Effect.gen(function* () {
      const { events } = yield* StreamReads
      const first = yield* Effect.forkChild(events.slice(run(1), { afterSeq: 0 }, 500))
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      const others = Array.from({ length: 300 }, () => events.slice(run(1), { afterSeq: 0 }, 500))
      const pages = yield* openAll(others, latch)
      yield* Fiber.join(first)
      // Who came while the first read was under way is not answered with what it had read before.
      assert.strictEqual(counts.reads, 2)
      assert.strictEqual(new Set(pages).size, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("takes a share of the pool and no more, whatever is read", () => {
    const { another, counts, latch, layer } = database()
    return Effect.gen(function* () {
      const { events, inTurn, resolve, states } = yield* StreamReads
      const opened = Array.from({ length: 40 }, (_, place) => [
        Effect.asVoid(events.slice(run(place), { afterSeq: place }, 500)),
        Effect.asVoid(states.current(run(place))),
        Effect.asVoid(states.head(run(place))),
        Effect.asVoid(resolve(run(place))),
        Effect.asVoid(inTurn(another))
      ]).flat()
      yield* openAll(opened, latch)
      assert.strictEqual(counts.reads, opened.length)
      assert.strictEqual(counts.most, streamReadsAt(POOL))
    }).pipe(Effect.provide(layer))
  })

  it("may always read something", () => {
    assert.deepStrictEqual([1, 3, 8, 20].map(streamReadsAt), [1, 1, 2, 5])
  })
})
