import { badRequest, invalidSessionId, type RunAccepted, sessionAlreadyExists, unknownRuntimeKind } from "@runplane/api"
import { isSessionId, isUuidSessionId, type RunDescriptor, RunId, runCreated } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import { callingSpan, traceParentOf } from "@runplane/server"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { EventLog } from "../event-log/EventLog.ts"
import { type NewRun, newRun } from "../event-log/runs/NewRun.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import type { StoredRun } from "../event-log/runs/RunRow.ts"
import { Observers } from "../observe/Observers.ts"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { Ids } from "../platform/Ids.ts"
import { isoNow } from "../platform/IsoNow.ts"
import { Admission, admitted } from "./Admission.ts"
import { CancelCallback } from "./CancelCallback.ts"
import { makeClaimRun } from "./ClaimRun.ts"

/**
 * Creates runs (docs/reference/runs.md#create). The row, run.created and the audit entry commit together, and a unique
 * key decides between simultaneous posts, so an idempotency key or a session never gets two runs. A known key answers
 * with the original run, untouched.
 */
export const makeCreateRun = Effect.gen(function* () {
  const guards = yield* Admission
  const audit = yield* AuditTrail
  const callbacks = yield* CancelCallback
  const ids = yield* Ids
  const log = yield* EventLog
  const observers = yield* Observers
  const runs = yield* RunRepository
  const runtime = yield* RuntimeClient
  const claim = yield* makeClaimRun

  const original = Effect.fnUntraced(function* (descriptor: RunDescriptor) {
    const key = descriptor.execution?.idempotencyKey
    return key === undefined ? undefined : yield* runs.findByIdempotencyKey(key)
  })

  const insert = (
    run: NewRun,
    insertRun: Effect.Effect<boolean, SqlError>,
    at: string,
    caller: Caller,
    clonedFrom: string | undefined
  ) =>
    log.create({
      runId: run.id,
      insert: insertRun,
      events: [
        runCreated({
          ts: at,
          runId: run.id,
          traceId: run.traceId,
          modeName: run.modeName,
          runtimeKind: run.runtimeKind,
          runtimeVersion: run.runtimeVersion,
          sessionId: run.sessionId
        })
      ],
      also: () =>
        audit.record({
          caller,
          action: "run.create",
          resource: "run",
          resourceId: run.id,
          details: {
            sessionId: run.sessionId,
            mode: run.mode,
            modeName: run.modeName,
            ...(clonedFrom !== undefined && { clonedFrom })
          },
          at
        })
    })

  const attempt = Effect.fnUntraced(function* (
    descriptor: RunDescriptor,
    sessionId: string,
    runId: string,
    caller: Caller,
    clonedFrom: string | undefined
  ) {
    const at = yield* isoNow
    // The run joins the trace of its request.
    const callerSpan = yield* callingSpan
    const traceId = callerSpan?.traceId ?? (yield* ids.traceId)
    const traceParent = callerSpan && traceParentOf(callerSpan)
    const run = newRun(descriptor, { id: runId, sessionId, traceId, spanId: yield* ids.spanId, traceParent })
    const admission = yield* admitted(guards, run, { insert: runs.insert(run), remove: runs.removeInserted })
    const created = yield* insert(run, admission.insert, at, caller, clonedFrom).pipe(
      Effect.as(true),
      Effect.catchTag("RunAlreadyExists", () => Effect.succeed(false))
    )
    const refusal = admission.refusal()
    if (refusal !== undefined) return yield* refusal
    if (!created) return undefined
    yield* observers.adopt(run.id)
    const accepted: RunAccepted = { runId: run.id, sessionId, status: "queued", traceId }
    return accepted
  })

  return Effect.fn("Runs.create")(function* (descriptor: RunDescriptor, caller: Caller, clonedFrom?: string) {
    if (descriptor.runtime.kind !== runtime.kind) return yield* unknownRuntimeKind(descriptor.runtime.kind)
    const refusal = callbacks.refusal(descriptor.session.metadata ?? {})
    if (refusal !== undefined) return yield* badRequest(refusal)
    const given = descriptor.session.sessionId
    if (given !== undefined && !isSessionId(given)) return yield* invalidSessionId()

    const known = yield* original(descriptor)
    if (known !== undefined) return accepted(known)

    const sessionId = given ?? (yield* ids.uuid)
    const runId = isUuidSessionId(sessionId) ? sessionId : yield* ids.uuid
    // A caller that disconnects between the commit and the adoption must not leave a run without an observer.
    const first = yield* Effect.uninterruptible(attempt(descriptor, sessionId, runId, caller, clonedFrom))
    if (first !== undefined) return first

    const winner = yield* original(descriptor)
    if (winner !== undefined) return accepted(winner)
    const holder = yield* runs.findBySession(sessionId)
    if (holder !== undefined) {
      const claimed = yield* claim(descriptor, holder, caller)
      return claimed === undefined ? yield* sessionAlreadyExists(sessionId) : accepted(claimed)
    }
    // The remaining case: the session's id is free, but another run got the same id by chance.
    const second = yield* Effect.uninterruptible(attempt(descriptor, sessionId, yield* ids.uuid, caller, clonedFrom))
    return second ?? (yield* sessionAlreadyExists(sessionId))
  })
})

const accepted = ({ record }: StoredRun): RunAccepted => ({
  runId: RunId.make(record.id),
  sessionId: record.runtimeSessionId,
  status: record.status,
  traceId: record.traceId
})
