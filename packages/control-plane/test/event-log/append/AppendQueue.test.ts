import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { AppendQueue, GROUP_REQUESTS, OVERTAKEN_AFTER_MS } from "../../../src/event-log/append/AppendQueue.ts"
import {
  type AppendError,
  AppendRequest,
  type Changed,
  RunNotFound
} from "../../../src/event-log/append/AppendRequest.ts"
import { BatchDelay, WORTH_ANOTHER } from "../../../src/event-log/append/BatchDelay.ts"
import { observed } from "../../../src/event-log/append/FrameBytes.ts"
import type { QueuedAppend } from "../../../src/event-log/append/QueuedAppend.ts"
import { EventLogSettings } from "../../../src/event-log/EventLogSettings.ts"
import { AppendFailed } from "../../../src/platform/postgres/AppendFailed.ts"

const runOf = (number: number) => RunId.make(`00000000-0000-4000-8000-${String(number).padStart(12, "0")}`)
const [A, B] = [runOf(1), runOf(2)]

const layer = AppendQueue.layer.pipe(
  Layer.provide(BatchDelay.layer),
  Layer.provide(
    Layer.succeed(EventLogSettings, {
      bufferBytes: 10_000,
      runBufferBytes: 10_000,
      appendBytes: 10_000,
      groupBytes: 10_000,
      oldestAppendMs: 1
    })
  )
)

const frame = (bytes: number) =>
  observed(
    {
      kind: "stream-inline-error",
      error: { code: "", message: "", sessionId: "", messageId: "", details: new Uint8Array(bytes) }
    } as const,
    ""
  )

const ask = Effect.fnUntraced(function* (runId: RunId, ...bytes: ReadonlyArray<number>) {
  const queue = yield* AppendQueue
  const fiber = yield* Effect.forkChild(
    Effect.exit(queue.append(AppendRequest.Observe({ runId, frames: bytes.map(frame) }), []))
  )
  yield* Effect.yieldNow
  return fiber
})

/** Takes a group that nobody waits for. */
const takeGroup = AppendQueue.use((queue) =>
  Effect.flatMap(queue.takeGroup, ({ appends, release }) => Effect.as(release, appends))
)
const runsOf = (group: ReadonlyArray<QueuedAppend>) => group.map(({ request }) => request.runId)
const outcome = (runId: RunId) => Exit.fail(new RunNotFound({ runId }))
const answerAll = (group: ReadonlyArray<QueuedAppend>) =>
  Effect.forEach(group, (append) => append.answer(outcome(append.request.runId)), { discard: true })

