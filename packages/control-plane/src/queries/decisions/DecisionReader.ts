import {
  type ActivePolicy,
  activePolicy,
  type CanonicalEvent,
  DEFAULT_POLICY_ID,
  type Deliberation,
  deliberationReader,
  outlineReader,
  type PolicyText,
  type RunId,
  type RunOutline
} from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import { ControlPlaneSettings, type FairTurns, makeFairTurns, readSettings, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { beginning, foldOn } from "../../event-log/projection/ReplayLog.ts"

/** A run's history as decisions are told from it, and the rules that governed it. */
export interface ReadDecision {
  readonly run: Deliberation
  readonly by: ActivePolicy
  /** Whether the log alone says what governed the run; else the registry was asked. */
  readonly isOnRecord: boolean
}

/** Which part of which history, and the answer where it is known by the time of the turn. */
interface Wanted<A> {
  readonly runId: RunId
  /** Up to this seq, or to the end; an event that the log does not have yet changes nothing. */
  readonly upToSeq?: number | undefined
  readonly known: () => A | undefined
}

/**
 * Reads the histories of runs for what is said about their decisions (docs/reference/decisions.md#limits): page by
 * page, and only so many at a time.
 */
export class DecisionReader extends Context.Service<
  DecisionReader,
  {
    /**
     * Reads a history and makes an answer of it, in a turn of the caller. The policy of a run that has none on record
     * is asked of the registry between two turns, after which the history is read again; a registry that is silent
     * has none.
     */
    readonly decided: <A, E>(
      wanted: Wanted<A>,
      make: (read: ReadDecision) => Effect.Effect<A, E>
    ) => Effect.Effect<A, E | SqlError | TurnRefused>
    readonly course: (runId: RunId) => Effect.Effect<RunOutline, SqlError>
    /** Answers are made a few at a time, in turns by caller. */
    readonly turns: FairTurns
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
      const turns = makeFairTurns("decisions", concurrency)

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

      const decided = <A, E>(
        { known, runId, upToSeq }: Wanted<A>,
        make: (read: ReadDecision) => Effect.Effect<A, E>
      ) => {
        const attempt = Effect.fnUntraced(function* (registry: AskedPolicy | undefined) {
          const answer = known()
          if (answer !== undefined) return { answer }
          const reader = yield* readAll(runId, deliberationReader(), upToSeq)
          const run = { ...reader.read(), runId }
          const missing = policyOffRecord(run)
          if (missing !== undefined && missing !== registry?.policyId) return { missing }
          const by = activePolicy(run, () => registry?.policy)
          return { answer: yield* make({ run, by, isOnRecord: missing === undefined }) }
        })
        return Effect.gen(function* () {
          let registry: AskedPolicy | undefined
          while (true) {
            const attempted = yield* turns.run(attempt(registry))
            if (attempted.missing === undefined) return attempted.answer
            registry = { policyId: attempted.missing, policy: yield* registered(attempted.missing) }
          }
        }).pipe(Effect.withSpan("DecisionReader.decided"))
      }
      const course = Effect.fn("DecisionReader.course")((runId: RunId) =>
        Effect.map(readAll(runId, outlineReader()), (reader) => reader.read())
      )
      return DecisionReader.of({ decided, course, turns })
    })
  )
}

/** What the registry answered; no policy when it has none, or was silent. */
interface AskedPolicy {
  readonly policyId: string
  readonly policy: PolicyText | undefined
}

/** The policy that the log names and does not hold, other than the default one. */
const policyOffRecord = ({ descriptor, policyVersion }: Deliberation): string | undefined =>
  descriptor === undefined && policyVersion !== DEFAULT_POLICY_ID ? policyVersion : undefined
