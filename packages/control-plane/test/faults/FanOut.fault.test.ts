import { connect } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, layer } from "@effect/vitest"
import { followSse } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { LiveBatch } from "../../src/event-log/subscribe/LiveBatch.ts"
import { LiveEvents } from "../../src/event-log/subscribe/LiveEvents.ts"
import type { RunOptions } from "../../src/streams/FollowerState.ts"
import { RunStream } from "../../src/streams/run/RunStream.ts"
import { batchFrames, sseBytes } from "../../src/streams/SseFrames.ts"
import { appendMessages } from "../support/Appends.ts"
import { endRun } from "../support/EndedRuns.ts"
import { baseUrl, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

const SUBSCRIBERS = 500
const APPENDS = 20
const EVENTS_PER_APPEND = 5
const EVENTS = APPENDS * EVENTS_PER_APPEND
/** Characters of each event: all sent bytes are some hundred times the memory bound. */
const TEXT = "x".repeat(400)
/** Additional heap for 500 streams and their batches, bytes. */
const HEAP_BOUND = 96 * 1024 * 1024

const textOf = (all: ReadonlyArray<Uint8Array>) => Buffer.concat(all).toString()
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, position) => from + position)

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const heapUsed = Effect.sync(() => {
  collectGarbage()
  return process.memoryUsage().heapUsed
})

/** Opens the stream and never reads it. */
const silentSubscriber = Effect.fnUntraced(function* (url: URL, path: string) {
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof connect>>((resume) => {
      const socket = connect(Number(url.port), url.hostname, () => {
        socket.pause()
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)
        resume(Effect.succeed(socket))
      })
      socket.on("error", () => {})
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
})

layer(layerTestService({ settings: { STREAM_MAX_PER_KEY: "1000" } }), { excludeTestServices: true })(
  `${SUBSCRIBERS} subscribers of one run`,
  (it) => {
    it.effect("receive every event in order over HTTP, in bounded memory, while one of them never reads", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const url = new URL(yield* baseUrl)
        const path = `/runs/${runId}/stream`
        const before = yield* heapUsed
        yield* silentSubscriber(url, path)
        const readers = yield* Effect.forEach(
          numbers(1, SUBSCRIBERS),
          () => followSse(`${url.origin}${path}?includeSnapshot=false`),
          { concurrency: 50 }
        )
        yield* appendMessages(runId, EVENTS, EVENTS_PER_APPEND, TEXT)
        yield* Effect.forEach(readers, (reader) => reader.received(1 + EVENTS), { discard: true })
        const used = (yield* heapUsed) - before
        yield* endRun(runId)
        for (const reader of readers) assert.strictEqual(yield* reader.closed, "end")
        for (const { indexes } of readers) assert.deepStrictEqual(indexes(), numbers(2, EVENTS + 2))
        assert.isBelow(used, HEAP_BOUND)
      })
    )

    it.effect("receive the same bytes, encoded once for each delivery", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const batches: Array<LiveBatch> = []
        yield* (yield* LiveEvents).listen((batch) => batches.push(batch))
        const streams = yield* RunStream
        const options: RunOptions = {
          afterSeq: undefined,
          includeSnapshot: true,
          snapshots: "all",
          snapshotIntervalMs: 10,
          heartbeatMs: 60_000
        }
        const opened = yield* Queue.unbounded<void>()
        const subscribers = yield* Effect.forEach(numbers(1, SUBSCRIBERS), () =>
          Stream.unwrap(streams.open(runId, options)).pipe(
            // The first snapshot differs between subscribers.
            Stream.tap(() => Queue.offer(opened, undefined)),
            Stream.drop(1),
            Stream.runCollect,
            Effect.forkScoped
          )
        )
        yield* Effect.forEach(subscribers, () => Queue.take(opened))
        yield* appendMessages(runId, 6, 2, TEXT)
        yield* endRun(runId)
        assert.lengthOf(batches, 4)
        const snapshots = batches.map((batch) => sseBytes({ _tag: "Snapshot", state: batch.state }))
        const received = yield* Effect.forEach(subscribers, (subscriber) => Fiber.join(subscriber))
        const eventsOf = (all: ReadonlyArray<Uint8Array>) => all.filter((bytes) => !snapshots.includes(bytes))
        // Batches that follow each other closely are sent together.
        const frames = eventsOf(received[0] ?? [])
        assert.isAtMost(frames.length, batches.length)
        assert.strictEqual(textOf(frames), textOf(batches.map((batch) => batchFrames(batch).bytes)))
        for (const all of received) {
          const events = eventsOf(all)
          assert.lengthOf(events, frames.length)
          for (const [position, bytes] of events.entries()) assert.isTrue(bytes === frames[position])
          assert.isTrue(all.at(-1) === snapshots.at(-1))
        }
      })
    )
  }
)
