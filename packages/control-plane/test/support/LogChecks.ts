import { assert } from "@effect/vitest"
import {
  decodeEventText,
  emptyRunMetrics,
  type KnownEvent,
  measure,
  projectAll,
  type RunId,
  type RunMetrics
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { headOf } from "./Chains.ts"
import { readLog } from "./Runs.ts"

/** A stored event, which is of a known type and recorded as this very text. */
const decodeEvent = (text: string): KnownEvent => {
  const event = Result.getOrThrow(decodeEventText(text))
  assert.strictEqual(JSON.stringify(event.recorded), text)
  if (event.type === "unknown") return assert.fail(text)
  return event
}

/**
 * Seqs ascend, indexes are dense, the head names the last event and the end of the hash chain, the counters equal a
 * rebuild byte for byte, and so does the stored projection of the events up to its seq. Returns the state after all
 * of them.
 */
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
  assert.strictEqual(log.head?.chain_head, headOf(runId, log.events))
  const stored = events.filter((event) => event.seq <= Number(log.projection?.last_seq))
  assert.strictEqual(stored.at(-1)?.seq, Number(log.projection?.last_seq))
  assert.strictEqual(log.projection?.state, JSON.stringify(projectAll(runId, stored)))
  assert.strictEqual(
    log.projection?.metrics,
    JSON.stringify(events.reduce<RunMetrics>(measure, emptyRunMetrics(runId)))
  )
  return { ...log, decoded: events, state: JSON.stringify(projectAll(runId, events)) }
})
