import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { forever, type LoopOptions } from "../../platform/loop/Forever.ts"
import type { LoopName } from "../../platform/loop/LoopNames.ts"
import { LiveEvents } from "../subscribe/LiveEvents.ts"

/** The pause of a consumer that is at the end of the log: for deadlines, and for lost notices. Milliseconds. */
const IDLE_MS = 1_000
/** The least time between two steps at the end of the log, so that commits share a step. Milliseconds. */
const SHARED_MS = 250

/** What a step has done. */
export interface ConsumedStep<Lag> {
  /** Whether nothing more is to be done at once. */
  readonly isEnd: boolean
  readonly lag: Lag
}

/**
 * Code that follows the whole log from a stored cursor, in one process at a time: `placement.singleton` runs `consume`
 * there. The consumer owns its cursor, a row in a table of its feature. A step reads what is behind the cursor
 * (`readEndOfLog`), and moves the cursor by compare-and-set in the transaction of what it writes: during a change of
 * the process two may step, and each event is written once.
 *
 * Alerts, the archive and the decisions of runs are consumers. The ledger is not: it numbers the rows of
 * `ledger_pending`, which come from audit entries and deletions, too, and are deleted as they are numbered. It has no
 * position in the log.
 */
export interface LogConsumer<Lag, E, R> {
  readonly name: LoopName
  /** Undefined while another process has the cursor. */
  readonly step: Effect.Effect<ConsumedStep<Lag> | undefined, E, R>
  /** Reports how far the cursor is behind the log, after each step; undefined when this process no longer steps. */
  readonly report: (lag: NoInfer<Lag> | undefined) => void
  /** Whether each commit makes a step due, or the clock alone. */
  readonly isWokenByCommits: boolean
  /** Follows a step at the end of the log. */
  readonly atEnd?: Effect.Effect<void, E, R>
  /** Follows a failure; the step is repeated after the pause of `backoff`. */
  readonly failed?: (cause: Cause.Cause<E>) => Effect.Effect<void, never, R>
  readonly backoff?: LoopOptions["backoff"]
  /** The most time of a step. Milliseconds. */
  readonly limitMs?: number
}

/** Takes after each commit of this process, or of another one. */
const commits = Effect.gen(function* () {
  const live = yield* LiveEvents
  const notified = yield* Queue.sliding<void>(1)
  const notify = () => {
    Queue.offerUnsafe(notified, undefined)
  }
  yield* live.listen(notify)
  yield* live.listenElsewhere(notify)
  return Queue.take(notified)
})

/** Steps from the stored cursor to the end of the log, and follows it, until the fiber is interrupted. */
export const consume = Effect.fnUntraced(
  function* <Lag, E, R>(consumer: LogConsumer<Lag, E, R>) {
    const { atEnd, backoff, failed, isWokenByCommits, limitMs, name, report, step } = consumer
    const wake = isWokenByCommits ? yield* commits : undefined
    const round = Effect.gen(function* () {
      const done = yield* step
      if (done !== undefined) report(done.lag)
      if (done?.isEnd === false) return { pauseMs: 0 }
      if (atEnd !== undefined) yield* atEnd
      if (wake === undefined) return { pauseMs: IDLE_MS }
      yield* Effect.sleep(SHARED_MS)
      return { pauseMs: IDLE_MS - SHARED_MS }
    })
    const options = { ...(wake && { wake }), ...(backoff && { backoff }), ...(limitMs !== undefined && { limitMs }) }
    return yield* forever(name, failed === undefined ? round : Effect.tapCause(round, failed), options).pipe(
      Effect.ensuring(Effect.sync(() => report(undefined)))
    )
  },
  Effect.scoped,
  Effect.withTracerEnabled(false)
)
