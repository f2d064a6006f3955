import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { ArchiveStore, type ArchiveTarget } from "@runplane/archive"
import { type FileBounds, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { ArchiveCompaction } from "../../../src/features/archive/ArchiveCompaction.ts"
import { ArchiveOptions } from "../../../src/features/archive/ArchiveOptions.ts"
import { ArchiveState } from "../../../src/features/archive/ArchiveState.ts"
import { appendMessages } from "../../support/Appends.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { eraseMarks, insertMark } from "../../support/MarkSeeds.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { checkArchive, emptied, openTarget, passInto, rowsOf, writing } from "./Archives.ts"

const service = layerTestLog.pipe(Layer.provideMerge(layerTestDatabase))
const options = writing({ bounds: { rows: 10, bytes: 1_000_000 } })

/** The test clock is at the start of 1970, so the days before are closed. */
const compact = (target: ArchiveTarget, bounds?: FileBounds) =>
  Effect.provide(
    ArchiveCompaction.use(({ compact }) => compact),
    Layer.fresh(ArchiveCompaction.layer(bounds)).pipe(
      Layer.provide(Layer.fresh(ArchiveState.layer)),
      Layer.provide([Layer.succeed(ArchiveStore, target), Layer.succeed(ArchiveOptions, options)])
    )
  )

/** An ended run of the days before the first one, with 20 messages and a mark, in several small files. */
const oldRun = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const run = yield* createRun({ createdAt: "1969-12-01T00:00:00.000Z" })
  yield* appendMessages(run, 20, 10)
  yield* insertMark({ runId: run, name: "quality", value: 0.5, comment: "private" })
  yield* endRun(run)
  yield* sql`UPDATE canonical_events SET ts = '1969-12-01T00:00:00Z' WHERE run_id = ${run}::uuid`
  return run
})

const deleteRun = Effect.fnUntraced(function* (id: string) {
  const sql = yield* PgClient.PgClient
  const administration = yield* RunAdministration
  yield* sql.withTransaction(
    Effect.andThen(
      administration.lock([RunId.make(id)]),
      administration.remove([RunId.make(id)], { reason: "deleted", by: "test", at: "1969-12-02T00:00:00.000Z" })
    )
  )
})

layer(service)("the compaction of the archive", (it) => {
  it.effect("merges the small files of closed days, and leaves the open day alone", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const run = yield* oldRun
      yield* passInto(target, options)
      yield* appendMessages(yield* createRun(), 15, 5)
      yield* passInto(target, options)
      const before = yield* target.list("events/")
      assert.lengthOf(before, 5)
      const done = yield* compact(target)
      assert.deepInclude(done, { files: 1, removed: 3, rows: 0 })
      assert.lengthOf(yield* target.list("events/"), 3)
      yield* checkArchive(target)
      assert.isTrue((yield* rowsOf(target, "runs")).some(({ run_id }) => run_id === run))
      assert.deepInclude(yield* compact(target), { files: 0, removed: 0, rows: 0 })
    })
  )

  it.effect("keeps the last version of a row, and no row of a deleted run", () =>
    Effect.gen(function* () {
      yield* emptied
      const sql = yield* PgClient.PgClient
      const target = yield* openTarget
      const [kept, gone] = [yield* oldRun, yield* oldRun]
      yield* passInto(target, options)
      const administration = yield* RunAdministration
      yield* administration.addTag(kept, "later", "1970-01-01T00:00:00.000Z")
      yield* eraseMarks(kept, "1969-12-02T00:00:00.000Z")
      yield* deleteRun(gone)
      yield* passInto(target, options)
      assert.isTrue((yield* rowsOf(target, "events")).some(({ run_id }) => run_id === gone))
      yield* compact(target)
      yield* checkArchive(target)
      assert.deepStrictEqual(
        (yield* rowsOf(target, "runs")).map(({ run_id, tags }) => [run_id, tags]),
        [[kept, ["later"]]]
      )
      assert.deepStrictEqual(
        (yield* rowsOf(target, "marks")).map(({ comment, run_id }) => [run_id, comment]),
        [[kept, null]]
      )
      assert.lengthOf(yield* rowsOf(target, "tombstones"), 1)
      const stones = yield* sql`SELECT erased_at IS NOT NULL AS erased FROM run_tombstones`
      assert.deepStrictEqual([...stones], [{ erased: true }])
    })
  )

  it.effect("leaves an empty file of a day without rows", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const gone = yield* oldRun
      yield* passInto(target, options)
      yield* deleteRun(gone)
      yield* passInto(target, options)
      yield* compact(target)
      assert.lengthOf(yield* target.list("events/"), 1)
      assert.lengthOf(yield* rowsOf(target, "events"), 0)
      assert.lengthOf(yield* rowsOf(target, "runs"), 0)
      yield* checkArchive(target)
    })
  )

  for (const step of ["before the file", "after the file", "before the first part is removed", "between parts"]) {
    it.effect(`continues after a crash ${step}, and readers never count a row twice`, () =>
      Effect.gen(function* () {
        yield* emptied
        const target = yield* openTarget
        yield* oldRun
        yield* passInto(target, options)
        let removed = 0
        const crashing: ArchiveTarget = {
          ...target,
          put: (path, bytes) =>
            step === "before the file"
              ? Effect.interrupt
              : Effect.andThen(target.put(path, bytes), step === "after the file" ? Effect.interrupt : Effect.void),
          remove: (path) =>
            Effect.suspend(() => {
              removed += 1
              if (step === "before the first part is removed") return Effect.interrupt
              return removed === 2 ? Effect.interrupt : target.remove(path)
            })
        }
        assert.isTrue(Exit.isFailure(yield* Effect.exit(compact(crashing))))
        const seqs = (yield* rowsOf(target, "events")).map(({ seq }) => seq)
        assert.strictEqual(new Set(seqs).size, seqs.length)
        assert.lengthOf(seqs, 22)
        yield* compact(target)
        yield* checkArchive(target)
        assert.lengthOf(yield* target.list("events/"), 1)
      })
    )
  }
})
