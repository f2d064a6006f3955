import type { RunDescriptor } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../event-log/EventLog.ts"
import { newRun } from "../event-log/runs/NewRun.ts"
import { DISCOVERY_SOURCE, RunRepository } from "../event-log/runs/RunRepository.ts"
import type { StoredRun } from "../event-log/runs/RunRow.ts"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { ClaimHooks } from "./ClaimHooks.ts"

/**
 * Lets a `POST /runs` take the run that the session watch has made of its session already. Agents may open their
 * session before the request that names it has arrived, and that must not turn the request into a conflict. The run
 * keeps its id, its trace and its log; tags, metadata and idempotency key become those of the descriptor. Hooks of
 * features follow.
 */
export const makeClaimRun = Effect.gen(function* () {
  const audit = yield* AuditTrail
  const hooks = yield* ClaimHooks
  const log = yield* EventLog
  const runs = yield* RunRepository

  return Effect.fn("Runs.claim")(function* (descriptor: RunDescriptor, holder: StoredRun, caller: Caller) {
    const { record } = holder
    if (record.sourceKind !== DISCOVERY_SOURCE) return undefined
    const run = newRun(descriptor, {
      id: record.id,
      sessionId: record.runtimeSessionId,
      traceId: record.traceId,
      // Not written: the run keeps the span it was created with.
      spanId: ""
    })
    let claimed = false
    // An append without events takes the run's lock, so that the claim cannot cross an enrichment of the metadata.
    yield* log
      .record({
        runId: run.id,
        events: [],
        also: (at) =>
          Effect.gen(function* () {
            claimed = yield* runs.claim(run, at)
            if (!claimed) return
            yield* Effect.forEach(hooks, (hook) => hook(run.id), { discard: true })
            yield* audit.record({
              caller,
              action: "run.create",
              resource: "run",
              resourceId: run.id,
              details: { sessionId: run.sessionId, mode: run.mode, modeName: run.modeName, claimed },
              at
            })
          })
      })
      .pipe(Effect.catchTag("RunNotFound", () => Effect.void))
    return claimed ? yield* runs.find(record.id) : undefined
  })
})
