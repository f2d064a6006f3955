import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { ArchiveFault, type ArchiveTarget } from "@runplane/archive"
import { archiveFile, RunId } from "@runplane/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { ArchiveWriter } from "../../../src/features/archive/ArchiveWriter.ts"
import { ARCHIVE_LOCK } from "../../../src/platform/postgres/AdvisoryLocks.ts"
import { appendMessages } from "../../support/Appends.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { eraseMarks, insertMark } from "../../support/MarkSeeds.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { checkArchive, layerWriter, openTarget, passInto, rowsOf, writing } from "./Archives.ts"

const service = layerTestLog.pipe(Layer.provideMerge(layerTestDatabase))

/** An empty log without an archive. */
const emptied = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`TRUNCATE runs, canonical_events, raw_events, outbound_messages, projections, run_metrics, run_tombstones,
                      archive_state, archive_ranges, archive_files, archive_runs, archive_changes CASCADE`
})

const DAY_MS = 86_400_000

/** Moves the times of events back by days. */
const age = Effect.fnUntraced(function* (runId: string, days: number) {
  const sql = yield* PgClient.PgClient
  yield* sql`UPDATE canonical_events SET ts = ts - make_interval(days => ${days}) WHERE run_id = ${runId}::uuid`
})

const deleteRun = Effect.fnUntraced(function* (id: string, reason: "deleted" | "expired" = "deleted") {
  const sql = yield* PgClient.PgClient
  const administration = yield* RunAdministration
  yield* sql.withTransaction(
    Effect.andThen(
      administration.lock([RunId.make(id)]),
      administration.remove([RunId.make(id)], { reason, by: "test", at: "2026-07-02T00:00:00.000Z" })
    )
  )
})

const broken = (kind: ArchiveFault["kind"] = "unreachable") =>
  Effect.fail(new ArchiveFault({ kind, message: "the test says so" }))

/** A target whose `put` fails or stops at the given call, before or after the file is visible. */
const failingAt = (
  target: ArchiveTarget,
  call: number,
  when: "before" | "after",
  how: Effect.Effect<never, ArchiveFault>
) => {
  let calls = 0
  return {
    ...target,
    put: (path: string, bytes: Uint8Array) =>
      Effect.suspend(() => {
        calls += 1
        if (calls !== call) return target.put(path, bytes)
        return when === "before" ? how : Effect.andThen(target.put(path, bytes), how)
      })
  }
}

