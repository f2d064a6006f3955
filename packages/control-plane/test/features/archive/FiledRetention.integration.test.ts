import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExpiredRuns } from "../../../src/admin/retention/ExpiredRuns.ts"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { insertMark } from "../../support/MarkSeeds.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"
import { openTarget, passInto, rowsOf } from "./Archives.ts"

const CUTOFF = "2100-01-01T00:00:00.000Z"

const remove = ExpiredRuns.use((rows) => rows.removeRuns(CUTOFF, 10, { onlyFiled: true }))

const service = ExpiredRuns.layer.pipe(Layer.provideMerge(layerTestLog), Layer.provideMerge(layerTestDatabase))

layer(service)("retention that requires the archive", (it) => {
  it.effect("keeps a run until files have all of it as it is now", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const administration = yield* RunAdministration
      const target = yield* openTarget
      const run = yield* endedRun
      assert.deepInclude(yield* remove, { runs: 0, events: 0, waiting: 1 })
      yield* passInto(target)
      yield* administration.addTag(run, "later", "2026-07-02T00:00:00.000Z")
      assert.deepInclude(yield* remove, { runs: 0, waiting: 1 })
      yield* passInto(target)
      yield* insertMark({ runId: run, name: "quality", value: 1 })
      assert.deepInclude(yield* remove, { runs: 0, waiting: 1 })
      yield* passInto(target)
      assert.deepInclude(yield* remove, { runs: 1, events: 2, waiting: 0 })
      assert.lengthOf(yield* sql`SELECT FROM runs`, 0)
      // The archive keeps what retention deletes.
      yield* passInto(target)
      assert.lengthOf(yield* rowsOf(target, "events"), 2)
      assert.lengthOf(yield* rowsOf(target, "tombstones"), 0)
      assert.lengthOf(yield* sql`SELECT FROM archive_runs`, 1)
    })
  )
})
