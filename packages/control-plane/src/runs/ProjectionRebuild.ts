import { type Conflict, ControlPlaneApi, type NotFound, runNotFound } from "@runplane/api"
import { makeLongTurns } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import { EventLog } from "../event-log/EventLog.ts"
import { EventRepository } from "../event-log/EventRepository.ts"
import { beginning, emptyProjected, foldOn, projectAndMeasure } from "../event-log/projection/ReplayLog.ts"
import { RunAdministration } from "../event-log/runs/RunAdministration.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { currentCaller } from "../platform/http/CurrentCaller.ts"
import { jsonText } from "../platform/http/JsonAnswer.ts"
import { type DatabaseFailure, orUnavailable } from "../platform/http/OutageAnswers.ts"

/** Rebuilds of one caller at a time. */
const REBUILDS_AT_ONCE = 2

/**
 * `POST /runs/:id/projection/rebuild` (docs/reference/runs.md#rebuild). Most of the log is folded without
 * a lock; the run is locked for the fold of the new events and the replacement of the projection and counters. The
 * revision of the head increases, so that no process uses a cached projection.
 */
export class ProjectionRebuild extends Context.Service<
  ProjectionRebuild,
  {
    /** The JSON of the response: `rebuilt`, `latestSeq`, and all keys of the state. */
    readonly rebuild: (
      reference: string,
      caller: Caller
    ) => Effect.Effect<string, Conflict | NotFound | DatabaseFailure>
  }
>()("runplane/control-plane/ProjectionRebuild") {
  static readonly layer = Layer.effect(
    ProjectionRebuild,
    Effect.gen(function* () {
      const audit = yield* AuditTrail
      const events = yield* EventRepository
      const log = yield* EventLog
      const runs = yield* RunRepository
      const upkeep = yield* RunAdministration

      const turns = makeLongTurns("rebuilds", REBUILDS_AT_ONCE)

      const rebuildInTurn = Effect.fnUntraced(function* (reference: string, caller: Caller) {
        const runId = yield* runs.resolve(reference)
        if (runId === undefined) return yield* runNotFound(reference)
        const before = yield* foldOn(events, runId, beginning(emptyProjected(runId)), projectAndMeasure)

        const refold = Effect.fnUntraced(function* (lastSeq: number) {
          const whole = yield* foldOn(events, runId, before, projectAndMeasure)
          if (whole.lastSeq !== lastSeq) {
            return yield* Effect.die(new Error(`the log ends at ${whole.lastSeq}, its head says ${lastSeq}`))
          }
          const { metrics, state } = whole.folded
          yield* upkeep.noteRebuild(runId, { metrics, intent: state.run.intent })
          return whole.folded
        })
        const also = Effect.fnUntraced(function* (at: string) {
          yield* upkeep.raiseRevision(runId)
          yield* audit.record({ caller, action: "run.rebuild", resource: "run", resourceId: runId, details: {}, at })
        })
        const { lastSeq, state } = yield* log
          .rebuild({ runId, refold, also })
          .pipe(Effect.catchTag("RunNotFound", () => Effect.fail(runNotFound(reference))))
        return `{"rebuilt":true,"latestSeq":${lastSeq},${JSON.stringify(state).slice(1)}`
      })
      const rebuild = Effect.fn("ProjectionRebuild.rebuild")((reference: string, caller: Caller) =>
        turns.goOn(rebuildInTurn(reference, caller))
      )
      return ProjectionRebuild.of({ rebuild })
    })
  )
}

/** The `projection` group. */
export const ProjectionHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "projection",
  Effect.fnUntraced(function* (handlers) {
    const projections = yield* ProjectionRebuild
    return handlers.handleAll({
      rebuild: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => projections.rebuild(params.id, caller)).pipe(
          Effect.map(jsonText),
          Effect.map(HttpServerResponse.setStatus(201)),
          orUnavailable
        )
    })
  })
)
