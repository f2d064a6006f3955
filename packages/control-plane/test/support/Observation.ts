import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId, RunStatus } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LiveEvents } from "../../src/event-log/subscribe/LiveEvents.ts"
import * as Observation from "../../src/observe/Observation.ts"
import { type ObserverOptions, ObserverSettings } from "../../src/observe/ObserverSettings.ts"
import { layerTestLog } from "./ControlPlane.ts"
import { assertLogIsExact } from "./LogChecks.ts"

/** Short pauses: the tests run on the real clock, because a database does not follow another one. */
const IMPATIENT: Partial<ObserverOptions> = {
  sessionPollBaseMs: 5,
  sessionPollMaxMs: 50,
  recoveryIntervalMs: 100,
  streamBackoffBaseMs: 5,
  streamBackoffMaxMs: 50,
  drainTimeoutMs: 300,
  watchReconnectMs: 50,
  discoveryGraceMs: 20,
  endCheckDelayMs: 50
}

/** Observers of a runtime of their own in memory, on the database that the test shares; fresh for every use. */
export const layerTestObservation = (options: Partial<ObserverOptions> = {}) =>
  layerObservedBy({ ...IMPATIENT, ...options }, layerTestLog)

/** The same on a log that the test chooses. */
export const layerObservedBy = <R>(
  options: Partial<ObserverOptions>,
  log: Layer.Layer<Layer.Success<typeof layerTestLog>, never, R>
) =>
  Layer.fresh(
    Observation.layer.pipe(
      Layer.provideMerge(log),
      Layer.provide(ObserverSettings.layerFrom(options)),
      Layer.provideMerge(RuntimeFake.layer)
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
