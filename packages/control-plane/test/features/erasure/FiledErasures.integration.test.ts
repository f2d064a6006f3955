import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { ArchiveStore, type ArchiveTarget, fileTarget } from "@runplane/archive"
import { ARCHIVE_TABLES, type RunId, textFinder } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ArchiveCompaction } from "../../../src/features/archive/ArchiveCompaction.ts"
import { ArchiveOptions } from "../../../src/features/archive/ArchiveOptions.ts"
import { ArchiveState } from "../../../src/features/archive/ArchiveState.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { aDeletion, removeRuns } from "../../support/Runs.ts"
import {
  betweenWrites,
  checkArchive,
  emptied,
  openTarget,
  passInto,
  rowsOf,
  temporaryFolder,
  truncated,
  writing
} from "../archive/Archives.ts"
import { eraseText, PERSON, personRun, REASON, rowsWith, verifiedExports } from "./PersonRuns.ts"

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

const emptyArchive = Effect.andThen(
  emptied,
  truncated("archive_erasures, archive_erased_events, archive_erased_runs, audit_log")
)

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

/** A service with an archive in a folder, which it reads; tests write it. */
const layerFiled = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) =>
    layerTestService({ settings: { ARCHIVE_URL: `file://${folder}` } }).pipe(
      Layer.provideMerge(Layer.succeed(ArchiveStore, fileTarget(folder)))
    )
  )
)

/** A run that only files have. */
const coldRun = Effect.gen(function* () {
  const target = yield* ArchiveStore
  // The writer of the service would file the events of today before they are of an earlier day.
  const runId = yield* betweenWrites(target, oldPersonRun)
  yield* passInto(target, options)
  yield* removeRuns([runId], { ...aDeletion, reason: "expired" })
  assert.strictEqual((yield* call("GET", `/runs/${runId}`)).body.storage, "archive")
  return { runId, target }
})

layer(layerFiled, { excludeTestServices: true })("an erasure of a run that only files have", (it) => {
  it.effect("is read at once, and is in the files after a compaction", () =>
    Effect.gen(function* () {
      const { runId, target } = yield* coldRun
      const paths = ["", "/events?limit=200", "/state", "/decision/why", "/export?format=json", "/export?format=jsonl"]
      const read = Effect.forEach(paths, (path) => Effect.map(call("GET", `/runs/${runId}${path}`), ({ text }) => text))
      const isIn = textFinder(PERSON)
      assert.isAbove((yield* read).filter(isIn).length, 3)
      const { erased, planned } = yield* eraseText(runId)
      assert.isAbove(erased.members, 3)
      assert.deepInclude(erased, { members: planned.members, rows: planned.rows })
      assert.include(erased.pending.until, "runplane archive compact")
      assert.isTrue(erased.remains.some(({ of }: { of: string }) => of === "mark"))
      for (const [at, text] of (yield* read).entries()) assert.isFalse(isIn(text), paths[at])
      for (const { verified } of yield* verifiedExports(runId)) {
        assert.isTrue(verified.ok && verified.erased === erased.members && verified.signature === "valid")
      }
      yield* compact(target)
      assert.lengthOf(yield* pendingOf(runId), 0)
      const left = yield* filedWith(target)
      // The marks of such a run stay, and the answer has said so.
      assert.isTrue(
        left.every((row) => row.startsWith("marks")),
        left.join("\n")
      )
      for (const [at, text] of (yield* read).entries()) assert.isFalse(isIn(text), paths[at])
      yield* verifiedExports(runId)
      const rows = yield* rowsWith(PERSON)
      assert.isTrue(
        rows.every((row) => row.startsWith("public.audit_log")),
        rows.join("\n")
      )
    })
  )

  it.effect("continues the chain of the erasures from before, and of itself", () =>
    Effect.gen(function* () {
      const target = yield* ArchiveStore
      const runId = yield* betweenWrites(target, oldPersonRun)
      const first = yield* eraseText(runId, "has paid twice")
      yield* passInto(target, options)
      yield* removeRuns([runId], { ...aDeletion, reason: "expired" })
      const second = yield* eraseText(runId, PERSON)
      const third = yield* eraseText(runId, "seen it")
      const members = [first, second, third].reduce((sum, { erased }) => sum + erased.members, 0)
      for (const { verified } of yield* verifiedExports(runId)) {
        assert.isTrue(verified.ok && verified.erased === members)
      }
      yield* compact(target)
      assert.lengthOf(yield* pendingOf(runId), 0)
      for (const { verified } of yield* verifiedExports(runId)) {
        assert.isTrue(verified.ok && verified.erased === members)
      }
    })
  )

  it.effect("is a part of a job over all runs", () =>
    Effect.gen(function* () {
      const { runId } = yield* coldRun
      const body = { find: "has paid twice", reason: REASON }
      const done = (id: string) =>
        Effect.map(
          until(call("GET", `/erasures/${id}`), ({ body }) => body.state === "done"),
          ({ body }) => body
        )
      const began = yield* call("POST", "/erasures", { body: { ...body, dryRun: true } })
      const plan = yield* done(began.body.id)
      assert.isAbove(plan.matching, 0, JSON.stringify(plan))
      const { body: job } = yield* call("POST", "/erasures", { body: { ...body, plan: plan.plan } })
      assert.deepInclude(yield* done(job.id), { leftOut: 0, erased: plan.matching, pendingFiles: plan.matching })
      assert.notInclude((yield* call("GET", `/runs/${runId}/events?limit=200`)).text, "has paid twice")
      yield* verifiedExports(runId)
    })
  )

  it.effect("goes with the run that a caller deletes", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { runId } = yield* coldRun
      yield* eraseText(runId)
      assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
      assert.lengthOf(yield* sql`SELECT FROM archive_erased_runs WHERE run_id = ${runId}::uuid`, 0)
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 404)
    })
  )
})
