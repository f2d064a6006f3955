import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { SharedFrames } from "../../../src/platform/http/SharedFrames.ts"
import { LogWakeup } from "../../../src/streams/log/LogWakeup.ts"
import { RingBuffer, type TailFrames } from "../../../src/streams/log/RingBuffer.ts"
import { makeTailFeed } from "../../../src/streams/log/TailFeed.ts"
import type { StreamClient } from "../../../src/streams/run/StreamClient.ts"
import { passiveClient } from "../../../src/streams/run/StreamClient.ts"

const event = (seq: number) => ({ seq, index: seq, json: `{"seq":${seq}}` })
const NO_LIMIT = Number.MAX_SAFE_INTEGER
const HEARTBEAT_MS = 1_000

const idsIn = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString("utf8")
    .match(/(?<=^id: )\d+/gm)
    ?.map(Number)

interface Opening {
  readonly pages?: ReadonlyArray<TailFrames>
  readonly client?: StreamClient
}

const opened = Effect.fnUntraced(function* (afterSeq: number, { client = passiveClient, pages = [] }: Opening = {}) {
  const window = new RingBuffer()
  const news = new LogWakeup()
  const over = yield* Deferred.make<void>()
  const asked: Array<number> = []
  const read = (after: number) =>
    Effect.sync(() => {
      asked.push(after)
      return pages[asked.length - 1] ?? { upTo: after, frames: [] }
    })
  const next = yield* makeTailFeed(
    { afterSeq, heartbeatMs: HEARTBEAT_MS },
    { window, news, read, ended: Deferred.await(over), client }
  )
  const ids = Effect.map(next, (frames) => idsIn(Buffer.concat(frames)))
  const push = (upTo: number, ...seqs: ReadonlyArray<number>) => {
    window.push(upTo, seqs.map(event), NO_LIMIT)
    news.tell()
  }
  return { asked, ids, over, push, window }
})

// docs/reference/http.md#log-stream
describe("the feed of the log", () => {
  it.effect("begins with a heartbeat, hands out what has come since the last time at once, and waits for more", () =>
    Effect.gen(function* () {
      const { ids, push, window } = yield* opened(5)
      window.begin(5)
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

  it.effect("reads the database only up to where the window begins", () =>
    Effect.gen(function* () {
      const page = { upTo: 20, frames: [new SharedFrames(["id: 11\n\n"])] }
      const { asked, ids, push, window } = yield* opened(10, { pages: [page] })
      window.begin(20)
      push(22, 21)
      assert.deepStrictEqual(yield* ids, [10])
      assert.deepStrictEqual(yield* ids, [11])
      assert.deepStrictEqual(yield* ids, [21])
      assert.deepStrictEqual(asked, [10])
    })
  )

  it.effect("beats at its time where nothing matches, and says how far the log was looked at", () =>
    Effect.gen(function* () {
      const { ids, push, window } = yield* opened(5)
      window.begin(5)
      yield* ids
      for (const place of [40, 50]) {
        const waiting = yield* Effect.forkChild(ids)
        push(place)
        yield* Effect.repeat(Effect.yieldNow, { times: 20 })
        assert.isUndefined(waiting.pollUnsafe())
        yield* TestClock.adjust(HEARTBEAT_MS)
        assert.deepStrictEqual(yield* Fiber.join(waiting), [place])
      }
    })
  )

  it.effect("hands what comes while it waits to a client that takes it, and wakes for one that does not", () =>
    Effect.gen(function* () {
      const taken: Array<number> = []
      let isReady = true
      const client: StreamClient = {
        ...passiveClient,
        take: ({ bytes }) => {
          if (isReady) taken.push(...(idsIn(bytes) ?? []))
          return isReady
        }
      }
      const { ids, push, window } = yield* opened(5, { client })
      window.begin(5)
      yield* ids
      // Nobody waits yet, so it is the feed that has to bring it.
      push(6, 6)
      assert.deepStrictEqual(yield* ids, [6])
      const waiting = yield* Effect.forkChild(ids, { startImmediately: true })
      push(8, 7, 8)
      push(12)
      push(13, 13)
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      assert.isUndefined(waiting.pollUnsafe())
      assert.deepStrictEqual(taken, [7, 8, 13])
      isReady = false
      push(14, 14)
      isReady = true
      // It is awake, and what comes now waits for its turn.
      push(15, 15)
      assert.deepStrictEqual(yield* Fiber.join(waiting), [14])
      assert.deepStrictEqual(yield* ids, [15])
      assert.deepStrictEqual(taken, [7, 8, 13])
    })
  )

  it.effect("ends when the service stops, also while it waits", () =>
    Effect.gen(function* () {
      const { ids, over, window } = yield* opened(5)
      window.begin(5)
      yield* ids
      const waiting = yield* Effect.forkChild(Effect.exit(ids))
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      yield* Deferred.succeed(over, undefined)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(waiting)))
    })
  )
})
