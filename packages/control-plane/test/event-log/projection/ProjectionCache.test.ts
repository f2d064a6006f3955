import { assert, describe, it } from "@effect/vitest"
import { emptyRunMetrics, emptyRunState, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { ErasedRuns } from "../../../src/event-log/ErasedRuns.ts"
import { EventRepository } from "../../../src/event-log/EventRepository.ts"
import { NO_CHECKPOINT } from "../../../src/event-log/projection/Checkpoint.ts"
import { ProjectionCache } from "../../../src/event-log/projection/ProjectionCache.ts"
import { ProjectionRows } from "../../../src/event-log/projection/ProjectionRows.ts"
import { ProjectionSettings } from "../../../src/event-log/projection/ProjectionSettings.ts"

const runOf = (number: number) => RunId.make(`00000000-0000-4000-8000-${String(number).padStart(12, "0")}`)
const positionOf = (number: number) => ({ runId: runOf(number), lastSeq: 1, revision: 0 })

/** Room for a hundred runs. */
const layer = ProjectionCache.layer.pipe(
  Layer.provide([Layer.mock(EventRepository, {}), Layer.mock(ProjectionRows, {}), ErasedRuns.layer]),
  Layer.provide(Layer.succeed(ProjectionSettings, { lagEvents: 1, lagMs: 1, cacheBytes: 500_000 }))
)

/** Remembers these runs, each of which takes 5,000 bytes. */
const remember = (from: number, to: number) =>
  ProjectionCache.use((cache) =>
    Effect.sync(() => {
      for (let number = from; number < to; number++) {
        const projected = { state: emptyRunState(runOf(number)), metrics: emptyRunMetrics(runOf(number)) }
        const run = { projected, checkpoint: NO_CHECKPOINT, stateBytes: 1_000, participants: new Set<string>() }
        cache.put(positionOf(number), run)
      }
    })
  )
const remembered = ProjectionCache.use((cache) =>
  Effect.sync(() =>
    Array.from({ length: 200 }, (_, number) => number).filter((number) => cache.get(positionOf(number)))
  )
)
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, position) => from + position)

// docs/reference/events.md#checkpoint
describe("what a process remembers of the runs that it has written", () => {
  it.effect("are the last ones, within its bytes", () =>
    Effect.gen(function* () {
      yield* remember(0, 120)
      assert.deepStrictEqual(yield* remembered, numbers(20, 120))
    }).pipe(Effect.provide(layer))
  )

  it.effect("of runs that are quiet takes a quarter of its bytes, and those that are not stay", () =>
    Effect.gen(function* () {
      yield* remember(0, 60)
      yield* TestClock.adjust("20 seconds")
      yield* remember(60, 70)
      yield* remember(0, 5)
      yield* TestClock.adjust("9 seconds")
      assert.lengthOf(yield* remembered, 70)
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(yield* remembered, [...numbers(0, 5), ...numbers(50, 70)])
      yield* remember(70, 100)
      yield* TestClock.adjust("25 seconds")
      assert.deepStrictEqual(yield* remembered, numbers(70, 100))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* remembered, numbers(75, 100))
    }).pipe(Effect.provide(layer))
  )
})
