import { assert } from "@effect/vitest"
import { CanonicalEvent, emptyRunMetrics, emptyRunState, measure, project, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readLog } from "./Runs.ts"

const parseJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Unknown))
const isEvent = Schema.is(CanonicalEvent)

const decodeEvent = (text: string): CanonicalEvent => {
  const event = parseJson(text)
  assert.isTrue(isEvent(event), text)
  if (!isEvent(event)) throw new Error("not an event")
  return event
}

/** Seqs ascend, indexes are dense, the head names the last event, and projection and metrics equal a rebuild byte for byte. */
export const assertLogIsExact = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* readLog(runId)
  const events = log.events.map((row) => decodeEvent(row.event))
  assert.deepStrictEqual(
    events.map((event) => event.index),
    events.map((_, position) => position + 1)
  )
  log.events.forEach((row, position) => {
    assert.strictEqual(Number(row.seq), events[position]?.seq)
    assert.strictEqual(row.index, events[position]?.index)
    if (position > 0) assert.isTrue(row.seq > (log.events[position - 1]?.seq ?? 0n))
  })
  assert.strictEqual(Number(log.head?.last_seq), events.at(-1)?.seq)
  assert.strictEqual(log.head?.last_index, events.length)
  assert.strictEqual(log.projection?.state, JSON.stringify(events.reduce(project, emptyRunState(runId))))
  assert.strictEqual(log.projection?.metrics, JSON.stringify(events.reduce(measure, emptyRunMetrics(runId))))
  return { ...log, decoded: events }
})
