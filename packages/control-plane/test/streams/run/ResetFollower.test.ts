import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { RunOptions } from "../../../src/streams/FollowerState.ts"
import { BACKFILL_PAGE } from "../../../src/streams/run/RunStream.ts"
import { MemoryLog } from "../MemoryLog.ts"
import { type Frame, framesOf, openFollower } from "./OpenFollower.ts"

const opened = Effect.fnUntraced(function* (log: MemoryLog, over: Partial<RunOptions>) {
  const { next, publish } = yield* openFollower(log, over)
  return { frames: Effect.orDie(Effect.map(next, framesOf)), publish }
})

const named = (frames: ReadonlyArray<Frame>) => frames.map(({ event, index }) => `${event} ${index}`)

// docs/reference/streams.md#reset
describe("the stream of a run whose log ends before the cursor", () => {
  for (const over of [{}, { includeSnapshot: false }, { snapshots: "first" }] satisfies ReadonlyArray<
    Partial<RunOptions>
  >) {
    it.effect(`begins with a reset and a snapshot, and continues live (${JSON.stringify(over)})`, () =>
      Effect.gen(function* () {
        const log = new MemoryLog()
        log.commit(3)
        const { frames, publish } = yield* opened(log, { ...over, afterSeq: log.head.lastSeq + 1 })
        assert.deepStrictEqual(named(yield* frames), ["reset 3", "snapshot 3"])
        const live = yield* Effect.forkChild(frames, { startImmediately: true })
        publish(log.commit(2))
        assert.deepStrictEqual(named(yield* Fiber.join(live)), ["canonical_event 4", "canonical_event 5"])
      })
    )
  }

  it.effect("begins again when the log is restored while it is open", () =>
    Effect.gen(function* () {
      for (const during of ["a gap", "a heartbeat"] as const) {
        const log = new MemoryLog()
        log.commit(BACKFILL_PAGE)
        const { frames, publish } = yield* opened(log, { heartbeatMs: 1_000 })
        assert.deepStrictEqual(named(yield* frames), [`snapshot ${BACKFILL_PAGE}`])
        log.events.splice(2)
        const reset = yield* Effect.forkChild(frames, { startImmediately: true })
        if (during === "a gap") publish({ _tag: "Gap" })
        else yield* TestClock.adjust(1_000)
        assert.deepStrictEqual(named(yield* Fiber.join(reset)), ["reset 2", "snapshot 2"])
        const live = yield* Effect.forkChild(frames, { startImmediately: true })
        publish(log.commit(1))
        assert.deepStrictEqual(named(yield* Fiber.join(live)), ["canonical_event 3"])
      }
    })
  )

  it.effect("is not reset by a read that began before its last event was committed", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(2)
      const { frames, publish } = yield* opened(log, { heartbeatMs: 1_000, snapshots: "first" })
      yield* frames
      publish(log.commit(1))
      yield* frames
      log.staleHeads = 1
      const beat = yield* Effect.forkChild(frames, { startImmediately: true })
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(named(yield* Fiber.join(beat)), ["heartbeat 3"])
    })
  )
})
