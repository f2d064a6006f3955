import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { projectAll, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { RunStateReader } from "../../../src/event-log/projection/RunStateReader.ts"
import { appendMessages, messageDraft } from "../../support/Appends.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const UNKNOWN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"

/** What the events of a run come to. */
const folded = (runId: RunId) =>
  Effect.map(assertLogIsExact(runId), ({ decoded }) => JSON.stringify(projectAll(runId, decoded)))

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })(
  "the states of runs",
  (it) => {
    it.effect("are those of their runs, for any number of reads at once, by id and by session", () =>
      Effect.gen(function* () {
        const states = yield* RunStateReader
        const runs = yield* Effect.forEach(Array.from({ length: 80 }), (_, position) =>
          createRun({ sessionId: `session-${position}` })
        )
        yield* Effect.forEach(runs, (runId, position) => appendMessages(runId, position % 4), { concurrency: 8 })
        for (const round of [1, 2]) {
          const asked = runs.flatMap((runId, position) => [
            runId,
            runId.toUpperCase(),
            `session-${position}`,
            UNKNOWN,
            "unknown"
          ])
          const found = yield* Effect.forEach(asked, states.current, { concurrency: "unbounded" })
          const expected = yield* Effect.forEach(runs, folded)
          for (const [position, runId] of runs.entries()) {
            const [byId, byUpperCase, bySession, ...others] = found.slice(position * 5, position * 5 + 5)
            assert.strictEqual(byId?.runId, runId)
            assert.strictEqual(byId?.state, expected[position], `round ${round}`)
            assert.deepStrictEqual([byUpperCase, bySession], [byId, byId])
            assert.deepStrictEqual(others, [undefined, undefined])
          }
          // Cached states must not be returned again.
          yield* Effect.forEach(runs, (runId) => appendMessages(runId, 1), { concurrency: 8 })
        }
      })
    )

    it.effect("are read alone when they are large, known or not", () =>
      Effect.gen(function* () {
        const states = yield* RunStateReader
        const sql = yield* PgClient.PgClient
        const runs = yield* Effect.forEach(Array.from({ length: 6 }), () => createRun())
        yield* Effect.forEach(runs, (runId) => appendMessages(runId, 3, 1, "x".repeat(100_000)))
        // As another process would leave them.
        yield* sql`UPDATE run_heads SET projection_revision = projection_revision + 1 WHERE run_id = ANY(${runs}::text[]::uuid[])`
        const expected = yield* Effect.forEach(runs, folded)
        for (const _ of [1, 2]) {
          const found = yield* Effect.forEach(runs, states.current, { concurrency: "unbounded" })
          assert.isTrue(found.every((state, position) => state?.state === expected[position]))
        }
      })
    )

    it.effect("are those of the transaction that asks", () =>
      Effect.gen(function* () {
        const states = yield* RunStateReader
        const sql = yield* PgClient.PgClient
        const log = yield* EventLog
        const runId = yield* createRun()
        yield* log.record({ runId, events: [messageDraft(1)] })
        const isGone = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`DELETE FROM runs WHERE id = ${runId}::uuid`
            const seen = yield* states.current(runId)
            return seen === undefined
          })
        )
        assert.isTrue(isGone)
      })
    )
  }
)
