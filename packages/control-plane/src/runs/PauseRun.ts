import { invalidTransition, notRunning, notSuspended, runNotFound } from "@runplane/api"
import { type RuntimeSessionState, runResumed, runSuspended, type SendAck, sessionStateChanged } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import type { LockedRun } from "../event-log/append/AppendRequest.ts"
import { EventLog } from "../event-log/EventLog.ts"
import type { StoredRun } from "../event-log/runs/RunRow.ts"
import { CancelReasons } from "../observe/CancelReasons.ts"
import { type AuditEntry, AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { isoNow } from "../platform/IsoNow.ts"
import { refusalOf } from "./ControlAuthority.ts"

interface Pause {
  readonly action: "suspend" | "resume"
  readonly to: "suspended" | "running"
  readonly session: RuntimeSessionState
  readonly event: typeof runSuspended
  readonly call: (control: {
    readonly sessionId: string
    readonly reason: string
  }) => Effect.Effect<SendAck, RuntimeError>
  readonly defaultReason: string
}

/**
 * Suspends and resumes: first the runtime, then, on an accepted ack only, the run (docs/reference/runs.md#pause). When
 * the observer has seen it first, the change is already made and nothing is emitted twice.
 */
export const makePauseRun = Effect.gen(function* () {
  const audit = yield* AuditTrail
  const log = yield* EventLog
  const runtime = yield* RuntimeClient
  const reasons = yield* CancelReasons

  const perform = (pause: Pause, run: StoredRun, reason: string | undefined, caller: Caller) =>
    // Once the runtime has accepted, the run follows, even when the caller no longer waits for the answer.
    request(pause, run, reason, caller).pipe(reasons.during(run.record.id, pause.to, reason), Effect.uninterruptible)

  const request = Effect.fnUntraced(function* (
    pause: Pause,
    run: StoredRun,
    reason: string | undefined,
    caller: Caller
  ) {
    const { id, runtimeSessionId } = run.record
    const refusal = refusalOf(runtime, runtimeSessionId)
    const ack = yield* pause
      .call({ sessionId: runtimeSessionId, reason: reason ?? pause.defaultReason })
      .pipe(Effect.catch(refusal.ofError))
    if (!ack.ok) return yield* refusal.ofAck(pause.action, ack)

    const entry = (at: string): AuditEntry => ({
      caller,
      action: `run.${pause.action}`,
      resource: "run",
      resourceId: id,
      details: { ...(reason !== undefined && { reason }) },
      at
    })
    const events = (locked: LockedRun, at: string) => [
      sessionStateChanged(at, { sessionId: locked.runtimeSessionId, state: pause.session }),
      pause.event({
        ts: at,
        runId: locked.id,
        traceId: locked.traceId,
        runtimeSessionId: locked.runtimeSessionId,
        reason
      })
    ]
    const { change, status } = yield* log
      .change({
        runId: id,
        to: pause.to,
        events,
        revision: run.statusRevision,
        also: (at) => audit.record(entry(at))
      })
      .pipe(Effect.catchTag("RunNotFound", () => Effect.fail(runNotFound(id))))
    if (change === "rejected") return yield* invalidTransition(id, status, pause.to)
    if (change !== "applied") {
      const at = yield* isoNow
      yield* audit.recordDone(entry(at))
    }
  })

  const suspend = Effect.fnUntraced(function* (run: StoredRun, reason: string | undefined, caller: Caller) {
    if (run.record.status !== "running") return yield* notRunning(run.record.status)
    yield* perform(
      {
        action: "suspend",
        to: "suspended",
        session: "SUSPENDED",
        event: runSuspended,
        call: runtime.suspendSession,
        defaultReason: "suspended by control plane"
      },
      run,
      reason,
      caller
    )
  })

  const resume = Effect.fnUntraced(function* (run: StoredRun, reason: string | undefined, caller: Caller) {
    if (run.record.status !== "suspended") return yield* notSuspended(run.record.status)
    yield* perform(
      {
        action: "resume",
        to: "running",
        session: "OPEN",
        event: runResumed,
        call: runtime.resumeSession,
        defaultReason: "resumed by control plane"
      },
      run,
      reason,
      caller
    )
  })

  return { suspend, resume } as const
})
