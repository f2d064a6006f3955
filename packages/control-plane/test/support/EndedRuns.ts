import { assert } from "@effect/vitest"
import { type RunId, runCancelled } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { createRun } from "./Runs.ts"

/** Cancels a run in the log, as an observer does. */
export const endRun = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* EventLog
  const { change, status } = yield* log.change({
    runId,
    to: "cancelled",
    events: (run, at) => [
      runCancelled({ ts: at, endedAt: at, runId: run.id, traceId: run.traceId, runtimeSessionId: run.runtimeSessionId })
    ]
  })
  assert.strictEqual(change, "applied", `the run is ${status}`)
})

/** A run without an observer that has ended. */
export const endedRun = Effect.tap(createRun(), endRun)
