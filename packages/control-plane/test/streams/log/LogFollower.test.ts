import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Wakeup } from "../../../src/event-log/subscribe/Wakeup.ts"
import { follow } from "../../../src/streams/FollowerLoop.ts"
import { openLog } from "../../../src/streams/FollowerState.ts"
import { logSource } from "../../../src/streams/log/LogStream.ts"
import { type BufferedFrames, RingBuffer } from "../../../src/streams/log/RingBuffer.ts"
import { SharedFrames } from "../../../src/streams/SharedFrames.ts"
import { detachedConnection, type SseConnection, writeShared } from "../../../src/streams/SseConnection.ts"
import { sseBytes } from "../../../src/streams/SseFrames.ts"

const event = (seq: number) => ({ seq, index: seq, json: `{"seq":${seq}}` })
const NO_LIMIT = Number.MAX_SAFE_INTEGER
const HEARTBEAT_MS = 1_000

const idsIn = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString("utf8")
    .match(/(?<=^id: )\d+/gm)
    ?.map(Number)

interface Opening {
  readonly pages?: ReadonlyArray<BufferedFrames>
  readonly connection?: SseConnection
}

const opened = Effect.fnUntraced(function* (afterSeq: number, of: Opening = {}) {
  const { connection = detachedConnection, pages = [] } = of
  const buffer = new RingBuffer()
  const wakeup = new Wakeup()
  const over = yield* Deferred.make<void>()
  const reads: Array<number> = []
  const readPage = (after: number) =>
    Effect.sync(() => {
      reads.push(after)
      return pages[reads.length - 1] ?? { upTo: after, frames: [] }
    })
  const state = openLog({ afterSeq, heartbeatMs: HEARTBEAT_MS }, 0, 0)
  const next = yield* follow(
    state,
    logSource({ buffer, wakeup, readPage }, Deferred.await(over)),
    writeShared(connection)
  )
  const ids = Effect.map(next, (deliveries) => idsIn(Buffer.concat(deliveries.map(sseBytes))))
  const push = (upTo: number, ...seqs: ReadonlyArray<number>) => {
    buffer.push(upTo, seqs.map(event), NO_LIMIT)
    if (!wakeup.offer(undefined)) wakeup.wake()
  }
  return { buffer, ids, over, push, reads }
})

// docs/reference/streams.md#log-stream
describe("the stream of the log", () => {
  it.effect("begins with a heartbeat, sends all new frames at once, and waits for more", () =>
    Effect.gen(function* () {
      const { buffer, ids, push } = yield* opened(5)
      buffer.begin(5)
      assert.deepStrictEqual(yield* ids, [5])
      push(6, 6)
      push(9, 7, 8)
      assert.deepStrictEqual(yield* ids, [6, 7, 8])
      const waiting = yield* Effect.forkChild(ids)
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      assert.isUndefined(waiting.pollUnsafe())
      push(10, 10)
      assert.deepStrictEqual(yield* Fiber.join(waiting), [10])
    })
  )

  it.effect("reads the database only up to the start of the buffer", () =>
    Effect.gen(function* () {
      const page = { upTo: 20, frames: [new SharedFrames(["id: 11\n\n"])] }
      const { buffer, ids, push, reads } = yield* opened(10, { pages: [page] })
      buffer.begin(20)
      push(22, 21)
      assert.deepStrictEqual(yield* ids, [10])
      assert.deepStrictEqual(yield* ids, [11])
      assert.deepStrictEqual(yield* ids, [21])
      assert.deepStrictEqual(reads, [10])
    })
  )

  it.effect("sends heartbeats with the position up to which no event matches", () =>
    Effect.gen(function* () {
      const { buffer, ids, push } = yield* opened(5)
      buffer.begin(5)
      yield* ids
      for (const seq of [40, 50]) {
        const waiting = yield* Effect.forkChild(ids)
        push(seq)
        yield* Effect.repeat(Effect.yieldNow, { times: 20 })
        assert.isUndefined(waiting.pollUnsafe())
        yield* TestClock.adjust(HEARTBEAT_MS)
        assert.deepStrictEqual(yield* Fiber.join(waiting), [seq])
      }
    })
  )

  it.effect("writes frames to a ready socket, and wakes when the socket is not ready", () =>
    Effect.gen(function* () {
      const written: Array<number> = []
      let isReady = true
      const connection: SseConnection = {
        ...detachedConnection,
        tryWrite: ({ bytes }) => {
          if (isReady) written.push(...(idsIn(bytes) ?? []))
          return isReady
        }
      }
      const { buffer, ids, push } = yield* opened(5, { connection })
      buffer.begin(5)
      yield* ids
      // The stream does not wait yet, so it sends the frames itself.
      push(6, 6)
      assert.deepStrictEqual(yield* ids, [6])
      const waiting = yield* Effect.forkChild(ids, { startImmediately: true })
      push(8, 7, 8)
      push(12)
      push(13, 13)
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      assert.isUndefined(waiting.pollUnsafe())
      assert.deepStrictEqual(written, [7, 8, 13])
      isReady = false
      push(14, 14)
      isReady = true
      // The stream is awake and sends the next frames itself.
      push(15, 15)
      assert.deepStrictEqual(yield* Fiber.join(waiting), [14])
      assert.deepStrictEqual(yield* ids, [15])
      assert.deepStrictEqual(written, [7, 8, 13])
    })
  )

  it.effect("ends when the service stops, also while it waits", () =>
    Effect.gen(function* () {
      const { buffer, ids, over } = yield* opened(5)
      buffer.begin(5)
      yield* ids
      const waiting = yield* Effect.forkChild(Effect.exit(ids))
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      yield* Deferred.succeed(over, undefined)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(waiting)))
    })
  )
})
