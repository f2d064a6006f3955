import { assert, describe, it } from "@effect/vitest"
import { type CanonicalEventType, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { makeLiveBatch } from "../../../src/event-log/subscribe/LiveBatch.ts"
import { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import { Watermark } from "../../../src/event-log/subscribe/Watermark.ts"
import type { EventQuery } from "../../../src/queries/query/EventQuery.ts"
import { EventSearch } from "../../../src/queries/query/EventSearch.ts"
import { LogTail, type TailSubscription } from "../../../src/streams/log/LogTail.ts"

const START = 10
const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")
const everything: EventQuery = { filter: { afterSeq: 0, types: [] }, upToSeq: undefined, rest: undefined }
const signals: EventQuery = { ...everything, filter: { afterSeq: 0, types: ["signal.emitted"] } }

/** What the database would be asked, and answers. */
class Database {
  looks = 0
  foreign: ReadonlyArray<number> = []
  upTo = START

  readonly look = (afterSeq: number) =>
    Effect.sync(() => {
      this.looks += 1
      const seqs = this.foreign.filter((seq) => seq > afterSeq && seq <= this.upTo)
      const events = seqs.map((seq) => ({ seq, index: seq, json: "{}" }))
      return { events, upTo: Math.max(this.upTo, afterSeq), isEnd: true }
    })

  readonly layer = Layer.mergeAll(
    Layer.mock(EventSearch, {
      endOfLog: this.look,
      page: ({ filter }) => this.look(filter.afterSeq),
      isBeyond: () => Effect.succeed(false)
    }),
    Layer.succeed(Watermark, {
      now: Effect.sync(() => this.upTo),
      known: Effect.sync(() => this.upTo),
      // The places of commits that are on their way are given out.
      lastPlace: Effect.succeed(Number.MAX_SAFE_INTEGER)
    })
  )
}

const publish = (live: LiveEvents["Service"], seqs: ReadonlyArray<number>, type: CanonicalEventType) => {
  const lastSeq = seqs.at(-1) ?? 0
  const events = seqs.map((seq) => ({ seq, index: seq, type, json: "{}" }))
  const state = () => assert.fail("nobody has asked for a snapshot")
  live.publish(
    [makeLiveBatch({ runId, status: "running", changed: false, events, state, lastSeq, lastIndex: lastSeq })],
    seqs
  )
}

const idsOf = ({ window }: TailSubscription) => {
  const text = Buffer.concat((window.behind(START)?.frames ?? []).map(({ bytes }) => bytes)).toString("utf8")
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
}

/** Looks at the log follow each other after a rest. */
const rested = TestClock.adjust("100 millis")

const following = <E>(
  search: EventQuery,
  use: (tail: TailSubscription, live: LiveEvents["Service"], database: Database) => Effect.Effect<void, E>
) => {
  const database = new Database()
  return Effect.gen(function* () {
    const live = yield* LiveEvents
    const tail = yield* (yield* LogTail).subscribe("key", search)
    yield* rested
    assert.strictEqual(tail.window.end, START)
    database.looks = 0
    yield* use(tail, live, database)
  }).pipe(
    Effect.scoped,
    Effect.provide(LogTail.layer.pipe(Layer.provide(database.layer), Layer.provideMerge(LiveEvents.layer)))
  )
}

// docs/reference/http.md#log-stream
describe("the end of the log", () => {
  it.effect("takes what this process has committed as it is, where nobody has a place before it", () =>
    following(everything, (tail, live, database) =>
      Effect.gen(function* () {
        publish(live, [11, 12], "message.received")
        yield* rested
        publish(live, [13], "message.received")
        yield* rested
        assert.deepStrictEqual([tail.window.end, idsOf(tail), database.looks], [13, [11, 12, 13], 0])
      })
    )
  )

  it.effect("asks the database for what stands before it", () =>
    following(everything, (tail, live, database) =>
      Effect.gen(function* () {
        publish(live, [12, 13], "message.received")
        yield* rested
        assert.deepStrictEqual([tail.window.end, idsOf(tail)], [START, []])
        assert.isAtLeast(database.looks, 1)
        // Another process's event, of which no word has come.
        database.foreign = [11]
        database.upTo = 11
        yield* rested
        yield* rested
        assert.deepStrictEqual([tail.window.end, idsOf(tail)], [13, [11, 12, 13]])
      })
    )
  )

  it.effect("asks the database when another process has committed", () =>
    following(everything, (tail, live, database) =>
      Effect.gen(function* () {
        database.foreign = [12]
        database.upTo = 12
        live.poke(runId)
        publish(live, [11], "message.received")
        yield* rested
        assert.deepStrictEqual([tail.window.end, idsOf(tail)], [12, [11, 12]])
        assert.isAtLeast(database.looks, 1)
      })
    )
  )

  it.effect("looks once a second although nobody has said anything", () =>
    following(everything, (tail, _, database) =>
      Effect.gen(function* () {
        database.foreign = [11]
        database.upTo = 11
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([tail.window.end, idsOf(tail)], [11, [11]])
      })
    )
  )

  it.effect("knows the types that are followed", () =>
    following(signals, (tail, live, database) =>
      Effect.gen(function* () {
        publish(live, [11, 12], "message.received")
        yield* rested
        publish(live, [13], "signal.emitted")
        yield* rested
        publish(live, [14], "message.received")
        yield* rested
        assert.deepStrictEqual([tail.window.end, idsOf(tail), database.looks], [14, [13], 0])
      })
    )
  )
})
