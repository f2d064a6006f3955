import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { BACKFILL_PAGE } from "../../../src/streams/run/RunStream.ts"
import { MemoryLog } from "../MemoryLog.ts"
import { framesOf, openFollower } from "./OpenFollower.ts"

describe("the stream of a run that is deleted", () => {
  it.effect("ends when all of the ended run is sent, and fails before", () =>
    Effect.gen(function* () {
      for (const afterSeq of [undefined, 0]) {
        const log = new MemoryLog()
        log.commit(BACKFILL_PAGE + 1, "completed")
        const { next, publish } = yield* openFollower(log, { afterSeq })
        yield* next
        log.deleted = true
        publish({ _tag: "Gap" })
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
        const afterSeq = during === "reading" ? 0 : undefined
        const { next, publish } = yield* openFollower(log, { afterSeq, heartbeatMs: 1_000 })
        yield* next
        if (during === "reading") assert.lengthOf(framesOf(yield* next), BACKFILL_PAGE)
        log.deleted = true
        const failing = yield* Effect.forkChild(Effect.flip(next), { startImmediately: true })
        if (during === "a gap") publish({ _tag: "Gap" })
        if (during === "a heartbeat") yield* TestClock.adjust(1_000)
        assert.strictEqual((yield* Fiber.join(failing))._tag, "RunGone")
      }
    })
  )
})
