import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { makeRunFeed } from "../../../src/streams/run/RunFeed.ts"
import { passiveClient, type StreamClient } from "../../../src/streams/run/StreamClient.ts"
import { MEMORY_RUN, MemoryLog } from "../../support/MemoryLog.ts"
import { collect, eventIndexes, type Frame, framesOf, options } from "./FeedFrames.ts"

// docs/reference/http.md#one-write
describe("the feed of a run, while it waits", () => {
  it.effect("hands batches to a client that takes them while it waits, and still owes their snapshot", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(1)
      const { sources, tell } = yield* log.sources
      const taken: Array<Frame> = []
      const client: StreamClient = {
        ...passiveClient,
        take: ({ bytes }) => {
          taken.push(...framesOf(bytes))
          return true
        }
      }
      const next = Effect.orDie(yield* makeRunFeed(MEMORY_RUN, options, { ...sources, client }))
      yield* next
      const waiting = yield* Effect.forkChild(collect(next), { startImmediately: true })
      tell(log.commit(2))
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      tell(log.commit(1))
      assert.deepStrictEqual(eventIndexes(taken), [2, 3, 4])
      yield* TestClock.adjust(options.snapshotIntervalMs)
      // Nothing is waited for but the end, which the feed itself has to see.
      tell(log.commit(1, "completed"))
      const frames = yield* Fiber.join(waiting)
      assert.deepStrictEqual(
        frames.map(({ event, index }) => [event, index]),
        [
          ["snapshot", 4],
          ["canonical_event", 5],
          ["snapshot", 5]
        ]
      )
      assert.lengthOf(taken, 3)
    })
  )

  const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
  const socketStep = Schema.Union([
    Schema.Struct({ do: Schema.tag("commit"), count }),
    Schema.Struct({ do: Schema.Literals(["tell", "tell", "tell", "lose", "pass", "pass", "stall", "flow"]) })
  ])

  it.effect.prop(
    "sends the same to a client that is handed batches by itself whenever its connection is free",
    [Schema.Array(socketStep).check(Schema.isMaxLength(60)), Schema.Literals(["all", "first"])],
    ([steps, snapshots]) =>
      Effect.gen(function* () {
        const log = new MemoryLog()
        log.commit(1)
        const { sources, tell } = yield* log.sources
        const frames: Array<Frame> = []
        const flowing = yield* Latch.make(true)
        let isFlowing = true
        const client: StreamClient = {
          ...passiveClient,
          take: ({ bytes }) => {
            if (isFlowing) frames.push(...framesOf(bytes))
            return isFlowing
          }
        }
        const next = yield* makeRunFeed(MEMORY_RUN, { ...options, snapshots }, { ...sources, client })
        const untold: Array<ReturnType<MemoryLog["commit"]>> = []
        const writer = Effect.gen(function* () {
          while (true) {
            const bytes = yield* Effect.orDie(next)
            if (bytes === undefined) return
            yield* flowing.await
            frames.push(...framesOf(bytes))
          }
        })
        const written = yield* Effect.forkChild(writer, { startImmediately: true })
        for (const step of steps) {
          const oldest = step.do === "tell" || step.do === "lose" ? untold.shift() : undefined
          if (step.do === "commit") untold.push(log.commit(step.count))
          if (step.do === "tell" && oldest !== undefined) tell(oldest)
          if (step.do === "lose" && oldest !== undefined) tell({ _tag: "Gap" })
          if (step.do === "pass") yield* TestClock.adjust(30)
          isFlowing = step.do === "flow" || (isFlowing && step.do !== "stall")
          if (isFlowing) yield* flowing.open
          else yield* flowing.close
        }
        isFlowing = true
        yield* flowing.open
        tell(log.commit(1, "completed"))
        yield* TestClock.adjust(options.snapshotIntervalMs)
        yield* Fiber.join(written)
        assert.deepStrictEqual(
          eventIndexes(frames),
          Array.from({ length: log.events.length - 1 }, (_, place) => 2 + place)
        )
        for (const [place, { event, index }] of frames.entries()) {
          if (event === "snapshot" && place > 0)
            assert.isAtMost(index, eventIndexes(frames.slice(0, place)).at(-1) ?? 0)
        }
        if (snapshots === "all") assert.deepStrictEqual(frames.at(-1), { event: "snapshot", index: log.events.length })
      }),
    { arbitrary: { runs: 300, size: 60 } }
  )
})
