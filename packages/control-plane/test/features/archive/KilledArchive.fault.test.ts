import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { fileTarget } from "@runplane/archive"
import { RunId } from "@runplane/domain"
import { createDatabase, programFile, startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { appendMessages } from "../../support/Appends.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { insertMark } from "../../support/MarkSeeds.ts"
import { createRun } from "../../support/Runs.ts"
import { checkArchive, passInto, rowsOf, temporaryFolder } from "./Archives.ts"
import { KILL_STEPS, type KillStep, SMALL_FILES } from "./KillSteps.ts"

/** Kills at each step; ARCHIVE_KILLS=100 is the long run. */
const KILLS = Number(process.env["ARCHIVE_KILLS"] ?? 3)
/** A life begins with the start of a process, which takes seconds on a busy machine. Milliseconds. */
const LIMIT_MS = KILL_STEPS.length * KILLS * 15_000 + 60_000
const CHILD = fileURLToPath(new URL("./ArchiveChild.ts", import.meta.url))

const life = Effect.fnUntraced(function* (databaseUrl: string, folder: string, step: KillStep) {
  const { env, main } = programFile("archive-child", CHILD)
  const count = String(yield* Random.nextIntBetween(1, 4))
  const child = yield* startProgram(main, {
    env: {
      ...{ PATH: process.env["PATH"] ?? "", NODE_ENV: "development", ...env, DATABASE_URL: databaseUrl },
      ...{ ARCHIVE_FOLDER: folder, ARCHIVE_KILL_STEP: step, ARCHIVE_KILL_COUNT: count }
    }
  })
  const { code, stderr } = yield* child.ended
  assert.isTrue(code === null || code === 0, stderr.join("\n"))
  return code === null
}, Effect.scoped)

/** More events, ended runs, marks and, now and then, a deleted run and another day. */
const more = Effect.fnUntraced(function* (number: number) {
  const sql = yield* PgClient.PgClient
  const administration = yield* RunAdministration
  const run = yield* createRun()
  yield* appendMessages(run, 10, 5)
  yield* insertMark({ runId: run, name: "quality", value: number })
  if (number % 3 === 0) {
    yield* sql`UPDATE canonical_events SET ts = ts - interval '1 day' WHERE run_id = ${run}::uuid AND index % 2 = 0`
  }
  yield* endRun(run)
  if (number % 4 === 1) {
    const at = new Date().toISOString()
    const [other] = yield* sql<{ readonly id: string }>`SELECT id::text AS id FROM runs ORDER BY id LIMIT 1`
    const id = RunId.make(other?.id ?? run)
    yield* sql.withTransaction(
      Effect.andThen(administration.lock([id]), administration.remove([id], { reason: "deleted", by: "test", at }))
    )
    return id
  }
  return undefined
})

describe("an archive killed by signal 9", () => {
  it.live(
    `has every event exactly once after ${KILLS} kills at each of ${KILL_STEPS.length} steps`,
    () =>
      Effect.gen(function* () {
        const databaseUrl = yield* createDatabase
        const folder = yield* temporaryFolder
        const target = fileTarget(folder)
        yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const deleted = new Set<string>()
          const kills = new Map<KillStep, number>()
          let number = 0
          // Starts the archive: a run that is deleted before the start leaves no tombstone.
          yield* passInto(target, SMALL_FILES)
          for (const step of KILL_STEPS) {
            while ((kills.get(step) ?? 0) < KILLS) {
              const gone = yield* more(++number)
              if (gone !== undefined) deleted.add(gone)
              if (yield* life(databaseUrl, folder, step)) kills.set(step, (kills.get(step) ?? 0) + 1)
            }
          }
          yield* passInto(target, SMALL_FILES)
          // Rows of runs that were deleted after their file stay until compaction; the tombstones name them.
          const tombstones = new Set((yield* rowsOf(target, "tombstones")).map(({ run_id }) => run_id))
          assert.deepStrictEqual(tombstones, deleted)
          yield* checkArchive(target, tombstones)
          const runs = yield* sql<{ readonly id: string }>`SELECT id::text AS id FROM runs`
          const filed = (yield* rowsOf(target, "runs")).filter(({ run_id }) => !tombstones.has(run_id))
          assert.sameMembers(
            [...new Set(filed.map(({ run_id }) => run_id))],
            runs.map(({ id }) => id)
          )
          const marks = yield* sql`SELECT id FROM marks`
          const coldMarks = (yield* rowsOf(target, "marks")).filter(({ run_id }) => !tombstones.has(run_id))
          assert.strictEqual(new Set(coldMarks.map(({ mark_id }) => mark_id)).size, marks.length)
          yield* Effect.logInfo(`${number} lives, ${[...kills].map(([step, count]) => `${step} ${count}`).join(", ")}`)
        }).pipe(
          Effect.provide(layerTestLog.pipe(Layer.provideMerge(layerDatabase({ url: databaseUrl, maxConnections: 6 }))))
        )
      }),
    LIMIT_MS
  )
})
