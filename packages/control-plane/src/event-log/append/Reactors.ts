import type { KnownEvent, RunId, RunState, RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import type { ObservedFrame } from "./AppendRequest.ts"

/** An append that the log writes, as reactors receive it. */
export interface WrittenAppend {
  readonly runId: RunId
  /** Time of the request. Unix nanoseconds. */
  readonly requestedAt: bigint
  /** The frames of the request, repeated ones included. */
  readonly frames: ReadonlyArray<ObservedFrame>
  readonly events: ReadonlyArray<KnownEvent>
  /** The change of status that the append applies, if any. */
  readonly change: AppliedChange | undefined
  /** The projection after the append. */
  readonly state: RunState
}

export interface AppliedChange {
  readonly to: RunStatus
  /** ISO-8601. */
  readonly at: string
  /** Why the run has failed. */
  readonly error: string | undefined
}

/**
 * Adds rows to appends and follows their commits. A group of appends shares one transaction; a reactor gets the whole
 * group, in its order.
 */
export interface Reactor {
  /**
   * INSERTs, UPDATEs or DELETEs of the appends' transaction. They become part of the one statement that writes the log,
   * so they cost no round trip, do not see its rows, and are repeated and rolled back with it. Their results are
   * dropped.
   */
  readonly inTransaction?: (appends: ReadonlyArray<WrittenAppend>) => ReadonlyArray<Fragment>
  /** Called once, after the commit. It must neither wait nor fail; one that throws is logged and counted. */
  readonly afterCommit?: (appends: ReadonlyArray<WrittenAppend>) => void
}

/** The reactors of the service: the only way to add something to an append. */
export class Reactors extends Context.Service<Reactors, ReadonlyArray<Reactor>>()("runplane/control-plane/Reactors") {}

/** The reactors as the log calls them. One that throws affects neither the other reactors nor the committed append. */
export const makeReactions = Effect.gen(function* () {
  const reactors = yield* Reactors
  const { sideEffectFailed } = yield* Metrics
  const log = Effect.runForkWith(yield* Effect.context())

  const inTransaction = (appends: ReadonlyArray<WrittenAppend>) =>
    reactors.flatMap((reactor) => reactor.inTransaction?.(appends) ?? [])

  const afterCommit = (appends: ReadonlyArray<WrittenAppend>) => {
    for (const reactor of reactors) {
      try {
        reactor.afterCommit?.(appends)
      } catch (fault) {
        sideEffectFailed("publish")
        log(Effect.logError("a reactor failed after the commit", fault))
      }
    }
  }
  return { inTransaction, afterCommit } as const
})
