import { assert, describe, it } from "@effect/vitest"
import { type CanonicalEventType, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { ErasedRuns } from "../../../src/event-log/ErasedRuns.ts"
import { makeLiveBatch } from "../../../src/event-log/subscribe/LiveBatch.ts"
import { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import { Watermark } from "../../../src/event-log/subscribe/Watermark.ts"
import type { EventQuery } from "../../../src/queries/query/EventQuery.ts"
import { EventSearch } from "../../../src/queries/query/EventSearch.ts"
import { LogTail, type TailSubscription } from "../../../src/streams/log/LogTail.ts"

const START = 10
const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")
const everything: EventQuery = { filter: { afterSeq: 0, types: [] }, upToSeq: undefined, conditions: undefined }
const signals: EventQuery = { ...everything, filter: { afterSeq: 0, types: ["signal.emitted"] } }

/** A database with committed events up to its watermark. */
class Database {
  reads = 0
  seqs: ReadonlyArray<number> = []
  upTo = START

  commit(...seqs: ReadonlyArray<number>) {
    this.seqs = [...this.seqs, ...seqs]
    this.upTo = seqs.at(-1) ?? this.upTo
  }

  readonly read = (afterSeq: number) =>
    Effect.sync(() => {
      this.reads += 1
      const seqs = this.seqs.filter((seq) => seq > afterSeq && seq <= this.upTo)
      const events = seqs.map((seq) => ({ seq, index: seq, json: "{}" }))
      return { events, upTo: Math.max(this.upTo, afterSeq), isEnd: true }
    })

  readonly layer = Layer.mergeAll(
    Layer.mock(EventSearch, {
      endOfLog: this.read,
      page: ({ filter }) => this.read(filter.afterSeq),
      isBeyond: () => Effect.succeed(false)
    }),
    Layer.succeed(Watermark, {
      now: Effect.sync(() => this.upTo),
      known: Effect.sync(() => this.upTo),
      lastSeq: Effect.succeed(Number.MAX_SAFE_INTEGER)
    })
  )
}

const publish = (live: LiveEvents["Service"], seqs: ReadonlyArray<number>, type: CanonicalEventType) => {
  const lastSeq = seqs.at(-1) ?? 0
  const events = seqs.map((seq) => ({ seq, index: seq, type, json: "{}" }))
  const state = () => assert.fail("no stream reads the snapshot")
  live.publish([
    makeLiveBatch({ runId, status: "running", changed: false, events, state, lastSeq, lastIndex: lastSeq })
  ])
}

const idsOf = ({ buffer }: TailSubscription) => {
  const text = Buffer.concat((buffer.behind(START)?.frames ?? []).map(({ bytes }) => bytes)).toString("utf8")
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
}

/** The pause between two reads of the log. */
const paused = TestClock.adjust("100 millis")

const following = <E>(
  search: EventQuery,
  use: (tail: TailSubscription, live: LiveEvents["Service"], database: Database) => Effect.Effect<void, E>
) => {
  const database = new Database()
  return Effect.gen(function* () {
    const live = yield* LiveEvents
    const tail = yield* (yield* LogTail).subscribe(search)
    yield* paused
    assert.strictEqual(tail.buffer.end, START)
    database.reads = 0
    yield* use(tail, live, database)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      LogTail.layer.pipe(Layer.provide([database.layer, ErasedRuns.layer]), Layer.provideMerge(LiveEvents.layer))
    )
  )
}

// docs/reference/streams.md#log-stream
describe("the end of the log", () => {
  it.effect("reads the commits of this process in one read for all of them", () =>
    following(everything, (tail, live, database) =>
      Effect.gen(function* () {
        database.commit(11, 12)
        publish(live, [11], "message.received")
        publish(live, [12], "message.received")
        yield* paused
        assert.deepStrictEqual([tail.buffer.end, idsOf(tail), database.reads], [12, [11, 12], 1])
        // An open transaction delays the next one.
        publish(live, [13], "message.received")
        yield* paused
        assert.strictEqual(tail.buffer.end, 12)
        database.commit(13)
        yield* paused
        assert.deepStrictEqual([tail.buffer.end, idsOf(tail)], [13, [11, 12, 13]])
      })
    )
  )

  it.effect("reads the commits of another process", () =>
    following(everything, (tail, live, database) =>
      Effect.gen(function* () {
        database.commit(11, 12)
        live.poke(runId)
        yield* paused
        assert.deepStrictEqual([tail.buffer.end, idsOf(tail)], [12, [11, 12]])
      })
    )
  )

  it.effect("reads once a second without a notification", () =>
    following(everything, (tail, _, database) =>
      Effect.gen(function* () {
        database.commit(11)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([tail.buffer.end, idsOf(tail)], [11, [11]])
      })
    )
  )

  it.effect("reads the matches of a search", () =>
    following(signals, (tail, live, database) =>
      Effect.gen(function* () {
        database.commit(11, 12)
        publish(live, [11], "message.received")
        yield* paused
        assert.deepStrictEqual([tail.buffer.end, idsOf(tail)], [12, [11, 12]])
      })
    )
  )
})
