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
import { ControlPlaneSettings, type FairTurns, makeLongTurns, readSettings, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { beginning, foldOn } from "../../event-log/projection/ReplayLog.ts"

/** The deliberation of a run, and its active policy. */
export interface ReadDecision {
  readonly run: Deliberation
  readonly by: ActivePolicy
  /** Whether the log contains the policy; otherwise the policy comes from the registry. */
  readonly isOnRecord: boolean
}

/** The part of a run to read, and the cached answer, if there is one when the turn begins. */
interface Wanted<A> {
  readonly runId: RunId
  /** The last seq to read; undefined, or beyond the end, reads the whole log. */
  readonly upToSeq?: number | undefined
  readonly known: () => A | undefined
}

/**
 * Reads the logs of runs page by page for answers about decisions, a few at a time
 * (docs/reference/decisions.md#limits).
 */
export class DecisionReader extends Context.Service<
  DecisionReader,
  {
    /**
     * Reads a run and makes an answer in a turn of the caller. When the log does not contain the policy, it is read
     * from the registry between two turns, and the run is read again; without a response there is no policy.
     */
    readonly decided: <A, E>(
      wanted: Wanted<A>,
      make: (read: ReadDecision) => Effect.Effect<A, E>
    ) => Effect.Effect<A, E | SqlError | TurnRefused>
    readonly course: (runId: RunId) => Effect.Effect<RunOutline, SqlError>
    /** The turns by caller in which answers are made. */
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
      const turns = makeLongTurns("decisions", concurrency)

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
            Effect.as(
              Effect.logDebug(`the registry did not return the policy ${policyId}: ${error.message}`),
              undefined
            )
          )
        )

      const decided = <A, E>(
        { known, runId, upToSeq }: Wanted<A>,
        make: (read: ReadDecision) => Effect.Effect<A, E>
      ) => {
        const attempt = Effect.fnUntraced(function* (registry: RegistryPolicy | undefined) {
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
          let registry: RegistryPolicy | undefined
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

/** A policy of the registry; undefined when the registry has none or did not respond. */
interface RegistryPolicy {
  readonly policyId: string
  readonly policy: PolicyText | undefined
}

/** The policy that the log names without its rules, except the default one. */
const policyOffRecord = ({ descriptor, policyVersion }: Deliberation): string | undefined =>
  descriptor === undefined && policyVersion !== DEFAULT_POLICY_ID ? policyVersion : undefined
