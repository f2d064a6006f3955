import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId, streamOpened } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import * as EventNotices from "../../../src/event-log/subscribe/EventNotices.ts"
import { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

/** What one process has: its own log and subscribers, on the shared database. */
const instance = Layer.build(Layer.fresh(EventNotices.layer.pipe(Layer.provideMerge(layerTestLog))))

layer(layerTestDatabase, { excludeTestServices: true })("EventNotices", (it) => {
  it.effect("wakes only the subscribers of the run in another process", () =>
    Effect.gen(function* () {
      const here = yield* instance
      const there = yield* instance
      const runId = yield* createRun().pipe(Effect.provide(here))
      const other = RunId.make(yield* Context.get(here, Ids).uuid)
      const live = Context.get(there, LiveEvents)
      const subscription = yield* live.subscribe(runId)
      const bystander = yield* live.subscribe(other)
      const append = Context.get(here, EventLog).record({
        runId,
        events: [streamOpened("2026-07-01T10:00:00.000Z", runId, { status: "reconnecting" })]
      })
      // The other process may not listen yet, and a notification may be lost, so it is repeated.
      yield* append.pipe(Effect.schedule(Schedule.spaced("50 millis")), Effect.forkScoped)
      // The first gap comes from the LISTEN, and the second one from the notification.
      for (const item of [yield* subscription.take, yield* subscription.take]) assert.strictEqual(item._tag, "Gap")
      yield* Effect.timeoutOption(bystander.take, "50 millis")
      yield* subscription.take
      assert.isTrue(
        yield* Effect.map(Effect.timeoutOption(bystander.take, "50 millis"), (item) => item._tag === "None")
      )
    })
  )

  it.effect("makes every subscriber read the database when it listens again after a lost connection", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const there = yield* instance
      const runId = yield* createRun().pipe(Effect.provide(there))
      const subscription = yield* Context.get(there, LiveEvents).subscribe(runId)
      const listeners = sql<{ readonly pid: number }>`
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`
      const [before] = yield* until(listeners, (rows) => rows.length > 0)
      yield* sql`SELECT pg_terminate_backend(${before?.pid ?? 0})`
      // Notifications are lost until the next LISTEN, so every subscriber reads the database then.
      while (true) {
        assert.strictEqual((yield* subscription.take)._tag, "Gap")
        if ((yield* listeners).some(({ pid }) => pid !== before?.pid)) break
      }
    })
  )
})
