import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { appendMessages, messageDraft } from "../../support/Appends.ts"
import { call, layerTestService, openStream } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

/** Restores a backup that was made after the event with this index. */
const restore = Effect.fnUntraced(function* (runId: RunId, index: number) {
  const sql = yield* PgClient.PgClient
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`DELETE FROM canonical_events WHERE run_id = ${runId}::uuid AND index > ${index}`
      yield* sql`DELETE FROM projections WHERE run_id = ${runId}::uuid`
      yield* sql`
        UPDATE run_heads SET last_index = ${index}, chain_head = NULL,
                             last_seq = (SELECT max(seq) FROM canonical_events WHERE run_id = ${runId}::uuid)
        WHERE run_id = ${runId}::uuid`
      yield* sql`SELECT setval('event_seq', (SELECT max(seq) FROM canonical_events))`
    })
  )
})

layer(layerTestService(), { excludeTestServices: true })("event streams of a database that was restored", (it) => {
  it.effect("begin with a reset where the cursor is beyond the end", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* appendMessages(runId, 2, 2)
      const { body: state } = yield* call("GET", `/runs/${runId}/state`)
      const { latestSeq } = state.timeline
      const beyond = latestSeq + 1_000
      const streams = [
        yield* openStream(`/runs/${runId}/stream?afterSeq=${beyond}`),
        yield* openStream(`/runs/${runId}/stream?includeSnapshot=false`, { "last-event-id": String(beyond) })
      ]
      const tails = [
        yield* openStream(`/events/stream?afterSeq=${beyond}`),
        yield* openStream("/events/stream", { "last-event-id": String(beyond) })
      ]
      const firsts = yield* Effect.forEach([...streams, ...tails], (stream) => stream.next)
      for (const [position, reset] of firsts.entries()) {
        const { ts, ...data } = reset?.data ?? {}
        const index = position < streams.length ? { index: 3 } : {}
        assert.deepStrictEqual(
          [reset?.event, reset?.id, data],
          ["reset", String(latestSeq), { seq: latestSeq, ...index, afterSeq: beyond }]
        )
        assert.strictEqual(new Date(ts).toISOString(), ts)
      }
      for (const stream of streams) {
        assert.deepStrictEqual([(yield* stream.next)?.data], [state])
      }
      for (const tail of tails) {
        const beat = yield* tail.next
        assert.deepStrictEqual([beat?.event, beat?.data.seq], ["heartbeat", latestSeq])
      }
      const { lastSeq } = yield* log.record({ runId, events: [messageDraft(9)] })
      for (const stream of [...streams, ...tails]) {
        const live = yield* stream.next
        assert.deepStrictEqual([live?.event, live?.id], ["canonical_event", String(lastSeq)])
      }
    })
  )

  it.effect("continue where the cursor is the end", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      const { lastSeq: end } = yield* log.record({ runId, events: [messageDraft(1)] })
      const stream = yield* openStream(`/runs/${runId}/stream?afterSeq=${end}&includeSnapshot=false`)
      const tail = yield* openStream(`/events/stream?afterSeq=${end}`)
      assert.strictEqual((yield* tail.next)?.event, "heartbeat")
      const { lastSeq } = yield* log.record({ runId, events: [messageDraft(2)] })
      for (const frames of [stream, tail]) assert.strictEqual((yield* frames.next)?.id, String(lastSeq))
    })
  )

  it.effect("begin again when it is restored while they are open", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runId = yield* createRun()
      yield* appendMessages(runId, 4, 1)
      const stream = yield* openStream(`/runs/${runId}/stream?heartbeatMs=1000`)
      const tails = [yield* openStream("/events/stream"), yield* openStream("/events/stream?q=type:message.received")]
      assert.strictEqual((yield* stream.next)?.event, "snapshot")
      for (const tail of tails) assert.strictEqual((yield* tail.next)?.event, "heartbeat")
      yield* restore(runId, 2)
      const { body: state } = yield* call("GET", `/runs/${runId}/state`)
      for (const frames of [stream, ...tails]) {
        const reset = yield* frames.nextOf("reset")
        assert.strictEqual(reset?.data.seq, state.timeline.latestSeq)
      }
      assert.deepStrictEqual((yield* stream.next)?.data, state)
      const { lastSeq } = yield* log.record({ runId, events: [messageDraft(9)] })
      for (const frames of [stream, ...tails]) {
        assert.strictEqual((yield* frames.nextOf("canonical_event"))?.id, String(lastSeq))
      }
    })
  )
})
