import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FrameBudget } from "../../src/event-log/append/FrameBudget.ts"
import { EventLogSettings } from "../../src/event-log/EventLogSettings.ts"
import { EventRepository } from "../../src/event-log/EventRepository.ts"
import { Observers } from "../../src/observe/Observers.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitStatus, layerTestObservation } from "../support/Observation.ts"
import { lockRun } from "../support/RowLock.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const LEAD = "agent://lead"
const ENVELOPES = 1_201
const PAYLOAD_BYTES = 4_000

/** So small that the session of the test is to them what 1,201 envelopes of 1 MB are to the real ones. */
const limits = {
  bufferBytes: 100_000,
  runBufferBytes: 40_000,
  appendBytes: 16_000,
  groupBytes: 16_000,
  oldestAppendMs: 10_000
}

const runningRun = Effect.gen(function* () {
  const runId = yield* createRun()
  yield* RuntimeFake.use((fake) => fake.openSession({ sessionId: runId, participants: [LEAD], initiator: LEAD }))
  yield* (yield* Observers).adopt(runId)
  yield* awaitStatus(runId, "running")
  return runId
})

const accept = (runId: RunId, count: number, bytes: number) => {
  const payload = new TextEncoder().encode(JSON.stringify({ text: "x".repeat(bytes) }))
  const one = RuntimeFake.use((fake) => fake.accept(runId, { messageType: "Contribute", sender: LEAD, payload }))
  return Effect.forEach(Array.from({ length: count }), () => one, { discard: true })
}

const stored = (runId: RunId, count: number) =>
  until(
    EventRepository.use((events) => events.head(runId)),
    (head) => head?.cursor === count
  )

/** Bytes of the frames that a transaction has stored, of the one with most. */
const largestTransaction = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly bytes: number }>`
    SELECT max(bytes)::int AS bytes FROM (
      SELECT sum(length(payload::text)) AS bytes FROM raw_events WHERE run_id = ${runId}::uuid GROUP BY xmin::text
    ) AS transactions`
  return row?.bytes ?? 0
})

layer(layerTestDatabase, { excludeTestServices: true, timeout: "60 seconds" })("a session of large envelopes", (it) => {
  it.effect("waits in the runtime instead of in memory, is stored whole, and does not block other runs", () =>
    Effect.gen(function* () {
      const budget = yield* FrameBudget
      const fat = yield* runningRun
      const quiet = yield* runningRun
      const unlock = yield* lockRun(fat)
      yield* accept(fat, ENVELOPES, PAYLOAD_BYTES)
      yield* until(Effect.sync(budget.used), (used) => used > limits.runBufferBytes - limits.appendBytes)
      yield* accept(quiet, 20, 100)
      yield* stored(quiet, 20)
      // The frames of the quiet run leave the budget after their commit; the locked run keeps its own.
      yield* until(Effect.sync(budget.used), (used) => used <= limits.runBufferBytes)
      yield* unlock
      yield* stored(fat, ENVELOPES)
      yield* until(Effect.sync(budget.used), (used) => used === 0)
      // What is stored of a frame is its payload as base64, and little beside it.
      assert.isAtMost(yield* largestTransaction(fat), 2 * limits.groupBytes)
      const { decoded } = yield* assertLogIsExact(fat)
      assert.strictEqual(decoded.filter(({ type }) => type === "message.received").length, ENVELOPES)
    }).pipe(Effect.provide(layerTestObservation().pipe(Layer.provide(Layer.succeed(EventLogSettings, limits)))))
  )
})
