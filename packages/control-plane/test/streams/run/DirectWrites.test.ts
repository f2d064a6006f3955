import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { detachedConnection, type SseConnection } from "../../../src/streams/SseConnection.ts"
import { MemoryLog } from "../MemoryLog.ts"
import { collect, eventIndexes, type Frame, framesOf, openFollower, options } from "./OpenFollower.ts"

// docs/reference/streams.md#one-write
describe("the stream of a run that waits", () => {
  it.effect("writes batches to a ready socket, and sends their snapshot later", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(1)
      const written: Array<Frame> = []
      const connection: SseConnection = {
        ...detachedConnection,
        tryWrite: ({ bytes }) => {
          written.push(...framesOf(bytes))
          return true
        }
      }
      const { next, publish } = yield* openFollower(log, { connection })
      yield* next
      const waiting = yield* Effect.forkChild(collect(next), { startImmediately: true })
      publish(log.commit(2))
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      publish(log.commit(1))
      assert.deepStrictEqual(eventIndexes(written), [2, 3, 4])
      yield* TestClock.adjust(options.snapshotIntervalMs)
      // The stream itself sends the end of the run.
      publish(log.commit(1, "completed"))
      const frames = yield* Fiber.join(waiting)
      assert.deepStrictEqual(
        frames.map(({ event, index }) => [event, index]),
        [
          ["snapshot", 4],
          ["canonical_event", 5],
          ["snapshot", 5]
        ]
      )
      assert.lengthOf(written, 3)
    })
  )

  const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))
  const socketStep = Schema.Union([
    Schema.Struct({ do: Schema.tag("commit"), count }),
    Schema.Struct({ do: Schema.Literals(["publish", "publish", "publish", "lose", "pass", "pass", "stall", "flow"]) })
  ])

  it.effect.prop(
    "sends the same events through a socket that is ready at times",
    [Schema.Array(socketStep).check(Schema.isMaxLength(60)), Schema.Literals(["all", "first"])],
    ([steps, snapshots]) =>
      Effect.gen(function* () {
        const log = new MemoryLog()
        log.commit(1)
        const frames: Array<Frame> = []
        const flowing = yield* Latch.make(true)
        let isFlowing = true
        const connection: SseConnection = {
          ...detachedConnection,
          tryWrite: ({ bytes }) => {
            if (isFlowing) frames.push(...framesOf(bytes))
            return isFlowing
          }
        }
        const { next, publish } = yield* openFollower(log, { connection, snapshots })
        const unpublished: Array<ReturnType<MemoryLog["commit"]>> = []
        const writer = Effect.gen(function* () {
          while (true) {
            const bytes = yield* Effect.orDie(next)
            if (bytes === undefined) return
            yield* flowing.await
            frames.push(...framesOf(bytes))
          }
        })
        const writing = yield* Effect.forkChild(writer, { startImmediately: true })
        for (const step of steps) {
          const oldest = step.do === "publish" || step.do === "lose" ? unpublished.shift() : undefined
          if (step.do === "commit") unpublished.push(log.commit(step.count))
          if (step.do === "publish" && oldest !== undefined) publish(oldest)
          if (step.do === "lose" && oldest !== undefined) publish({ _tag: "Gap" })
          if (step.do === "pass") yield* TestClock.adjust(30)
          isFlowing = step.do === "flow" || (isFlowing && step.do !== "stall")
          if (isFlowing) yield* flowing.open
          else yield* flowing.close
        }
        isFlowing = true
        yield* flowing.open
        publish(log.commit(1, "completed"))
        yield* TestClock.adjust(options.snapshotIntervalMs)
        yield* Fiber.join(writing)
        assert.deepStrictEqual(
          eventIndexes(frames),
          Array.from({ length: log.events.length - 1 }, (_, position) => 2 + position)
        )
        for (const [position, { event, index }] of frames.entries()) {
          if (event === "snapshot" && position > 0)
            assert.isAtMost(index, eventIndexes(frames.slice(0, position)).at(-1) ?? 0)
        }
        if (snapshots === "all") assert.deepStrictEqual(frames.at(-1), { event: "snapshot", index: log.events.length })
      }),
    { arbitrary: { runs: 300, size: 60 } }
  )
})
