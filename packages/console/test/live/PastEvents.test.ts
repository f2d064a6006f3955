import { assert, describe, it } from "@effect/vitest"
import type { CanonicalEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { PAST, pastEvents } from "../../src/live/PastEvents.ts"
import { eventsOf } from "../support.ts"

/** A log of so many events with the seqs 3, 6, 9, ..., and the reads of it. */
const logOf = (count: number, { searched = Number.POSITIVE_INFINITY } = {}) => {
  const log = eventsOf(Array.from({ length: count }, () => ({ type: "message.received" })))
  const starts: Array<number> = []
  const read = (afterSeq: number, limit: number) => {
    starts.push(afterSeq)
    const data = log.filter(({ seq }) => seq > afterSeq && seq <= afterSeq + searched).slice(0, limit)
    const last = data.at(-1)?.seq ?? afterSeq
    const isCut = data.length === limit || afterSeq + searched < (log.at(-1)?.seq ?? 0)
    return Effect.succeed({ data, ...(isCut && { nextCursor: searched < 1_000_000 ? afterSeq + searched : last }) })
  }
  return { log, read, starts }
}

const behind = (log: ReadonlyArray<CanonicalEvent>, start: number) => log.filter(({ seq }) => seq > start)
const seqs = (events: ReadonlyArray<CanonicalEvent>) => events.map(({ seq }) => seq)

describe("the past events of the log", () => {
  it.effect("are read at once where they are dense", () =>
    Effect.gen(function* () {
      const { log, read, starts } = logOf(400)
      assert.deepStrictEqual(seqs(yield* pastEvents(read, 1_200)), seqs(behind(log, 700)))
      assert.deepStrictEqual(starts, [1_200 - PAST])
    })
  )

  it.effect("are read from further back when the last numbers have no events", () =>
    Effect.gen(function* () {
      const { log, read, starts } = logOf(60)
      assert.deepStrictEqual(seqs(yield* pastEvents(read, 30_000)), seqs(log))
      assert.deepStrictEqual(starts, [29_500, 26_000, 0])
    })
  )

  it.effect("are the last ones when more are further back than fit", () =>
    Effect.gen(function* () {
      const { log, read, starts } = logOf(2_000)
      assert.deepStrictEqual(seqs(yield* pastEvents(read, 6_400)), seqs(behind(log, 5_900)))
      assert.deepStrictEqual(starts, [5_900, 2_400])
    })
  )

  it.effect("are those of a part that the service searched whole", () =>
    Effect.gen(function* () {
      const { log, read, starts } = logOf(1_000, { searched: 600 })
      assert.deepStrictEqual(seqs(yield* pastEvents(read, 3_450)), seqs(behind(log, 2_950)))
      assert.deepStrictEqual(starts, [2_950, 0])
    })
  )

  it.effect("are none in an empty log", () =>
    Effect.gen(function* () {
      const { read, starts } = logOf(0)
      assert.deepStrictEqual(yield* pastEvents(read, 0), [])
      assert.deepStrictEqual(starts, [0])
    })
  )
})
