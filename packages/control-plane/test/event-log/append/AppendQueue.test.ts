import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { AppendQueue, GROUP_REQUESTS, type Group } from "../../../src/event-log/append/AppendQueue.ts"
import {
  type AppendError,
  AppendRequest,
  type Changed,
  RunNotFound
} from "../../../src/event-log/append/AppendRequest.ts"
import { BatchDelay } from "../../../src/event-log/append/BatchDelay.ts"
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

const append = Effect.fnUntraced(function* (runId: RunId, ...bytes: ReadonlyArray<number>) {
  const queue = yield* AppendQueue
  const fiber = yield* Effect.forkChild(
    Effect.exit(queue.append(AppendRequest.Observe({ runId, frames: bytes.map(frame) }), []))
  )
  yield* Effect.yieldNow
  return fiber
})

/** The next group, as a writer waits for it. */
const nextGroup = (queue: AppendQueue["Service"]): Effect.Effect<Group> =>
  Effect.flatMap(Effect.andThen(queue.ready, queue.takeGroup), (group) =>
    group === undefined ? nextGroup(queue) : Effect.succeed(group)
  )

/** Takes a group and releases it at once. */
const takeGroup = AppendQueue.use((queue) =>
  Effect.flatMap(nextGroup(queue), ({ appends, release }) => Effect.as(release, appends))
)
const runsOf = (group: ReadonlyArray<QueuedAppend>) => group.map(({ request }) => request.runId)
const outcome = (runId: RunId) => Exit.fail(new RunNotFound({ runId }))
const answerAll = (group: ReadonlyArray<QueuedAppend>) =>
  Effect.forEach(group, (append) => append.complete(outcome(append.request.runId)), { discard: true })

describe("AppendQueue", () => {
  it.effect("gives a run to one writer at a time, and keeps the order of its appends", () =>
    Effect.gen(function* () {
      const appended = yield* append(A)
      const first = yield* takeGroup
      yield* append(A)
      yield* append(B)
      assert.deepStrictEqual(runsOf(yield* takeGroup), [B])
      const waiting = yield* Effect.forkChild(takeGroup)
      yield* Effect.yieldNow
      assert.isUndefined(waiting.pollUnsafe())
      yield* answerAll(first)
      assert.deepStrictEqual(yield* Fiber.join(appended), outcome(A))
      assert.deepStrictEqual(runsOf(yield* Fiber.join(waiting)), [A])
    }).pipe(Effect.provide(layer))
  )

  it.effect("puts appends of the same moment into one group, also for a waiting writer", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      const waiting = yield* Effect.forkChild(takeGroup)
      yield* Effect.yieldNow
      const append = (runId: RunId) => queue.append(AppendRequest.Observe({ runId, frames: [] }), [])
      yield* Effect.forkChild(Effect.all([append(A), append(A), append(B)], { concurrency: "unbounded" }))
      assert.deepStrictEqual(runsOf(yield* Fiber.join(waiting)), [A, A, B])
    }).pipe(Effect.provide(layer))
  )

  it.effect("gives waiting appends to another writer while a group is under way", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      yield* append(A)
      yield* nextGroup(queue)
      yield* append(B)
      assert.deepStrictEqual(runsOf((yield* nextGroup(queue)).appends), [B])
    }).pipe(Effect.provide(layer))
  )

  it.effect("cuts groups by requests and by bytes, and lets one that is larger go alone", () =>
    Effect.gen(function* () {
      for (let number = 0; number < GROUP_REQUESTS + 1; number++) yield* append(runOf(number))
      assert.strictEqual((yield* takeGroup).length, GROUP_REQUESTS)
      assert.strictEqual((yield* takeGroup).length, 1)
      yield* append(runOf(100), 6_000)
      yield* append(runOf(101), 6_000)
      yield* append(runOf(102), 100_000)
      yield* append(runOf(103), 1)
      assert.deepStrictEqual(runsOf(yield* takeGroup), [runOf(100), runOf(101)])
      assert.deepStrictEqual(runsOf(yield* takeGroup), [runOf(102)])
      assert.deepStrictEqual(runsOf(yield* takeGroup), [runOf(103)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps large appends from the transactions of small ones, and from all writers but one", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      for (const number of [1, 2]) yield* append(runOf(number), 1_000_000)
      yield* append(runOf(3), 1)
      const [first, second] = [yield* nextGroup(queue), yield* nextGroup(queue)]
      assert.deepStrictEqual(
        [first, second].map(({ appends }) => runsOf(appends)),
        [[runOf(1)], [runOf(3)]]
      )
      const next = yield* Effect.forkChild(nextGroup(queue))
      yield* Effect.yieldNow
      assert.isUndefined(next.pollUnsafe())
      yield* second.release
      assert.isUndefined(next.pollUnsafe())
      yield* first.release
      assert.deepStrictEqual(runsOf((yield* Fiber.join(next)).appends), [runOf(2)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("skips a locked run for a pause while others continue, and reports how long it has waited", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      yield* append(A, 1)
      yield* append(A, 2)
      const group = yield* takeGroup
      yield* Effect.forEach(group, ({ postpone }) => postpone)
      yield* append(A, 3)
      yield* append(B)
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

  it.effect("reports for how long the database has failed every append, until a while after the last failure", () =>
    Effect.gen(function* () {
      const queue = yield* AppendQueue
      const answer = Effect.fnUntraced(function* (outcome: Exit.Exit<Changed, AppendError>) {
        yield* append(A)
        for (const append of yield* takeGroup) yield* append.complete(outcome)
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
