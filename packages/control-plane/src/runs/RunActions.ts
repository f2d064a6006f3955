import { describeSqlError } from "@runplane/database"
import { RuntimeClient, type RuntimeError, type SessionControl } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { parentSpan, RunTraces } from "../event-log/runs/RunTraces.ts"
import { CancelCallback } from "./CancelCallback.ts"
import { ProjectionRebuild } from "./ProjectionRebuild.ts"
import { RunManagement } from "./RunManagement.ts"
import { Runs } from "./Runs.ts"

/** Puts the calls that a request makes about a session into the trace of the session's run instead of the request's. */
export const layerTracedRuntime = Layer.effect(
  RuntimeClient,
  Effect.gen(function* () {
    const client = yield* RuntimeClient
    const traces = yield* RunTraces
    const sampled = yield* References.TracerEnabled

    const ofRun =
      <A>(call: (control: SessionControl) => Effect.Effect<A, RuntimeError>) =>
      (control: SessionControl): Effect.Effect<A, RuntimeError> =>
        traces.findBySession(control.sessionId).pipe(
          Effect.catch((error) =>
            Effect.as(Effect.logWarning(`the trace of a run was not found: ${describeSqlError(error)}`), undefined)
          ),
          Effect.flatMap((trace) =>
            trace === undefined ? call(control) : Effect.withParentSpan(call(control), parentSpan(trace, sampled))
          )
        )
    return RuntimeClient.of({
      ...client,
      cancelSession: ofRun(client.cancelSession),
      suspendSession: ofRun(client.suspendSession),
      resumeSession: ofRun(client.resumeSession)
    })
  })
)

/** What callers do with runs. Wants the log, the audit log, the observers and the runtime from its surroundings. */
export const layer = Layer.merge(RunManagement.layer, ProjectionRebuild.layer).pipe(
  Layer.provideMerge(Runs.layer),
  Layer.provide([CancelCallback.layer, layerTracedRuntime])
)
