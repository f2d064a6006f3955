import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { messageDraft } from "../support/Appends.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const APPENDS = 300

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })(
  "the plans that a connection keeps from the time when the tables were empty",
  (it) => {
    it.effect("find a run by the index, not by reading all runs", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const log = yield* EventLog
        // Statistics of a table of one row would have it read whole, which is right for that one.
        yield* sql`ALTER TABLE runs SET (autovacuum_enabled = false)`
        yield* sql`ALTER TABLE run_heads SET (autovacuum_enabled = false)`
        const runId = yield* createRun()
        for (let number = 1; number <= APPENDS; number++) {
          yield* log.record({ runId, events: [messageDraft(number)] })
        }
        // A connection reports its statistics to the server some seconds later.
        const scans = yield* sql<{ readonly whole: number; readonly byIndex: number }>`
          SELECT sum(seq_scan)::int AS whole, sum(idx_scan)::int AS "byIndex" FROM pg_stat_user_tables
          WHERE relname IN ('runs', 'run_heads')`.pipe(
          Effect.map(([row]) => row ?? assert.fail("no statistics")),
          Effect.repeat({
            until: ({ byIndex, whole }) => byIndex + whole >= APPENDS,
            schedule: Schedule.spaced(Duration.millis(200))
          })
        )
        assert.isBelow(scans.whole, APPENDS / 10)
      })
    )
  }
)
