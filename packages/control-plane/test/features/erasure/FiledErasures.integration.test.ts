import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { ArchiveStore, type ArchiveTarget } from "@runplane/archive"
import { ARCHIVE_TABLES, type RunId, textFinder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ArchiveCompaction } from "../../../src/features/archive/ArchiveCompaction.ts"
import { ArchiveOptions } from "../../../src/features/archive/ArchiveOptions.ts"
import { ArchiveState } from "../../../src/features/archive/ArchiveState.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { checkArchive, emptied, openTarget, passInto, rowsOf, writing } from "../archive/Archives.ts"
import { eraseText, PERSON, personRun, REASON, rowsWith } from "./PersonRuns.ts"

const options = writing({ bounds: { rows: 5, bytes: 1_000_000 } })

const compact = (target: ArchiveTarget) =>
  Effect.provide(
    ArchiveCompaction.use(({ compact }) => compact),
    Layer.fresh(ArchiveCompaction.layer()).pipe(
      Layer.provide(Layer.fresh(ArchiveState.layer)),
      Layer.provide([Layer.succeed(ArchiveStore, target), Layer.succeed(ArchiveOptions, options)])
    )
  )

/** The rows of all files that have the person. */
const filedWith = Effect.fnUntraced(function* (target: ArchiveTarget) {
  const isIn = textFinder(PERSON)
  const found: Array<string> = []
  for (const table of ARCHIVE_TABLES) {
    for (const row of yield* rowsOf(target, table)) {
      const text = JSON.stringify(row)
      if (isIn(text)) found.push(`${table}: ${text.slice(0, 200)}`)
    }
  }
  return found
})

/** A run of a day that has ended. */
const oldPersonRun = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const runId = yield* personRun()
  yield* sql`UPDATE canonical_events SET ts = '2026-07-01T10:00:00Z' WHERE run_id = ${runId}::uuid`
  return runId
})

const pendingOf = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  return yield* sql`SELECT FROM archive_erasures WHERE run_id = ${runId}::uuid AND rewritten_at IS NULL`
})

const emptyArchive = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* emptied
  yield* sql`TRUNCATE archive_erasures, archive_erased_events, audit_log`
})

layer(layerTestService(), { excludeTestServices: true })("an erasure of a run that is in files", (it) => {
  it.effect("is pending until compaction has rewritten the files", () =>
    Effect.gen(function* () {
      yield* emptyArchive
      const target = yield* openTarget
      const runId = yield* oldPersonRun
      yield* passInto(target, options)
      assert.isAbove((yield* filedWith(target)).length, 3)
      const { erased, planned } = yield* eraseText(runId)
      for (const { pending } of [planned, erased]) assert.include(pending.until, "runplane archive compact")
      // The changed row of the run is not in files yet, so its former row stays.
      yield* compact(target)
      assert.lengthOf(yield* pendingOf(runId), 1)
      yield* passInto(target, options)
      yield* compact(target)
      assert.deepStrictEqual(yield* filedWith(target), [])
      assert.lengthOf(yield* pendingOf(runId), 0)
      yield* checkArchive(target)
      const [row] = (yield* rowsOf(target, "runs")).filter(({ run_id }) => run_id === runId)
      assert.include(row?.erasures ?? "", REASON)
      const left = yield* rowsWith(PERSON)
      assert.isTrue(
        left.every((text) => text.startsWith("public.audit_log")),
        left.join("\n")
      )
      assert.deepInclude(yield* compact(target), { files: 0, removed: 0, rows: 0 })
    })
  )

  it.effect("leaves files of a day that has not ended, and rewrites them afterwards", () =>
    Effect.gen(function* () {
      yield* emptyArchive
      const sql = yield* PgClient.PgClient
      const target = yield* openTarget
      const runId = yield* personRun()
      yield* passInto(target, options)
      yield* eraseText(runId)
      yield* passInto(target, options)
      yield* compact(target)
      assert.isAbove((yield* filedWith(target)).length, 0)
      assert.lengthOf(yield* pendingOf(runId), 1)
      const rows = yield* sql`SELECT FROM archive_erased_events WHERE run_id = ${runId}::uuid`
      assert.isAbove(rows.length, 0)
    })
  )

  it.effect("writes erased events into files that did not have the run yet", () =>
    Effect.gen(function* () {
      yield* emptyArchive
      const target = yield* openTarget
      yield* passInto(target, options)
      const runId = yield* oldPersonRun
      const { erased } = yield* eraseText(runId)
      assert.isNull(erased.pending)
      yield* passInto(target, options)
      assert.deepStrictEqual(yield* filedWith(target), [])
      yield* compact(target)
      assert.lengthOf(yield* pendingOf(runId), 0)
      yield* checkArchive(target)
    })
  )

  it.effect("forgets the copy of its events when a caller deletes the run", () =>
    Effect.gen(function* () {
      yield* emptyArchive
      const sql = yield* PgClient.PgClient
      const target = yield* openTarget
      const runId = yield* oldPersonRun
      yield* passInto(target, options)
      yield* eraseText(runId)
      assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
      assert.lengthOf(yield* pendingOf(runId), 0)
      assert.lengthOf(yield* sql`SELECT FROM archive_erased_events`, 0)
      yield* passInto(target, options)
      yield* compact(target)
      assert.deepStrictEqual(yield* filedWith(target), [])
    })
  )
})
