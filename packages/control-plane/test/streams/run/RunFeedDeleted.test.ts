import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { BACKFILL_PAGE, makeRunFeed } from "../../../src/streams/run/RunFeed.ts"
import { MEMORY_RUN, MemoryLog } from "../../support/MemoryLog.ts"
import { framesOf, options } from "./FeedFrames.ts"

describe("the feed of a run that is deleted", () => {
  it.effect("ends when all of the ended run is sent, and fails before", () =>
    Effect.gen(function* () {
      for (const afterSeq of [undefined, 0]) {
        const log = new MemoryLog()
        log.commit(BACKFILL_PAGE + 1, "completed")
        const { sources, tell } = yield* log.sources
        const next = yield* makeRunFeed(MEMORY_RUN, { ...options, afterSeq }, sources)
        yield* next
        log.deleted = true
        tell({ _tag: "Gap" })
        const end = yield* Effect.result(next)
        assert.strictEqual(end._tag, afterSeq === undefined ? "Success" : "Failure")
      }
    })
  )

  it.effect("fails while the end of the run is not sent, reading and waiting", () =>
    Effect.gen(function* () {
      for (const during of ["reading", "a gap", "a heartbeat"] as const) {
        const log = new MemoryLog()
        log.commit(BACKFILL_PAGE + 1)
        const { sources, tell } = yield* log.sources
        const afterSeq = during === "reading" ? 0 : undefined
        const next = yield* makeRunFeed(MEMORY_RUN, { ...options, afterSeq, heartbeatMs: 1_000 }, sources)
        yield* next
        if (during === "reading") assert.lengthOf(framesOf((yield* next) ?? new Uint8Array()), BACKFILL_PAGE)
        log.deleted = true
        const failing = yield* Effect.forkChild(Effect.flip(next), { startImmediately: true })
        if (during === "a gap") tell({ _tag: "Gap" })
        if (during === "a heartbeat") yield* TestClock.adjust(1_000)
        assert.strictEqual((yield* Fiber.join(failing))._tag, "RunGone")
      }
    })
  )
})
