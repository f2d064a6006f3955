import { type NotFound, runNotFound } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../event-log/EventLog.ts"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { beginning, emptyProjected, foldOn, projectAndMeasure } from "../../event-log/projection/ReplayLog.ts"
import { RunAdministration } from "../../event-log/runs/RunAdministration.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import type { DatabaseFailure } from "../../platform/http/OutageAnswers.ts"

/**
 * `POST /runs/:id/projection/rebuild` (docs/reference/http.md#rebuild). The long part of the log is folded beside the
 * writers; only what was appended meanwhile is folded under the run's lock, where projection and counters are replaced.
 * The head's revision rises with it, so that no process goes on with the projection it remembers.
 */
export class ProjectionRebuild extends Context.Service<
  ProjectionRebuild,
  {
    /** JSON text of the answer: `rebuilt`, `latestSeq`, and all keys of the state. */
    readonly rebuild: (reference: string, caller: Caller) => Effect.Effect<string, NotFound | DatabaseFailure>
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

      const rebuild = Effect.fn("ProjectionRebuild.rebuild")(function* (reference: string, caller: Caller) {
        const runId = yield* runs.resolve(reference)
        if (runId === undefined) return yield* runNotFound(reference)
        const before = yield* foldOn(events, runId, beginning(emptyProjected(runId)), projectAndMeasure)

        const refold = Effect.fnUntraced(function* (lastSeq: number) {
          const whole = yield* foldOn(events, runId, before, projectAndMeasure)
          if (whole.lastSeq === lastSeq) return whole.folded
          return yield* Effect.die(new Error(`the log ends at ${whole.lastSeq}, its head says ${lastSeq}`))
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
      return ProjectionRebuild.of({ rebuild })
    })
  )
}
