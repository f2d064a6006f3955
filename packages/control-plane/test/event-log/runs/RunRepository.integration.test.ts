import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunRepository } from "../../../src/event-log/runs/RunRepository.ts"
import { toStoredRun } from "../../../src/event-log/runs/RunRow.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const UNKNOWN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })("rows of runs", (it) => {
  it.effect("are those of the references, however many callers read at once and however large a row is", () =>
    Effect.gen(function* () {
      const repository = yield* RunRepository
      const runs = yield* Effect.forEach(Array.from({ length: 80 }), (_, number) =>
        createRun({
          sessionId: `session-${number}`,
          metadata: { number, text: "x".repeat(number % 8 === 0 ? 100_000 : 10) }
        })
      )
      const references = runs.flatMap((runId, number) => [
        runId,
        runId.toUpperCase(),
        `session-${number}`,
        UNKNOWN,
        "unknown"
      ])
      const rows = yield* Effect.forEach(references, repository.row, { concurrency: "unbounded" })
      const expected = yield* Effect.forEach(references, repository.find, { concurrency: 8 })
      assert.deepStrictEqual(
        rows.map((row) => row && toStoredRun(row)),
        expected
      )
      assert.strictEqual(expected.filter((run) => run !== undefined).length, 3 * runs.length)
    })
  )

  it.effect("show every commit before the read", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const repository = yield* RunRepository
      const runId = yield* createRun()
      const readers = Effect.forEach(Array.from({ length: 20 }), () => repository.row(runId), { concurrency: 20 })
      for (const text of ["first", "second", "third"]) {
        yield* sql`UPDATE runs SET error_message = ${text} WHERE id = ${runId}::uuid`
        const rows = yield* readers
        assert.deepStrictEqual(new Set(rows.map((row) => row?.error_message)), new Set([text]))
      }
    })
  )
})
