import {
  type CanonicalEvent,
  type Course,
  courseReader,
  DEFAULT_POLICY_ID,
  type Deliberation,
  deliberationReader,
  type Governing,
  governing,
  type RunId
} from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../log/EventRepository.ts"
import { beginning, foldOn } from "../../log/LogFold.ts"

/** A run's history as decisions are told from it, and the rules that governed it. */
export interface ReadDecision {
  readonly run: Deliberation
  readonly by: Governing
}

/**
 * Reads the histories of runs for what is said about their decisions (docs/decisions.md#limits): page by page, and
 * only so many at a time.
 */
export class DecisionReader extends Context.Service<
  DecisionReader,
  {
    /** Up to a seq, or to the end; an event that the log does not have yet changes nothing. */
    readonly decision: (runId: RunId, upToSeq?: number) => Effect.Effect<ReadDecision, SqlError>
    readonly course: (runId: RunId) => Effect.Effect<Course, SqlError>
    /** The policy of a run that has none on record is asked of the registry; a registry that is silent has none. */
    readonly governing: (run: Deliberation) => Effect.Effect<Governing>
    /** Answers are made a few at a time; the others wait. */
    readonly inTurn: <A, E, R>(answer: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("runplane/control-plane/DecisionReader") {
  static readonly layer = Layer.effect(
    DecisionReader,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const runtime = yield* RuntimeClient
      const { concurrency, patience } = yield* readSettings({
        concurrency: ControlPlaneSettings.DECISION_CONCURRENCY,
        patience: ControlPlaneSettings.SESSION_POLICY_TIMEOUT_MS
      })
      const turns = yield* Semaphore.make(concurrency)

      const readAll = <R extends { readonly take: (event: CanonicalEvent) => void }>(
        runId: RunId,
        reader: R,
        upToSeq?: number
      ) =>
        Effect.as(
          foldOn(
            events,
            runId,
            beginning(reader),
            (folded, event) => {
              folded.take(event)
              return folded
            },
            upToSeq
          ),
          reader
        )

      const registered = (policyId: string) =>
        runtime.getPolicy(policyId).pipe(
          Effect.timeoutOption(patience),
          Effect.map(Option.getOrUndefined),
          Effect.catch((error) =>
            Effect.as(Effect.logDebug(`the registry does not tell ${policyId}: ${error.message}`), undefined)
          )
        )

      const governingOf = Effect.fn("DecisionReader.governing")(function* (run: Deliberation) {
        const { descriptor, policyVersion } = run
        if (descriptor !== undefined || policyVersion === undefined || policyVersion === DEFAULT_POLICY_ID) {
          return governing(run)
        }
        const policy = yield* registered(policyVersion)
        return governing(run, () => policy)
      })

      const decision = Effect.fn("DecisionReader.decision")(function* (runId: RunId, upToSeq?: number) {
        const reader = yield* readAll(runId, deliberationReader(), upToSeq)
        const run = { ...reader.read(), runId }
        return { run, by: yield* governingOf(run) }
      })
      const course = Effect.fn("DecisionReader.course")((runId: RunId) =>
        Effect.map(readAll(runId, courseReader()), (reader) => reader.read())
      )
      return DecisionReader.of({ decision, course, governing: governingOf, inTurn: turns.withPermits(1) })
    })
  )
}
