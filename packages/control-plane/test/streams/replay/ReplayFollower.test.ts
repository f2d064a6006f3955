import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { StoredEvent } from "../../../src/event-log/EventRepository.ts"
import { follow, neverReady } from "../../../src/streams/FollowerLoop.ts"
import { openReplay, type ReplayTarget } from "../../../src/streams/FollowerState.ts"
import { replaySource } from "../../../src/streams/replay/Replay.ts"
import { MEMORY_RUN } from "../MemoryLog.ts"
import { bytesOf } from "../run/OpenFollower.ts"

const epoch = Date.parse("2026-07-01T10:00:00.000Z")

/** Events with the seqs 10, 20, 30, ... at these milliseconds. */
const logOf = (...times: ReadonlyArray<number>): ReadonlyArray<StoredEvent> =>
  times.map((time, index) => {
    const seq = (index + 1) * 10
    return { seq, index: index + 1, json: JSON.stringify({ seq, ts: new Date(epoch + time).toISOString() }) }
  })

const BATCH_SIZE = 2
const whole = { mode: "timed", speed: 1, fromSeq: 1, toSeq: 1_000_000 }

/** Replays a log and records the seq and the time of each event, in milliseconds, and the reads of pages. */
const replay = (log: ReadonlyArray<StoredEvent>, options: Partial<typeof whole>) => {
  const sent: Array<readonly [seq: number, at: number]> = []
  const reads: Array<number> = []
  const readPage = (afterSeq: number) =>
    Effect.sync(() => {
      reads.push(afterSeq)
      return { events: log.filter((event) => event.seq > afterSeq).slice(0, BATCH_SIZE), isCut: false }
    })
  const { fromSeq, mode, speed } = { ...whole, ...options }
  const target: ReplayTarget = {
    _tag: "Replay",
    runId: MEMORY_RUN,
    toSeq: Math.min(options.toSeq ?? whole.toSeq, log.at(-1)?.seq ?? 0),
    speed: mode === "timed" ? speed : undefined,
    maxDelayMs: 2_000
  }
  const run = Effect.gen(function* () {
    const source = replaySource(readPage, Effect.never)
    const next = bytesOf(yield* follow(openReplay(target, fromSeq), source, neverReady))
    for (let bytes = yield* next; bytes !== undefined; bytes = yield* next) {
      const at = yield* Clock.currentTimeMillis
      const text = Buffer.from(bytes).toString()
      for (const [, id] of text.matchAll(/^event: canonical_event\nid: (\d+)\ndata: \{.*\}\n\n/gm)) {
        sent.push([Number(id), at])
      }
    }
  })
  return { run: Effect.scoped(run), sent, reads }
}

it.effect("keeps the pauses between events, also across pages", () =>
  Effect.gen(function* () {
    const { run, sent } = replay(logOf(0, 100, 100, 700), {})
    const running = yield* Effect.forkChild(run)
    yield* TestClock.adjust(99)
    assert.deepStrictEqual(sent, [[10, 0]])
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(sent.slice(1), [
      [20, 100],
      [30, 100]
    ])
    yield* TestClock.adjust(600)
    assert.deepStrictEqual(sent.at(-1), [40, 700])
    yield* Fiber.join(running)
  })
)

it.effect("divides the pauses by the speed", () =>
  Effect.gen(function* () {
    const fast = replay(logOf(0, 100, 700), { speed: 10 })
    const slow = replay(logOf(0, 100, 150), { speed: 0.1 })
    const running = yield* Effect.forkChild(Effect.all([fast.run, slow.run], { concurrency: 2 }))
    yield* TestClock.adjust(10_000)
    yield* Fiber.join(running)
    assert.deepStrictEqual(fast.sent, [
      [10, 0],
      [20, 10],
      [30, 70]
    ])
    assert.deepStrictEqual(slow.sent, [
      [10, 0],
      [20, 1_000],
      [30, 1_500]
    ])
  })
)

it.effect("pauses no longer than the limit, and not at all where time goes back", () =>
  Effect.gen(function* () {
    const { run, sent } = replay(logOf(0, 3_600_000, 0, 50), {})
    const running = yield* Effect.forkChild(run)
    yield* TestClock.adjust(1_999)
    assert.lengthOf(sent, 1)
    yield* TestClock.adjust(100)
    yield* Fiber.join(running)
    assert.deepStrictEqual(sent, [
      [10, 0],
      [20, 2_000],
      [30, 2_000],
      [40, 2_050]
    ])
  })
)

for (const mode of ["instant", "step"] as const) {
  it.effect(`sends everything without a pause in mode ${mode}`, () =>
    Effect.gen(function* () {
      const { run, sent } = replay(logOf(0, 5_000, 90_000, 90_001, 100_000), { mode })
      yield* run
      assert.deepStrictEqual(
        sent,
        [10, 20, 30, 40, 50].map((seq) => [seq, 0] as const)
      )
    })
  )
}

for (const [fromSeq, toSeq, expected] of [
  [20, 40, [20, 30, 40]],
  [11, 39, [20, 30]],
  [30, 30, [30]],
  [31, 39, []],
  [40, 20, []],
  [60, 70, []]
] as const) {
  it.effect(`sends the seqs from ${fromSeq} to ${toSeq}, both included`, () =>
    Effect.gen(function* () {
      for (const mode of ["instant", "timed"] as const) {
        const { run, sent } = replay(logOf(0, 0, 0, 0, 0), { mode, fromSeq, toSeq })
        yield* run
        assert.deepStrictEqual(
          sent.map(([seq]) => seq),
          [...expected]
        )
      }
    })
  )
}

for (const mode of ["instant", "timed"] as const) {
  it.effect(`fails when the log ends before its end, because the run is deleted (${mode})`, () =>
    Effect.gen(function* () {
      const log = [...logOf(0, 0, 0, 0, 0)]
      const { run, sent } = replay(log, { mode })
      log.splice(4)
      const failure = yield* Effect.flip(run)
      assert.strictEqual(failure._tag, "RunGone")
      assert.lengthOf(sent, 4)
    })
  )
}

it.effect("reads a page when the events before it have been taken, and none after the last", () =>
  Effect.gen(function* () {
    const { reads, run } = replay(logOf(0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000), { toSeq: 50 })
    const running = yield* Effect.forkChild(run)
    yield* TestClock.adjust(500)
    assert.deepStrictEqual(reads, [0])
    yield* TestClock.adjust(1_500)
    assert.deepStrictEqual(reads, [0, 20])
    yield* TestClock.adjust(10_000)
    yield* Fiber.join(running)
    assert.deepStrictEqual(reads, [0, 20, 40])
  })
)
