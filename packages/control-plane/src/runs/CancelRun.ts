import { cancelNotPossible, controlPlaneError, invalidTransition, runNotFound } from "@runplane/api"
import {
  awaitsSession,
  isTerminal,
  objectAt,
  type RunStatus,
  runCancelled,
  sessionStateChanged
} from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { LockedRun } from "../event-log/append/AppendRequest.ts"
import { EventLog } from "../event-log/EventLog.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import type { StoredRun } from "../event-log/runs/RunRow.ts"
import { endsRun } from "../event-log/subscribe/LiveBatch.ts"
import { LiveEvents } from "../event-log/subscribe/LiveEvents.ts"
import type { Subscription } from "../event-log/subscribe/Subscription.ts"
import { CancelReasons } from "../observe/CancelReasons.ts"
import { PendingCancels } from "../observe/PendingCancels.ts"
import { type AuditEntry, AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { isoNow } from "../platform/IsoNow.ts"
import { type CallbackAddress, CancelCallback, callbackOf } from "./CancelCallback.ts"
import { refusalOf } from "./ControlAuthority.ts"

/** How long an answer waits until the runtime confirms the cancellation. Milliseconds. */
export const CANCEL_WAIT_MS = 2_000
const DEFAULT_REASON = "cancelled by control plane"

/**
 * Cancels a run, by delegation (option B: our own CancelSession) or by the initiator's callback (option A); delegation
 * wins (docs/reference/runs.md#cancel). The status changes only when the runtime confirms: at once on an accepted ack,
 * otherwise when the observer receives the end, for which the caller waits up to `CANCEL_WAIT_MS`.
 */
export const makeCancelRun = Effect.gen(function* () {
  const audit = yield* AuditTrail
  const callbacks = yield* CancelCallback
  const live = yield* LiveEvents
  const log = yield* EventLog
  const runs = yield* RunRepository
  const runtime = yield* RuntimeClient
  const reasons = yield* CancelReasons
  const lateCancels = yield* PendingCancels

  const entryOf =
    (run: StoredRun, option: CancelOption, reason: string | undefined, caller: Caller) =>
    (at: string): AuditEntry => ({
      caller,
      action: "run.cancel",
      resource: "run",
      resourceId: run.record.id,
      outcome: option === "callback" ? "accepted" : "succeeded",
      details: { option, ...(reason !== undefined && { reason }) },
      at
    })

  const now = isoNow

  /** Waits for the run's end, for at most `CANCEL_WAIT_MS`; answers the status as it then is. */
  const awaitEnd = Effect.fnUntraced(function* (run: StoredRun, subscription: Subscription) {
    const status = Effect.map(runs.status(run.record.id), (found) => found ?? run.record.status)
    const end = Effect.gen(function* () {
      let current: RunStatus = yield* status
      while (!isTerminal(current)) {
        const item = yield* subscription.take
        if (item._tag === "Gap") current = yield* status
        else if (endsRun(item)) current = item.status
      }
    })
    yield* Effect.timeoutOption(Effect.interruptible(end), CANCEL_WAIT_MS)
    return yield* status
  })

  /** An agent that has not received the cancel may still open the session. */
  const remember = ({ record }: StoredRun, reason: string | undefined, at: string) =>
    lateCancels.remember(record.id, { at, reason: reason ?? DEFAULT_REASON, ttlMs: ttlMsOf(record.metadata) })

  /** `session` says whether there is a session whose state changed with the run's. */
  const markCancelled = Effect.fnUntraced(function* (
    run: StoredRun,
    option: Exclude<CancelOption, "callback">,
    reason: string | undefined,
    caller: Caller,
    session: boolean
  ) {
    const entry = entryOf(run, option, reason, caller)
    const events = (locked: LockedRun, at: string) => [
      ...(session ? [sessionStateChanged(at, { sessionId: locked.runtimeSessionId, state: "CANCELLED" })] : []),
      runCancelled({
        ts: at,
        runId: locked.id,
        traceId: locked.traceId,
        runtimeSessionId: locked.runtimeSessionId,
        endedAt: at,
        reason
      })
    ]
    const { change } = yield* log
      .change({
        runId: run.record.id,
        to: "cancelled",
        events,
        also: (at) => Effect.andThen(audit.record(entry(at)), session ? Effect.void : remember(run, reason, at))
      })
      .pipe(Effect.catchTag("RunNotFound", () => Effect.fail(runNotFound(run.record.id))))
    // The observer was faster: the entry is still to be written.
    if (change !== "applied") yield* audit.recordDone(entry(yield* now))
  })

  const delegated = Effect.fnUntraced(function* (run: StoredRun, reason: string | undefined, caller: Caller) {
    const { id, runtimeSessionId } = run.record
    const subscription = yield* live.subscribe(id)
    const refusal = refusalOf(runtime, runtimeSessionId)
    const answer = yield* Effect.result(
      runtime.cancelSession({ sessionId: runtimeSessionId, reason: reason ?? DEFAULT_REASON })
    )
    if (answer._tag === "Failure") {
      // The session is not opened yet, or lost: the runtime has nothing to end.
      if (answer.failure.reason === "NOT_FOUND") return yield* markCancelled(run, "delegated", reason, caller, false)
      return yield* refusal.ofError(answer.failure)
    }
    const ack = answer.success
    if (!ack.ok) return yield* refusal.ofAck("cancel", ack)
    if (ack.sessionState !== "RESOLVED" && ack.sessionState !== "EXPIRED") {
      return yield* markCancelled(run, "delegated", reason, caller, true)
    }
    // The runtime accepts the cancellation of a session that has already ended otherwise, and records nothing.
    const end = yield* awaitEnd(run, subscription)
    return yield* isTerminal(end)
      ? invalidTransition(id, end, "cancelled")
      : controlPlaneError("CONFLICT", `the session has already ended: ${ack.sessionState}`)
    // Once the runtime has accepted, the run follows, even when the caller no longer waits for the answer.
  }, Effect.uninterruptible)

  /**
   * Cancels a bound run whose session the runtime does not know any more, and answers whether it has
   * (docs/reference/runs.md#cancel). A runtime that does not answer changes nothing.
   */
  const cancelLost = Effect.fnUntraced(function* (run: StoredRun, reason: string | undefined, caller: Caller) {
    const { runtimeSessionId, status } = run.record
    if (awaitsSession(status)) return false
    const isLost = yield* runtime.getSession(runtimeSessionId).pipe(
      Effect.as(false),
      Effect.catch(({ reason }) => Effect.succeed(reason === "NOT_FOUND")),
      Effect.timeoutOrElse({ duration: CANCEL_WAIT_MS, orElse: () => Effect.succeed(false) })
    )
    if (isLost) yield* Effect.uninterruptible(markCancelled(run, "session-lost", reason, caller, false))
    return isLost
  })

  const byCallback = Effect.fnUntraced(function* (
    run: StoredRun,
    address: CallbackAddress,
    reason: string | undefined,
    caller: Caller
  ) {
    const subscription = yield* live.subscribe(run.record.id)
    yield* callbacks.call(address, { runId: run.record.id, reason: reason ?? null }, caller.actor.role).pipe(
      Effect.andThen(Effect.flatMap(now, (at) => audit.recordDone(entryOf(run, "callback", reason, caller)(at)))),
      // The call to the initiator is recorded, even when the caller no longer waits for the answer.
      Effect.uninterruptible
    )
    return yield* awaitEnd(run, subscription)
  })

  return Effect.fnUntraced(function* (run: StoredRun, reason: string | undefined, caller: Caller) {
    const { id, metadata, status } = run.record
    if (isTerminal(status)) return yield* invalidTransition(id, status, "cancelled")
    const known = reasons.during(id, "cancelled", reason)
    if (isTruthy(metadata["cancellationDelegated"])) return yield* known(delegated(run, reason, caller))
    const address = callbackOf(metadata)
    if (address === undefined) {
      return (yield* known(cancelLost(run, reason, caller))) ? undefined : yield* cancelNotPossible()
    }
    // The callback of the initiator is called first, so that it can stop the agents. It cannot cancel a lost session.
    const end = yield* Effect.result(known(byCallback(run, address, reason, caller)))
    if (end._tag === "Success" && isTerminal(end.success)) return
    if (yield* known(cancelLost(run, reason, caller))) return
    yield* Effect.fromResult(end)
  }, Effect.scoped)
})

/** How a run is cancelled, as in the audit log. */
type CancelOption = "callback" | "delegated" | "session-lost"

/** How long the descriptor lets the session live. */
const ttlMsOf = (metadata: Schema.JsonObject): number => {
  const request = objectAt(metadata, "executionRequest")
  const ttlMs = (request && objectAt(request, "session"))?.["ttlMs"]
  return typeof ttlMs === "number" ? ttlMs : 0
}

// The key is free JSON of the caller's: every truthy value counts.
const isTruthy = (value: unknown): boolean => Boolean(value)
