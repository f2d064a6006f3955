import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { type EventFilter, type EventText, eventText } from "../../../src/event-log/EventRepository.ts"
import { RunGone } from "../../../src/event-log/runs/RunGone.ts"
import type { TextPage } from "../../../src/platform/http/JsonAnswer.ts"
import { EVENTS_PER_READ, eventAnswer, eventEnvelope } from "../../../src/queries/events/EventsHttp.ts"

const runs = [1, 2, 3].map((number) => RunId.make(`00000000-0000-4000-8000-00000000000${number}`))
const filter: EventFilter = { afterSeq: 0, types: [] }

/** A log with one page for each run. */
const logOf = (events: number) => {
  const checks: Array<{ readonly runIds: ReadonlyArray<RunId>; readonly count: number }> = []
  const page = (afterSeq: number, limit: number): EventText => {
    const seqs = Array.from(
      { length: Math.max(0, Math.min(limit, events - afterSeq)) },
      (_, offset) => afterSeq + offset + 1
    )
    const runId = runs[Math.floor(afterSeq / EVENTS_PER_READ)]
    return eventText({
      events: seqs.map((seq) => ({ seq, index: seq, json: `{"seq":${seq}}` })),
      isCut: false,
      runIds: runId === undefined || seqs.length === 0 ? [] : [runId]
    })
  }
  const answer = (limit: number, gone?: RunId): TextPage<RunGone> =>
    eventAnswer(
      eventEnvelope(events, limit),
      filter,
      limit,
      page(0, Math.min(limit, EVENTS_PER_READ)),
      ({ afterSeq }, most) => Effect.sync(() => page(afterSeq, most)),
      (runIds, count) =>
        Effect.suspend(() => {
          checks.push({ runIds, count })
          return gone === undefined ? Effect.void : Effect.fail(new RunGone({ runId: gone }))
        })
    )
  return { answer, checks }
}

const textOf = Effect.fnUntraced(function* (first: TextPage<RunGone>) {
  let text = first.text
  for (let next = first.next; next !== undefined; ) {
    const page: TextPage<RunGone> = yield* next
    text += page.text
    next = page.next
  }
  return text
})

describe("an answer of events", () => {
  for (const [events, limit] of [
    [2 * EVENTS_PER_READ + 5, 10 * EVENTS_PER_READ],
    [2 * EVENTS_PER_READ, 10 * EVENTS_PER_READ],
    [3 * EVENTS_PER_READ, 2 * EVENTS_PER_READ]
  ] as const) {
    it.effect(`checks once that the runs of all its pages exist (${events} events, limit ${limit})`, () =>
      Effect.gen(function* () {
        const { answer, checks } = logOf(events)
        const { data } = JSON.parse(yield* textOf(answer(limit)))
        const count = Math.min(events, limit)
        assert.lengthOf(data, count)
        assert.deepStrictEqual(checks, [{ runIds: runs.slice(0, Math.ceil(count / EVENTS_PER_READ)), count }])
      })
    )

    it.effect(`fails before its end when a run was deleted (${events} events, limit ${limit})`, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(textOf(logOf(events).answer(limit, runs[0])))
        assert.strictEqual(failure._tag, "RunGone")
      })
    )
  }

  it.effect("of one page needs no check", () =>
    Effect.gen(function* () {
      const { answer, checks } = logOf(5)
      yield* textOf(answer(10))
      yield* textOf(answer(5))
      assert.deepStrictEqual(checks, [])
    })
  )
})
