import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { AgentSlots } from "../../src/agents/AgentSlots.ts"
import { LaunchPressure } from "../../src/common/LaunchPressure.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

const make = Effect.fnUntraced(function* (options: LauncherOptions = {}) {
  const layer = AgentSlots.layer.pipe(
    Layer.provideMerge(LaunchPressure.layer),
    Layer.provide(settingsLayer({ maxAgents: 4, maxWaitingLaunches: 2, queueTimeoutMs: 10_000, ...options })),
    Layer.provide(memoryFiles({}))
  )
  const context = yield* Layer.build(layer)
  const slots = Context.get(context, AgentSlots)
  const acquire = (agents: number, sessionId: string) =>
    slots.acquire(agents, { sessionId, scenarioRef: "a/b@1" }).pipe(Effect.forkChild, Effect.tap(Effect.yieldNow))
  const queued = Effect.map(slots.queue, ({ waiting }) => waiting.map(({ sessionId }) => sessionId))
  return { queued, pressure: Context.get(context, LaunchPressure), slots, acquire }
})

describe("slots for agents", () => {
  it.effect("are acquired in the order of the requests, and a launch that waited gets its position and its time", () =>
    Effect.gen(function* () {
      const { queued, pressure, slots, acquire } = yield* make()
      const first = yield* Fiber.join(yield* acquire(3, "first"))
      assert.isUndefined(first.waited)
      const second = yield* acquire(2, "second")
      // It would fit, but others wait already.
      const third = yield* acquire(1, "third")
      assert.deepStrictEqual(yield* queued, ["second", "third"])
      assert.strictEqual(pressure.waiting, 2)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* slots.queue, {
        agents: { running: 3, limit: 4 },
        limit: 2,
        waiting: [
          { position: 1, sessionId: "second", scenarioRef: "a/b@1", agents: 2, waitingMs: 2_000 },
          { position: 2, sessionId: "third", scenarioRef: "a/b@1", agents: 1, waitingMs: 2_000 }
        ]
      })
      yield* first.release(1)
      const { release, waited } = yield* Fiber.join(second)
      assert.deepStrictEqual(waited, { position: 1, waitedMs: 2_000 })
      assert.deepStrictEqual(yield* queued, ["third"])
      yield* release(2)
      assert.deepStrictEqual((yield* Fiber.join(third)).waited, { position: 2, waitedMs: 2_000 })
      assert.strictEqual(pressure.waiting, 0)
      assert.strictEqual((yield* slots.queue).agents.running, 3)
    })
  )

  it.effect("fail when the queue is full, and after the time for waiting, with the position", () =>
    Effect.gen(function* () {
      const { queued, acquire } = yield* make()
      yield* Fiber.join(yield* acquire(4, "first"))
      const waiting = [yield* acquire(1, "second"), yield* acquire(1, "third")]
      const refused = yield* Effect.flip(Fiber.join(yield* acquire(1, "fourth")))
      assert.strictEqual(
        refused.message,
        "no free slots for the agents of another launch: 4 agents run and 2 launches wait already"
      )
      assert.deepStrictEqual(refused.metadata, { position: 2 })
      yield* TestClock.adjust("10 seconds")
      const late = yield* Effect.flip(Fiber.join(waiting[1] ?? waiting[0] ?? (yield* acquire(1, "none"))))
      assert.match(late.message, /: still at position [12] after 10000 ms$/)
      assert.deepStrictEqual(yield* queued, [])
    })
  )

  it.effect("go to the next launch when one that waits is interrupted", () =>
    Effect.gen(function* () {
      const { slots, acquire } = yield* make()
      yield* Fiber.join(yield* acquire(3, "first"))
      const second = yield* acquire(2, "second")
      const third = yield* acquire(1, "third")
      yield* Fiber.interrupt(second)
      assert.deepStrictEqual((yield* Fiber.join(third)).waited, { position: 2, waitedMs: 0 })
      assert.strictEqual((yield* slots.queue).agents.running, 4)
    })
  )

  it.effect("never suffice for more agents than there may be", () =>
    Effect.gen(function* () {
      const { acquire } = yield* make()
      const error = yield* Effect.flip(Fiber.join(yield* acquire(5, "first")))
      assert.strictEqual(error.message, "the launch needs 5 agents, and EXAMPLE_AGENT_MAX_PROCESSES allows 4")
    })
  )
})
