import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId, RunStatus } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { LiveEvents } from "../../src/events/LiveEvents.ts"
import { layerObservation } from "../../src/observer/Observation.ts"
import { type ObserverOptions, ObserverSettings } from "../../src/observer/ObserverSettings.ts"
import { layerTestLog } from "./ControlPlane.ts"
import { assertLogIsExact } from "./LogChecks.ts"

/** Observers of a runtime of their own in memory, on the database that the test shares; fresh for every use. */
export const layerTestObservation = (options: Partial<ObserverOptions> = {}) =>
  Layer.fresh(
    layerObservation.pipe(
      Layer.provideMerge(layerTestLog),
      Layer.provide(ObserverSettings.layerFrom(options)),
      Layer.provideMerge(RuntimeClient.layerTest)
    )
  )

const readStatus = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly status: RunStatus }>`SELECT status FROM runs WHERE id = ${runId}::uuid`
  return row?.status
})

/** Waits for a committed status; subscribes first and looks then, so that nothing falls between. */
export const awaitStatus = Effect.fnUntraced(function* (runId: RunId, status: RunStatus) {
  yield* Effect.scoped(
    Effect.gen(function* () {
      const subscription = yield* (yield* LiveEvents).subscribe(runId)
      while ((yield* readStatus(runId)) !== status) yield* subscription.take
    })
  )
})

/** Waits until an event of the run satisfies the condition, and answers the whole log. */
export const awaitEvent = Effect.fnUntraced(function* (
  runId: RunId,
  type: string,
  condition: (data: Readonly<Record<string, unknown>>) => boolean = () => true
) {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const subscription = yield* (yield* LiveEvents).subscribe(runId)
      while (true) {
        const log = yield* assertLogIsExact(runId)
        if (log.decoded.some((event) => event.type === type && condition(event.data))) return log
        yield* subscription.take
      }
    })
  )
})

/**
 * Lets the test clock run, a step at a time, until the run has the status: what happens between two steps is real work on the
 * database, which the test clock does not wait for.
 */
export const runClockUntil = Effect.fnUntraced(function* (runId: RunId, status: RunStatus) {
  while ((yield* readStatus(runId)) !== status) yield* runClockOnce
})

export const runClockOnce = TestClock.adjust("100 millis")
