import { controlPlaneError, invalidTransition, runNotFound } from "@runplane/api"
import { awaitsSession, isTerminal, runFailed } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { EventLog } from "../event-log/EventLog.ts"
import type { StoredRun } from "../event-log/runs/RunRow.ts"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { answerOfRuntimeError } from "../platform/http/RuntimeRefusal.ts"

/**
 * Fails a run whose session will not be opened, or is lost by the runtime, with the caller's reason
 * (docs/reference/runs.md#abandon). GetSession is called first: a session that the runtime has keeps its run.
 */
export const makeAbandonRun = Effect.gen(function* () {
  const audit = yield* AuditTrail
  const log = yield* EventLog
  const runtime = yield* RuntimeClient

  return Effect.fnUntraced(function* (run: StoredRun, reason: string, caller: Caller) {
    const { id, runtimeSessionId, status } = run.record
    if (isTerminal(status)) return yield* invalidTransition(id, status, "failed")
    const session = yield* Effect.result(runtime.getSession(runtimeSessionId))
    const isUnbound = awaitsSession(status)
    if (session._tag === "Success" && !(isUnbound && session.success.state === "UNSPECIFIED")) {
      return yield* controlPlaneError("CONFLICT", `session ${runtimeSessionId} has been opened`)
    }
    if (session._tag === "Failure" && session.failure.reason !== "NOT_FOUND") {
      return yield* answerOfRuntimeError(session.failure)
    }
    // The code of a run that waited in vain: a session that opens after all is then observed as a run of its own.
    const failure = isUnbound
      ? { errorCode: "RUNTIME_TIMEOUT", errorMessage: `the session was not opened: ${reason}` }
      : { errorCode: "SESSION_LOST", errorMessage: `the runtime does not know the session any more: ${reason}` }
    const { change, status: now } = yield* log
      .change({
        runId: id,
        to: "failed",
        failure,
        events: (locked, at) => [
          runFailed({
            ts: at,
            runId: locked.id,
            runtimeSessionId: locked.runtimeSessionId,
            traceId: locked.traceId,
            endedAt: at,
            error: failure.errorMessage,
            errorCode: failure.errorCode
          })
        ],
        also: (at) =>
          audit.record({ caller, action: "run.abandon", resource: "run", resourceId: id, details: { reason }, at })
      })
      .pipe(Effect.catchTag("RunNotFound", () => Effect.fail(runNotFound(id))))
    if (change !== "applied") return yield* invalidTransition(id, now, "failed")
  }, Effect.uninterruptible)
})
