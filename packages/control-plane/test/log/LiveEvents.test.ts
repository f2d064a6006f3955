import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import {
  LiveEvents,
  type LiveSubscription,
  makeLiveBatch,
  SUBSCRIBER_CAPACITY,
  SUBSCRIBER_CHARACTERS
} from "../../src/log/LiveEvents.ts"

const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

const batch = (index: number, characters: number) =>
  makeLiveBatch({
    runId,
    status: "running",
    changed: false,
    events: [{ seq: index, index, type: "message.received", json: "x".repeat(characters) }],
    state: () => assert.fail("nobody has asked for a snapshot"),
    lastSeq: index,
    lastIndex: index
  })

/** The indexes that are taken up to the gap. */
const upToGap = Effect.fnUntraced(function* ({ take }: LiveSubscription) {
  const indexes: Array<number> = []
  while (true) {
    const item = yield* take
    if (item._tag === "Gap") return indexes
    indexes.push(item.lastIndex)
  }
})

describe("a subscriber that does not keep up", () => {
  const cases: ReadonlyArray<readonly [string, characters: number, held: number]> = [
    ["holds so many small batches", 10, SUBSCRIBER_CAPACITY],
    ["holds large ones in so many characters", SUBSCRIBER_CHARACTERS / 4, 4],
    ["holds one of any size", 3 * SUBSCRIBER_CHARACTERS, 1]
  ]
  for (const [says, characters, held] of cases) {
    it.effect(`${says}, and is told of a gap after them`, () =>
      Effect.gen(function* () {
        const live = yield* LiveEvents
        const subscription = yield* live.subscribe(runId)
        for (const round of [0, 1]) {
          const first = 1 + round * 1_000
          for (let index = first; index < first + 200; index++) live.publish([batch(index, characters)])
          assert.deepStrictEqual(
            yield* upToGap(subscription),
            Array.from({ length: held }, (_, place) => first + place)
          )
        }
      }).pipe(Effect.scoped, Effect.provide(LiveEvents.layer))
    )
  }
})
