import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { EVENTS_PER_READ } from "../../../src/queries/events/EventsHttp.ts"
import { appendMessages, messageDraft } from "../../support/Appends.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { createRun } from "../../support/Runs.ts"

const at = (second: number) => `2026-07-01T10:00:0${second}.000Z`

/** A run with run.created at second 0, then messages at the seconds 1 to 5, of which the third is a signal. */
const seeded = Effect.gen(function* () {
  const runId = yield* createRun()
  const log = yield* EventLog
  const events = [1, 2, 3, 4, 5].map((second) =>
    messageDraft(second, at(second), "", { type: second === 3 ? "signal.emitted" : "message.received" })
  )
  yield* log.record({ runId, events })
  const { body } = yield* call("GET", `/runs/${runId}/events`)
  const seqs: ReadonlyArray<number> = body.map((event: { seq: number }) => event.seq)
  return { runId, seqs }
})

layer(layerTestService(), { excludeTestServices: true })("GET /runs/:id/events", (it) => {
  let cached: { readonly runId: RunId; readonly seqs: ReadonlyArray<number> } | undefined
  const fixture = Effect.gen(function* () {
    cached ??= yield* seeded
    return cached
  })
  const indexes = (events: ReadonlyArray<{ readonly index: number }>) => events.map((event) => event.index)

  it.effect("returns a bare array of the stored JSON, ascending", () =>
    Effect.gen(function* () {
      const { runId } = yield* fixture
      const answer = yield* call("GET", `/runs/${runId}/events`)
      assert.deepStrictEqual(indexes(answer.body), [1, 2, 3, 4, 5, 6])
      const sql = yield* PgClient.PgClient
      const rows = yield* sql<{ readonly event: string }>`
        SELECT event::text AS event FROM canonical_events WHERE run_id = ${runId}::uuid ORDER BY seq`
      assert.strictEqual(answer.text, `[${rows.map((row) => row.event).join(",")}]`)
    })
  )

  it.effect("stays a bare array with afterSeq, limit and empty filters", () =>
    Effect.gen(function* () {
      const { runId, seqs } = yield* fixture
      const answer = yield* call("GET", `/runs/${runId}/events?afterSeq=${seqs[1]}&limit=2&type=&afterTs=`)
      assert.deepStrictEqual(indexes(answer.body), [3, 4])
    })
  )

  for (const [query, expected] of [
    [`afterTs=${at(2)}`, [3, 4, 5, 6]],
    [`beforeTs=${at(2)}`, [1, 2]],
    [`afterTs=${at(2)}&beforeTs=${at(4)}`, [3, 4]],
    ["type=signal.emitted", [4]],
    ["type=signal.emitted,run.created", [1, 4]],
    ["type=no.such.type", []]
  ] as const) {
    it.effect(`returns the envelope for ?${query}`, () =>
      Effect.gen(function* () {
        const { runId } = yield* fixture
        const { body } = yield* call("GET", `/runs/${runId}/events?${query}`)
        assert.deepStrictEqual(indexes(body.data), [...expected])
        assert.strictEqual(body.total, expected.length)
        assert.strictEqual(body.limit, 200)
        assert.notProperty(body, "nextCursor")
      })
    )
  }

  it.effect("has a cursor on full pages only, which continues with the next page", () =>
    Effect.gen(function* () {
      const { runId, seqs } = yield* fixture
      const first = yield* call("GET", `/runs/${runId}/events?type=message.received&limit=3`)
      assert.deepStrictEqual(indexes(first.body.data), [2, 3, 5])
      assert.strictEqual(first.body.total, 4)
      assert.strictEqual(first.body.nextCursor, seqs[4])
      const second = yield* call(
        "GET",
        `/runs/${runId}/events?type=message.received&limit=3&afterSeq=${first.body.nextCursor}`
      )
      assert.deepStrictEqual(indexes(second.body.data), [6])
      assert.strictEqual(second.body.total, 1)
      assert.notProperty(second.body, "nextCursor")
    })
  )

  it.effect("has no greatest limit", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const count = 2 * EVENTS_PER_READ
      yield* appendMessages(runId, count, 500)
      const all = yield* call("GET", `/runs/${runId}/events?limit=1000000`)
      assert.lengthOf(all.body, count + 1)
      assert.deepStrictEqual(
        indexes(all.body),
        Array.from({ length: count + 1 }, (_, offset) => offset + 1)
      )
      const exact = yield* call("GET", `/runs/${runId}/events?type=message.received&limit=${count}`)
      assert.lengthOf(exact.body.data, count)
      assert.strictEqual(exact.body.total, count)
      assert.strictEqual(exact.body.nextCursor, exact.body.data.at(-1).seq)
    })
  )

  it.effect("returns an empty page after the last event, and 404 for an unknown run", () =>
    Effect.gen(function* () {
      const { runId } = yield* fixture
      const beyond = yield* call("GET", `/runs/${runId}/events?afterSeq=999999999999`)
      assert.strictEqual(beyond.text, "[]")
      const unknown = yield* call("GET", `/runs/${RunId.make(randomUUID())}/events`)
      assert.strictEqual(unknown.status, 404)
    })
  )

  for (const query of ["limit=0", "afterSeq=-1", "afterSeq=x", "afterTs=yesterday", "beforeTs=1"]) {
    it.effect(`rejects ?${query}`, () =>
      Effect.gen(function* () {
        const { runId } = yield* fixture
        const { body, status } = yield* call("GET", `/runs/${runId}/events?${query}`)
        assert.strictEqual(status, 400)
        assert.isArray(body.message)
      })
    )
  }

  it.effect("returns the fold of the log and the stored counters", () =>
    Effect.gen(function* () {
      const { runId } = yield* fixture
      const stored = yield* assertLogIsExact(runId)
      const state = yield* call("GET", `/runs/${runId}/state`)
      const metrics = yield* call("GET", `/runs/${runId}/metrics`)
      assert.strictEqual(state.text, stored.state)
      assert.strictEqual(metrics.text, stored.projection?.metrics)
      assert.match(state.headers.get("content-type") ?? "", /^application\/json/)
      assert.strictEqual(state.body.timeline.latestIndex, 6)
    })
  )
})