describe("AppendQueue", () => {
  it.effect("gives a run to one writer at a time, and keeps the order of its appends", () =>
    Effect.gen(function* () {
      const asked = yield* ask(A)
      const first = yield* takeGroup
      yield* ask(A)
      yield* ask(B)
      assert.deepStrictEqual(runsOf(yield* takeGroup), [B])
      const waiting = yield* Effect.forkChild(takeGroup)
      yield* Effect.yieldNow
      assert.isUndefined(waiting.pollUnsafe())
      yield* answerAll(first)
      assert.deepStrictEqual(yield* Fiber.join(asked), outcome(A))
      assert.deepStrictEqual(runsOf(yield* Fiber.join(waiting)), [A])
    }).pipe(Effect.provide(layer))
  )

  it.effect("puts what is asked for in the same moment into one group, also for a writer that has waited", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      const waiting = yield* Effect.forkChild(takeGroup)
      yield* Effect.yieldNow
      const append = (runId: RunId) => queue.append(AppendRequest.Observe({ runId, frames: [] }), [])
      yield* Effect.forkChild(Effect.all([append(A), append(A), append(B)], { concurrency: "unbounded" }))
      assert.deepStrictEqual(runsOf(yield* Fiber.join(waiting)), [A, A, B])
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets a few appends wait for the group under way, and puts them into the next together", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      yield* ask(A)
      const first = yield* queue.takeGroup
      const next = yield* Effect.forkChild(queue.takeGroup)
      yield* ask(B)
      yield* ask(runOf(3))
      assert.isUndefined(next.pollUnsafe())
      yield* first.release
      assert.deepStrictEqual(runsOf((yield* Fiber.join(next)).appends), [B, runOf(3)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("has another writer take what is worth a transaction, though a group is under way", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      yield* ask(A)
      yield* queue.takeGroup
      const next = yield* Effect.forkChild(queue.takeGroup)
      for (let number = 10; number < 10 + WORTH_ANOTHER; number++) yield* ask(runOf(number))
      assert.strictEqual((yield* Fiber.join(next)).appends.length, WORTH_ANOTHER)
      yield* ask(B)
      const few = yield* Effect.forkChild(queue.takeGroup)
      yield* Effect.yieldNow
      assert.isUndefined(few.pollUnsafe())
    }).pipe(Effect.provide(layer))
  )

  it.effect("lets nothing wait that somebody asks for", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      yield* ask(A)
      yield* queue.takeGroup
      const next = yield* Effect.forkChild(queue.takeGroup)
      yield* ask(B)
      yield* Effect.forkChild(queue.append(AppendRequest.Record({ runId: runOf(3), events: [] }), []))
      assert.deepStrictEqual(runsOf((yield* Fiber.join(next)).appends), [B, runOf(3)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not wait for a group that is slow", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      yield* ask(A)
      const slow = yield* queue.takeGroup
      const next = yield* Effect.forkChild(queue.takeGroup)
      yield* ask(B)
      yield* TestClock.adjust(OVERTAKEN_AFTER_MS)
      const second = yield* Fiber.join(next)
      assert.deepStrictEqual(runsOf(second.appends), [B])
      yield* ask(runOf(3))
      const third = yield* Effect.forkChild(queue.takeGroup)
      yield* Effect.yieldNow
      // The slow one may come back whenever it likes.
      yield* slow.release
      yield* Effect.yieldNow
      assert.isUndefined(third.pollUnsafe())
      yield* second.release
      assert.deepStrictEqual(runsOf((yield* Fiber.join(third)).appends), [runOf(3)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("cuts groups by requests and by bytes, and lets one that is larger go alone", () =>
    Effect.gen(function* () {
      for (let number = 0; number < GROUP_REQUESTS + 1; number++) yield* ask(runOf(number))
      assert.strictEqual((yield* takeGroup).length, GROUP_REQUESTS)
      assert.strictEqual((yield* takeGroup).length, 1)
      yield* ask(runOf(100), 6_000)
      yield* ask(runOf(101), 6_000)
      yield* ask(runOf(102), 100_000)
      yield* ask(runOf(103), 1)
      assert.deepStrictEqual(runsOf(yield* takeGroup), [runOf(100), runOf(101)])
      assert.deepStrictEqual(runsOf(yield* takeGroup), [runOf(102)])
      assert.deepStrictEqual(runsOf(yield* takeGroup), [runOf(103)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps large appends from the transactions of small ones, and from one writer at least", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      for (const number of [1, 2, 3]) yield* ask(runOf(number), 1_000_000)
      yield* ask(runOf(4), 1)
      const [first, second, third] = [yield* queue.takeGroup, yield* queue.takeGroup, yield* queue.takeGroup]
      assert.deepStrictEqual(
        [first, second, third].map(({ appends }) => runsOf(appends)),
        [[runOf(1)], [runOf(2)], [runOf(4)]]
      )
      const next = yield* Effect.forkChild(queue.takeGroup)
      yield* Effect.yieldNow
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* first.release
      assert.deepStrictEqual(runsOf((yield* Fiber.join(next)).appends), [runOf(3)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("has one writer for large appends while small ones come, which rests for as long as it has written", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      for (const number of [1, 2, 3]) yield* ask(runOf(number), 1_000_000)
      const [first, second] = [yield* queue.takeGroup, yield* queue.takeGroup]
      yield* ask(runOf(4), 1)
      yield* (yield* queue.takeGroup).release
      const next = yield* Effect.forkChild(queue.takeGroup)
      yield* TestClock.adjust("70 millis")
      yield* first.release
      yield* TestClock.adjust("70 millis")
      assert.isUndefined(next.pollUnsafe())
      yield* second.release
      yield* TestClock.adjust("139 millis")
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(runsOf((yield* Fiber.join(next)).appends), [runOf(3)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("leaves a locked run out for a pause while others go on, and says how long it has waited", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      yield* ask(A, 1)
      yield* ask(A, 2)
      const group = yield* takeGroup
      yield* Effect.forEach(group, ({ postpone }) => postpone)
      yield* ask(A, 3)
      yield* ask(B)
      const other = yield* takeGroup
      assert.deepStrictEqual(runsOf(other), [B])
      yield* answerAll(other)
      const next = yield* Effect.forkChild(takeGroup)
      yield* Effect.yieldNow
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* queue.oldest, { runId: A, waitedMs: 1_000, locked: true })
      const again = yield* Fiber.join(next)
      assert.deepStrictEqual(
        again.map(({ bytes }) => bytes),
        [513, 514, 515]
      )
      yield* answerAll(again)
      assert.isUndefined(yield* queue.oldest)
    }).pipe(Effect.provide(layer))
  )

  it.effect("knows for how long the database has failed every append, and forgets it after a while", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      const answer = Effect.fnUntraced(function* (outcome: Exit.Exit<Changed, AppendError>) {
        yield* ask(A)
        for (const append of yield* takeGroup) yield* append.answer(outcome)
      })
      const lost = (reason: string) => Exit.fail(new AppendFailed({ runId: A, reason, outage: true }))
      assert.isUndefined(yield* queue.failing)
      yield* answer(lost("no space left"))
      yield* TestClock.adjust("20 seconds")
      yield* answer(lost("read-only"))
      assert.deepStrictEqual(yield* queue.failing, { forMs: 20_000, reason: "read-only" })
      yield* TestClock.adjust("61 seconds")
      assert.isUndefined(yield* queue.failing)
      yield* answer(lost("read-only"))
      assert.isDefined(yield* queue.failing)
      yield* answer(Exit.fail(new AppendFailed({ runId: A, reason: "a bad value", outage: false })))
      assert.isUndefined(yield* queue.failing)
      yield* answer(lost("read-only"))
      yield* answer(outcome(A))
      assert.isUndefined(yield* queue.failing)
    }).pipe(Effect.provide(layer))
  )
})
