import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { endsRun, makeLiveBatch } from "../../../src/event-log/subscribe/LiveBatch.ts"
import { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import {
  SUBSCRIBER_CAPACITY,
  SUBSCRIBER_CHARACTERS,
  type Subscription
} from "../../../src/event-log/subscribe/Subscription.ts"
import { batchFrames, sseBytes } from "../../../src/streams/SseFrames.ts"

const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

const batch = (index: number, characters: number) =>
  makeLiveBatch({
    runId,
    status: "running",
    changed: false,
    events: [{ seq: index, index, type: "message.received", json: "x".repeat(characters) }],
    state: () => assert.fail("no stream reads the snapshot"),
    lastSeq: index,
    lastIndex: index
  })

/** The indexes of the batches before the gap. */
const upToGap = Effect.fnUntraced(function* ({ take }: Subscription) {
  const indexes: Array<number> = []
  while (true) {
    const item = yield* take
    if (item._tag === "Gap") return indexes
    indexes.push(item.lastIndex)
  }
})

describe("a slow subscriber", () => {
  const cases: ReadonlyArray<readonly [title: string, characters: number, queued: number]> = [
    ["queues small batches up to its capacity", 10, SUBSCRIBER_CAPACITY],
    ["queues large batches up to a number of characters", SUBSCRIBER_CHARACTERS / 4, 4],
    ["queues one batch of any size", 3 * SUBSCRIBER_CHARACTERS, 1]
  ]
  for (const [title, characters, queued] of cases) {
    it.effect(`${title}, and receives a gap after them`, () =>
      Effect.gen(function* () {
        const live = yield* LiveEvents
        const subscription = yield* live.subscribe(runId)
        for (const round of [0, 1]) {
          const first = 1 + round * 1_000
          for (let index = first; index < first + 200; index++) live.publish([batch(index, characters)])
          assert.deepStrictEqual(
            yield* upToGap(subscription),
            Array.from({ length: queued }, (_, offset) => first + offset)
          )
        }
      }).pipe(Effect.scoped, Effect.provide(LiveEvents.layer))
    )
  }
})

describe("many subscribers of one run", () => {
  const MANY = 500
  const PAUSE_MS = 30
  const frameOf = (at: number) => `event: canonical_event\nid: ${at}\ndata: {"at":${at}}\n\n`
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
  const batchOf = (index: number, more: { readonly status?: "completed"; readonly changed?: boolean } = {}) =>
    makeLiveBatch({
      runId,
      status: "running",
      changed: false,
      events: [{ seq: index, index, type: "message.received", json: `{"at":${index}}` }],
      state: () => `{"state":${index}}`,
      lastSeq: index,
      lastIndex: index,
      ...more
    })
  const subscribed = Effect.gen(function* () {
    const live = yield* LiveEvents
    const [first, ...others] = yield* Effect.forEach(Array.from({ length: MANY }), () => live.subscribe(runId))
    const last = others.at(-1)
    if (first === undefined || last === undefined) return assert.fail("there is no subscriber")
    const take = Effect.map(Effect.all([first.take, last.take]), ([one, other]) => {
      assert.strictEqual(one, other)
      return one._tag === "Gap" ? assert.fail("there are few pending batches") : one
    })
    return { live, take }
  })

  it.effect("receive a batch at once, and the batches of a pause as one", () =>
    Effect.gen(function* () {
      const { live, take } = yield* subscribed
      live.publish([batchOf(1)])
      assert.strictEqual((yield* take).lastIndex, 1)
      live.publish([batchOf(2, { changed: true })])
      live.publish([batchOf(3), batchOf(4)])
      const taking = yield* Effect.forkChild(take, { startImmediately: true })
      yield* TestClock.adjust(PAUSE_MS - 1)
      assert.isUndefined(taking.pollUnsafe())
      yield* TestClock.adjust(1)
      const received = yield* Fiber.join(taking)
      assert.deepStrictEqual(
        received.events.map(({ index }) => index),
        [2, 3, 4]
      )
      assert.isTrue(received.changed)
      assert.strictEqual(text(batchFrames(received).bytes), [2, 3, 4].map((at) => frameOf(at)).join(""))
      assert.strictEqual(
        text(sseBytes({ _tag: "Snapshot", state: received.state })),
        'event: snapshot\ndata: {"state":4}\n\n'
      )
      yield* TestClock.adjust(PAUSE_MS)
      live.publish([batchOf(5)])
      assert.strictEqual((yield* take).lastIndex, 5)
    }).pipe(Effect.scoped, Effect.provide(LiveEvents.layer))
  )

  it.effect("receive the end of the run at once, with the pending batches", () =>
    Effect.gen(function* () {
      const { live, take } = yield* subscribed
      live.publish([batchOf(1)])
      yield* take
      live.publish([batchOf(2), batchOf(3, { status: "completed", changed: true })])
      const received = yield* take
      assert.isTrue(endsRun(received))
      assert.strictEqual(text(batchFrames(received).bytes), frameOf(2) + frameOf(3))
    }).pipe(Effect.scoped, Effect.provide(LiveEvents.layer))
  )

  it.effect("have few pending batches", () =>
    Effect.gen(function* () {
      const { live, take } = yield* subscribed
      live.publish([batchOf(1)])
      yield* take
      live.publish([batchOf(2), batch(3, SUBSCRIBER_CHARACTERS / 2)])
      assert.strictEqual((yield* take).lastIndex, 3)
    }).pipe(Effect.scoped, Effect.provide(LiveEvents.layer))
  )
})
