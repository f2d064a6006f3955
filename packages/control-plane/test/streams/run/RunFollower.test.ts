import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { BACKFILL_PAGE } from "../../../src/streams/run/RunStream.ts"
import { batchFrames } from "../../../src/streams/SseFrames.ts"
import { MemoryLog } from "../MemoryLog.ts"
import { collect, eventIndexes, type Frame, framesOf, openFollower, snapshotIndexes } from "./OpenFollower.ts"

const opened = Effect.fnUntraced(function* (...of: Parameters<typeof openFollower>) {
  const { next, publish } = yield* openFollower(...of)
  return { next: Effect.orDie(next), publish }
})

describe("the stream of a run", () => {
  it.effect("sends the next batch as the bytes that all subscribers share", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(3)
      const { next, publish } = yield* opened(log)
      yield* next
      const batch = log.commit(2)
      publish(batch)
      assert.strictEqual(yield* next, batchFrames(batch).bytes)
      assert.strictEqual(log.pagesRead, 0)
    })
  )

  it.effect("sends only the new events of a batch that overlaps", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(2)
      const { next, publish } = yield* opened(log)
      yield* next
      const early = log.commit(2)
      publish(early)
      yield* next
      const late = log.commit(1, "cancelled")
      // One batch of all three events, as when two appends of a run share a transaction.
      publish({ ...late, events: [...early.events, ...late.events] })
      assert.deepStrictEqual(eventIndexes(yield* collect(next)), [5])
    })
  )

  it.effect("reads one page for each read of the client", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(3 * BACKFILL_PAGE)
      const { next, publish } = yield* opened(log, { afterSeq: 0 })
      yield* next
      for (let batch = 0; batch < 100; batch++) publish(log.commit(1))
      assert.strictEqual(log.pagesRead, 0)
      const page = framesOf(yield* next)
      assert.lengthOf(page, BACKFILL_PAGE)
      assert.strictEqual(log.pagesRead, 1)
    })
  )

  it.effect("ends with the service, from each of its waits", () =>
    Effect.gen(function* () {
      for (const isAway of [false, true]) {
        const log = new MemoryLog()
        log.commit(3)
        const shutdown = yield* Deferred.make<void>()
        const ended = Deferred.await(shutdown)
        const { next, publish } = yield* opened(log, { heartbeatMs: 3_600_000, ended })
        yield* next
        log.away = isAway
        if (isAway) publish({ _tag: "Gap" })
        const last = yield* Effect.forkChild(next, { startImmediately: true })
        yield* Effect.yieldNow
        assert.isUndefined(last.pollUnsafe())
        yield* Deferred.succeed(shutdown, undefined)
        assert.isUndefined(yield* Fiber.join(last))
      }
    })
  )

  it.effect("reads the events that an index jump skips", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      const { next, publish } = yield* opened(log)
      yield* next
      log.commit(4)
      publish(log.commit(1, "cancelled"))
      const frames = yield* collect(next)
      assert.deepStrictEqual(eventIndexes(frames), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(snapshotIndexes(frames), [5])
    })
  )

  it.effect("sends heartbeats on time, also between events", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(2)
      const { next, publish } = yield* opened(log, { heartbeatMs: 1_000, includeSnapshot: false })
      const first = yield* Effect.forkChild(next)
      yield* TestClock.adjust(1_000)
      const bytes = yield* Fiber.join(first)
      assert.include(
        new TextDecoder().decode(bytes),
        `event: heartbeat\ndata: {"ts":"1970-01-01T00:00:01.000Z","seq":6,"index":2}\n\n`
      )
      // Events do not starve the heartbeat.
      yield* TestClock.adjust(1_500)
      publish(log.commit(1))
      publish(log.commit(1))
      const frames = [...framesOf(yield* next), ...framesOf(yield* next)]
      assert.include(
        frames.map((frame) => frame.event),
        "heartbeat"
      )
    })
  )

  it.effect("finds unpublished events at a heartbeat, and sends them first", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(1)
      const { next } = yield* opened(log, { heartbeatMs: 1_000, includeSnapshot: false })
      log.commit(2)
      const waiting = yield* Effect.forkChild(Effect.all([next, next, next]))
      yield* TestClock.adjust(1_000)
      const frames = (yield* Fiber.join(waiting)).flatMap((bytes) => framesOf(bytes))
      assert.deepStrictEqual(frames, [
        { event: "canonical_event", index: 2 },
        { event: "canonical_event", index: 3 },
        { event: "heartbeat", index: 3 },
        { event: "snapshot", index: 3 }
      ])
    })
  )

  it.effect("sends heartbeats while the database is away, and reads when it is back", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(1)
      const { next, publish } = yield* opened(log, { heartbeatMs: 1_000, includeSnapshot: false })
      log.away = true
      log.commit(2)
      publish({ _tag: "Gap" })
      const beating = yield* Effect.forkChild(Effect.all(Array.from({ length: 30 }, () => next)))
      yield* TestClock.adjust(30_000)
      const beats = (yield* Fiber.join(beating)).flatMap((bytes) => framesOf(bytes))
      assert.deepStrictEqual(
        beats,
        Array.from({ length: 30 }, () => ({ event: "heartbeat", index: 1 }))
      )
      log.away = false
      log.commit(0, "cancelled")
      const last = yield* Effect.forkChild(collect(next))
      yield* TestClock.adjust(3_000)
      const frames = yield* Fiber.join(last)
      assert.deepStrictEqual(eventIndexes(frames), [2, 3])
      assert.deepStrictEqual(snapshotIndexes(frames), [3])
    })
  )

  it.effect("ends after the event that ends the run, and stays open for a run that had ended before", () =>
    Effect.gen(function* () {
      const running = new MemoryLog()
      running.commit(1)
      const live = yield* opened(running)
      live.publish(running.commit(1, "failed"))
      const frames = yield* collect(live.next)
      assert.deepStrictEqual(frames.at(-1), { event: "snapshot", index: 2 })

      const ended = yield* opened(running)
      yield* ended.next
      const beat = yield* Effect.forkChild(ended.next)
      yield* TestClock.adjust(15_000)
      assert.strictEqual(framesOf(yield* Fiber.join(beat))[0]?.event, "heartbeat")
    })
  )

  it.effect("sends all events of a run that ends between two reads of the database", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(2)
      const { next, publish } = yield* opened(log)
      yield* next
      log.commit(1)
      log.afterPage = () => {
        log.afterPage = () => {}
        log.commit(2, "failed")
      }
      publish({ _tag: "Gap" })
      const frames = yield* collect(next)
      assert.deepStrictEqual(eventIndexes(frames), [3, 4, 5])
      assert.deepStrictEqual(frames.at(-1), { event: "snapshot", index: 5 })
    })
  )

  it.effect("sends one snapshot for each interval, of the last batch, and encodes no other", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      const { next, publish } = yield* opened(log)
      yield* next
      const frames: Array<Frame> = []
      const pulling = yield* Effect.forkChild(
        Effect.forever(Effect.map(next, (bytes) => void frames.push(...framesOf(bytes))))
      )
      let made = 0
      for (let count = 0; count < 50; count++) {
        const batch = log.commit(2)
        publish({
          ...batch,
          state: () => {
            made += 1
            return batch.state()
          }
        })
        yield* TestClock.adjust(10)
      }
      yield* TestClock.adjust(200)
      yield* Fiber.interrupt(pulling)
      assert.deepStrictEqual(
        eventIndexes(frames),
        Array.from({ length: 100 }, (_, position) => 1 + position)
      )
      // 100, 200, 300 and 400 ms after the first one, and after the last batch.
      const snapshots = snapshotIndexes(frames)
      assert.lengthOf(snapshots, 5)
      assert.strictEqual(snapshots.at(-1), 100)
      assert.strictEqual(made, snapshots.length)
    })
  )

  it.effect("sends fewer snapshots to each of many clients, and the last one to all", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.audience = { size: 500 }
      const { next, publish } = yield* opened(log)
      yield* next
      const frames: Array<Frame> = []
      yield* Effect.forkChild(Effect.forever(Effect.map(next, (bytes) => void frames.push(...framesOf(bytes)))))
      for (let batch = 0; batch < 150; batch++) {
        publish(log.commit(1))
        yield* TestClock.adjust(10)
      }
      yield* TestClock.adjust(500)
      const snapshots = snapshotIndexes(frames)
      assert.lengthOf(eventIndexes(frames), 150)
      // After 500, 1,000 and 1,500 ms.
      assert.lengthOf(snapshots, 3)
      assert.strictEqual(snapshots.at(-1), 150)
    })
  )

  it.effect("sends no snapshot after the first with snapshots=first, also at the end", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      log.commit(1)
      const { next, publish } = yield* opened(log, { snapshots: "first" })
      publish(log.commit(1))
      publish({ _tag: "Gap" })
      log.commit(2)
      publish({ _tag: "Gap" })
      publish(log.commit(1, "completed"))
      const frames = yield* collect(next)
      assert.deepStrictEqual(snapshotIndexes(frames), [1])
      assert.deepStrictEqual(eventIndexes(frames), [2, 3, 4, 5])
    })
  )

  it.effect("sends a stored snapshot after all its events", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      const { next, publish } = yield* opened(log)
      yield* next
      log.commit(1)
      publish({ _tag: "Gap" })
      const frames = [...framesOf(yield* next)]
      const waiting = yield* Effect.forkChild(Effect.all([next, next]), { startImmediately: true })
      // Committed by another process, and not published yet.
      log.commit(2)
      yield* TestClock.adjust(100)
      frames.push(...(yield* Fiber.join(waiting)).flatMap((bytes) => framesOf(bytes)))
      assert.deepStrictEqual(frames, [
        { event: "canonical_event", index: 1 },
        { event: "canonical_event", index: 2 },
        { event: "canonical_event", index: 3 },
        { event: "snapshot", index: 3 }
      ])
    })
  )

  it.effect("ends when a stored snapshot contains the end of the run before its batch is published", () =>
    Effect.gen(function* () {
      const log = new MemoryLog()
      const { next, publish } = yield* opened(log)
      yield* next
      log.commit(1)
      publish({ _tag: "Gap" })
      yield* next
      const last = yield* Effect.forkChild(collect(next), { startImmediately: true })
      const end = log.commit(2, "cancelled")
      yield* TestClock.adjust(100)
      publish(end)
      yield* TestClock.adjust(100)
      const frames = yield* Fiber.join(last)
      assert.deepStrictEqual(eventIndexes(frames), [2, 3])
      assert.deepStrictEqual(snapshotIndexes(frames), [3])
    })
  )

  const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
  const step = Schema.Union([
    Schema.Struct({ do: Schema.tag("commit"), count: count.check(Schema.isGreaterThan(0)) }),
    Schema.Struct({ do: Schema.Literals(["publish", "publish", "lose", "gap", "pull", "pull", "pull"]) })
  ])
  const script = Schema.Array(step).check(Schema.isMaxLength(60))

  it.effect.prop(
    "misses and repeats no event when batches are late, merged into a gap, or lost",
    [script, count, Schema.NullOr(count)],
    ([steps, before, after]) =>
      Effect.gen(function* () {
        const log = new MemoryLog()
        if (before > 0) log.commit(before)
        const afterSeq = after === null ? undefined : 3 * Math.min(after, before)
        const { next, publish } = yield* opened(log, { afterSeq })
        const unpublished: Array<ReturnType<MemoryLog["commit"]>> = []
        const frames: Array<Frame> = []
        /** Reads once, if frames are available without waiting. */
        const pull = Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(Effect.timeoutOption(next, 1), { startImmediately: true })
          yield* TestClock.adjust(1)
          frames.push(...framesOf(Option.getOrUndefined(yield* Fiber.join(fiber))))
        })
        for (const step of steps) {
          const oldest = step.do === "publish" || step.do === "lose" ? unpublished.shift() : undefined
          if (step.do === "commit") unpublished.push(log.commit(step.count))
          if (step.do === "publish" && oldest !== undefined) publish(oldest)
          if (step.do === "lose" && oldest !== undefined) publish({ _tag: "Gap" })
          if (step.do === "gap") publish({ _tag: "Gap" })
          if (step.do === "pull") yield* pull
        }
        publish(log.commit(1, "completed"))
        frames.push(...(yield* collect(next)))
        const first = afterSeq === undefined ? before + 1 : afterSeq / 3 + 1
        assert.deepStrictEqual(
          eventIndexes(frames),
          Array.from({ length: log.events.length - first + 1 }, (_, position) => first + position)
        )
        const snapshots = snapshotIndexes(frames)
        assert.deepStrictEqual(
          snapshots,
          [...snapshots].sort((left, right) => left - right)
        )
        assert.deepStrictEqual(frames.at(-1), { event: "snapshot", index: log.events.length })
      }),
    { arbitrary: { runs: 500, size: 60 } }
  )
})