layer(service)("the writer of the archive", (it) => {
  it.effect("writes every event once, byte for byte, in files within the bounds", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      for (const _ of [1, 2, 3]) yield* appendMessages(yield* createRun(), 20, 5)
      const options = writing({ bounds: { rows: 10, bytes: 1_000_000 } })
      const written = yield* passInto(target, options)
      assert.deepInclude(written, { rows: 63, files: 7 })
      assert.strictEqual(yield* checkArchive(target), 63)
      // Nothing is left to do; more events make more files.
      assert.isFalse((yield* passInto(target, options)).wrote)
      yield* appendMessages(yield* createRun(), 4, 4)
      assert.deepInclude(yield* passInto(target, options), { rows: 5, files: 1 })
      assert.strictEqual(yield* checkArchive(target), 68)
    })
  )

  it.effect("bounds files in bytes, and takes an event beyond the bound alone", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const run = yield* createRun()
      yield* appendMessages(run, 3, 1, "x".repeat(20_000))
      const written = yield* passInto(target, writing({ bounds: { rows: 1_000, bytes: 10_000 } }))
      assert.strictEqual(written.files, 4)
      assert.strictEqual(yield* checkArchive(target), 4)
    })
  )

  it.effect("writes a file for each day of a range", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const [old, young] = [yield* createRun(), yield* createRun()]
      yield* appendMessages(old, 2, 2)
      yield* age(old, 1)
      yield* appendMessages(young, 2, 2)
      yield* passInto(target)
      assert.strictEqual(yield* checkArchive(target), 6)
      const files = (yield* target.list("events/")).flatMap((path) => archiveFile(path) ?? [])
      assert.lengthOf(files, 2)
      const [first, second] = files.map(({ day }) => Date.parse(day))
      assert.strictEqual((second ?? 0) - (first ?? 0), DAY_MS)
    })
  )

  for (const when of ["before", "after"] as const) {
    for (const call of [1, 2, 3]) {
      it.effect(`repeats a range after a crash ${when} file ${call}`, () =>
        Effect.gen(function* () {
          yield* emptied
          const target = yield* openTarget
          const runs = [yield* endedRun, yield* endedRun]
          yield* age(runs[0] ?? "", 1)
          const crashed = yield* Effect.exit(passInto(failingAt(target, call, when, Effect.interrupt)))
          assert.isTrue(Exit.isFailure(crashed))
          yield* appendMessages(yield* createRun(), 3, 3)
          yield* passInto(target)
          assert.strictEqual(yield* checkArchive(target), 8)
          assert.sameMembers(
            (yield* rowsOf(target, "runs")).map(({ run_id }) => run_id),
            runs
          )
        })
      )
    }
  }

  it.effect("removes a planned file whose run was deleted before the range was repeated", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const [old, young] = [yield* endedRun, yield* createRun()]
      yield* age(old, 1)
      yield* Effect.exit(passInto(failingAt(target, 2, "after", Effect.interrupt)))
      assert.lengthOf(yield* target.list("events/"), 2)
      yield* deleteRun(old)
      yield* appendMessages(young, 1)
      yield* passInto(target)
      yield* checkArchive(target)
      assert.isFalse((yield* rowsOf(target, "events")).some(({ run_id }) => run_id === old))
    })
  )

  it.effect("loses nothing when the store fails, and says why", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      yield* endedRun
      for (const kind of ["full", "refused", "clock", "unreachable"] as const) {
        const fault = yield* Effect.flip(passInto(failingAt(target, 1, "before", broken(kind))))
        assert.include(fault, { kind })
      }
      yield* passInto(target)
      assert.strictEqual(yield* checkArchive(target), 2)
      assert.lengthOf(yield* rowsOf(target, "runs"), 1)
    })
  )

  it.effect("stops a writer that has lost its lock, before it changes another file", () =>
    Effect.gen(function* () {
      yield* emptied
      const sql = yield* PgClient.PgClient
      const target = yield* openTarget
      const [old, young] = [yield* endedRun, yield* endedRun]
      yield* age(old, 1)
      const [reached, resume] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const put: Array<string> = []
      // It pauses when the first of two files is visible.
      const slow: ArchiveTarget = {
        ...target,
        put: (path, bytes) =>
          target
            .put(path, bytes)
            .pipe(
              Effect.andThen(Effect.sync(() => put.push(path))),
              Effect.andThen(Deferred.succeed(reached, undefined)),
              Effect.andThen(Deferred.await(resume))
            )
      }
      const replaced = yield* Effect.forkChild(Effect.flip(passInto(slow)))
      yield* Deferred.await(reached)
      const ended = yield* sql<{ readonly count: number }>`
        SELECT count(pg_terminate_backend(pid))::int AS count FROM pg_locks
        WHERE locktype = 'advisory' AND objid = ${ARCHIVE_LOCK} AND objsubid = 1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      assert.strictEqual(ended[0]?.count, 1)
      yield* deleteRun(old)
      yield* passInto(target)
      yield* appendMessages(young, 1)
      yield* passInto(target)
      yield* Deferred.succeed(resume, undefined)
      assert.include((yield* Fiber.join(replaced)).message, "lost the lock")
      assert.lengthOf(put, 1)
      yield* checkArchive(target)
      assert.isFalse((yield* rowsOf(target, "events")).some(({ run_id }) => run_id === old))
      assert.lengthOf(yield* rowsOf(target, "tombstones"), 1)
    })
  )

  it.effect("does nothing while another process has the lock, and reports one that keeps it", () =>
    Effect.gen(function* () {
      yield* emptied
      const sql = yield* PgClient.PgClient
      const target = yield* openTarget
      yield* endedRun
      yield* Effect.gen(function* () {
        const writer = yield* ArchiveWriter
        yield* Effect.scoped(
          Effect.gen(function* () {
            const other = yield* sql.reserve
            yield* other.execute("SELECT pg_advisory_lock($1::bigint)", [ARCHIVE_LOCK], undefined)
            yield* Effect.addFinalizer(() =>
              Effect.ignore(other.execute("SELECT pg_advisory_unlock($1::bigint)", [ARCHIVE_LOCK], undefined))
            )
            assert.isTrue(Option.isNone(yield* writer.step))
            yield* TestClock.adjust("9 minutes")
            assert.isTrue(Option.isNone(yield* writer.step))
            yield* TestClock.adjust("1 minute")
            const fault = yield* Effect.flip(writer.step)
            assert.match(fault.message, /another process has had the lock of the archive for 10 minutes/)
            assert.lengthOf(yield* target.list(""), 0)
          })
        )
        assert.isTrue(Option.isSome(yield* writer.step))
      }).pipe(Effect.provide(layerWriter(target)))
    })
  )

  it.effect("lets two writers work side by side while runs are deleted", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const options = writing({ bounds: { rows: 3, bytes: 1_000_000 } })
      const runs: Array<string> = []
      for (let run = 0; run < 6; run++) runs.push(yield* endedRun)
      yield* passInto(target, options)
      const work = Effect.gen(function* () {
        for (let round = 0; round < 5; round++) yield* passInto(target, options)
      })
      const change = Effect.gen(function* () {
        for (const run of runs.slice(0, 3)) {
          yield* appendMessages(yield* createRun(), 10, 5)
          yield* deleteRun(run)
        }
      })
      yield* Effect.all([work, work, change], { concurrency: "unbounded" })
      yield* passInto(target, options)
      assert.strictEqual(yield* checkArchive(target, new Set(runs.slice(0, 3))), 39)
    }).pipe(TestClock.withLive)
  )

  it.effect("writes an ended run after its events, and again when it changes", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      const open = yield* createRun()
      const ended = yield* endedRun
      yield* passInto(target)
      const [first, ...others] = yield* rowsOf(target, "runs")
      assert.lengthOf(others, 0)
      assert.deepInclude(first, { run_id: ended, status: "cancelled", events: 2, tags: [] })
      assert.strictEqual(JSON.parse(first?.run ?? "").id, ended)
      const administration = yield* RunAdministration
      yield* administration.addTag(ended, "kept", "2026-07-02T00:00:00.000Z")
      yield* administration.addTag(open, "open", "2026-07-02T00:00:00.000Z")
      yield* passInto(target)
      const versions = yield* rowsOf(target, "runs")
      assert.deepStrictEqual(
        versions.map(({ run_id, tags }) => [run_id, tags]),
        [
          [ended, []],
          [ended, ["kept"]]
        ]
      )
      assert.isAbove(versions[1]?.version ?? 0, versions[0]?.version ?? 0)
      yield* checkArchive(target)
    })
  )

  it.effect("writes marks of before and of later, and a tombstone for a run that a caller deletes", () =>
    Effect.gen(function* () {
      yield* emptied
      const sql = yield* PgClient.PgClient
      const target = yield* openTarget
      const [gone, expired] = [yield* endedRun, yield* endedRun]
      yield* insertMark({ runId: gone, name: "quality", value: 0.5 })
      yield* passInto(target)
      yield* insertMark({ runId: expired, name: "correct", value: true })
      yield* eraseMarks(gone, "2026-07-02T00:00:00.000Z")
      yield* passInto(target)
      assert.deepStrictEqual(
        (yield* rowsOf(target, "marks"))
          .toSorted((a, b) => a.version - b.version)
          .map(({ flag, name, number }) => [name, number, flag]),
        [
          ["quality", 0.5, null],
          ["correct", null, true],
          ["quality", null, null]
        ]
      )
      yield* deleteRun(gone)
      yield* deleteRun(expired, "expired")
      yield* passInto(target)
      assert.deepStrictEqual(
        (yield* rowsOf(target, "tombstones")).map(({ deleted_by, run_id }) => [run_id, deleted_by]),
        [[gone, "test"]]
      )
      const left = yield* sql`SELECT run_id::text AS id FROM archive_runs`
      assert.deepStrictEqual([...left], [{ id: expired }])
      assert.lengthOf(yield* sql`SELECT FROM archive_changes`, 0)
    })
  )

  it.effect("refuses files of a log that a restore has replaced", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      yield* endedRun
      yield* passInto(target)
      // The database of before, with the store of now.
      yield* emptied
      yield* endedRun
      const fault = yield* Effect.flip(passInto(target))
      assert.match(fault.message, /has 2 files of main that this database does not know, such as events\/dt=/)
      for (const path of yield* target.list("")) yield* target.remove(path)
      yield* passInto(target)
      assert.strictEqual(yield* checkArchive(target), 2)
    })
  )

  it.effect("refuses another cell and another address, and accepts files that have moved", () =>
    Effect.gen(function* () {
      yield* emptied
      const target = yield* openTarget
      yield* endedRun
      yield* passInto(target)
      const cell = yield* Effect.flip(passInto(target, writing({ cell: "other" })))
      assert.include(cell.message, "ARCHIVE_CELL is other")
      const elsewhere = yield* openTarget
      const fault = yield* Effect.flip(passInto(elsewhere))
      assert.include(fault.message, `the archive of this database is in ${target.url}`)
      yield* endedRun
      yield* passInto({ ...target, url: "s3://moved/here" })
      yield* checkArchive(target)
    })
  )
})
