import { type Backoff, backoffMs } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import { LoopFaults } from "./LoopFaults.ts"
import { type LoopState, Loops } from "./Loops.ts"
import { withoutSecrets } from "./WithoutSecrets.ts"

/** The pauses after failures double between these. Milliseconds. */
const BACKOFF = { firstMs: 1_000, longestMs: 30_000 }
/** What a round may take by default. Milliseconds. */
const LIMIT_MS = 60_000
/** Each pause after a failure is spread by this part of it: many loops fail at the same moment, by the same cause. */
const SPREAD = 0.2

/** A round's own pause until the next one, milliseconds; infinite: until the wake. */
export interface Pause {
  readonly pauseMs: number
}

export interface LoopOptions {
  /** Ends a pause early, but not the one after a failure. A round that it begins may find nothing to do. */
  readonly wake?: Effect.Effect<unknown>
  /** The pause after a round that answers none. Milliseconds. Without it: until the wake; without a wake: none. */
  readonly every?: number
  /** The pause before the first round, milliseconds; infinite: until the wake. None by default. */
  readonly first?: number
  /** The pauses after failures double from the first to the longest. Milliseconds. */
  readonly backoff?: Backoff
  /**
   * What a round, or the part of one between two calls of `roundGoesOn`, may take before the loop is late.
   * Milliseconds.
   */
  readonly limitMs?: number
  /** The text of a failure or defect for the log. */
  readonly describe?: (failure: unknown) => string
  /** The same for readers without a key, such as probes. */
  readonly describePublicly?: (failure: unknown) => string
}

const CurrentRound = Context.Reference<{ readonly goesOn: Effect.Effect<void>; readonly waits: Effect.Effect<void> }>(
  "runplane/server/CurrentRound",
  { defaultValue: () => ({ goesOn: Effect.void, waits: Effect.void }) }
)

/** A part of a long round is done: the loop is in time, and an outage of it is over. Does nothing outside of a loop. */
export const roundGoesOn: Effect.Effect<void> = Effect.flatMap(CurrentRound, ({ goesOn }) => goesOn)

/** The same of a round that waits for its input from now on, such as a subscription: it cannot be late. */
export const roundWaits: Effect.Effect<void> = Effect.flatMap(CurrentRound, ({ waits }) => waits)

const textOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

/**
 * Repeats the round until it is interrupted. A failure or a defect never ends the loop: it is counted, logged at the
 * start and at the end of its outage, and the next round comes after a pause that doubles
 * (docs/reference/operations.md#loops). The name is a label of metrics.
 */
export const forever = <E, R>(name: string, round: Effect.Effect<Pause | void, E, R>, options: LoopOptions = {}) =>
  Effect.gen(function* () {
    const loops = yield* Loops
    const { first = 0, limitMs = LIMIT_MS } = options
    const now = yield* Clock.currentTimeMillis
    return yield* Effect.acquireUseRelease(
      Effect.sync(() => loops.open(name, limitMs, now + first)),
      (state) => turn(state, round, options),
      (state) => Effect.sync(() => loops.close(state))
    )
  }).pipe(Effect.annotateLogs({ loop: name }))

const turn = Effect.fnUntraced(function* <E, R>(
  state: LoopState,
  round: Effect.Effect<Pause | void, E, R>,
  { backoff = BACKOFF, describe = textOf, describePublicly, every, first = 0, wake }: LoopOptions
): Effect.fn.Return<never, never, R> {
  const { name } = state
  const loops = yield* Loops
  const faults = yield* LoopFaults
  const shown = describePublicly ?? ((failure: unknown) => withoutSecrets(describe(failure)))
  const woken =
    faults === undefined ? wake : wake === undefined ? faults.wake(name) : Effect.raceFirst(wake, faults.wake(name))
  const usual = every ?? (wake === undefined ? 0 : Number.POSITIVE_INFINITY)
  const begun = faults === undefined ? round : Effect.andThen(faults.before(name), round)

  const worked = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const outage = state.worked(now)
    if (outage === undefined) return
    const seconds = Math.round((now - outage.since) / 1_000)
    yield* Effect.logInfo(`loop ${name} works again after ${seconds} s and ${outage.failures} failed rounds`)
  })
  const waits = Effect.andThen(
    worked,
    Effect.sync(() => state.waits())
  )
  const current = Effect.provideService(begun, CurrentRound, { goesOn: worked, waits })

  const failed = Effect.fnUntraced(function* (cause: Cause.Cause<E>) {
    loops.countFailure(name)
    const failure = Cause.squash(cause)
    const isStart = state.failed(yield* Clock.currentTimeMillis, shown(failure))
    const text = `loop ${name} failed, and is retried: ${describe(failure)}`
    // The stack of a defect leads to it; a failure is one that the loop expects.
    const isDefect = Cause.hasDies(cause)
    if (!isStart) yield* Effect.logDebug(text)
    else if (isDefect) yield* Effect.logError(text, cause)
    else yield* Effect.logWarning(text)
    const longestMs = Math.min(backoff.longestMs, faults?.longestMs ?? backoff.longestMs)
    const full = backoffMs({ firstMs: backoff.firstMs, longestMs }, state.failures - 1)
    yield* Effect.sleep(Math.round(full * (1 - SPREAD * (yield* Random.next))))
  })

  const pause = (pauseMs: number) => {
    if (pauseMs <= 0) return Effect.yieldNow
    if (woken === undefined) return Number.isFinite(pauseMs) ? Effect.sleep(pauseMs) : Effect.never
    return Number.isFinite(pauseMs) ? Effect.timeoutOption(woken, pauseMs) : woken
  }

  yield* first === 0 ? Effect.void : pause(first)
  while (true) {
    state.begin(yield* Clock.currentTimeMillis)
    // An interruption from outside ends the loop here; one from inside of the round is a failure of it.
    const exit: Exit.Exit<Pause | void, E> = yield* Effect.exit(current)
    if (Exit.isFailure(exit)) {
      yield* failed(exit.cause)
      continue
    }
    yield* worked
    const pauseMs = exit.value?.pauseMs ?? usual
    state.dueAt = (yield* Clock.currentTimeMillis) + pauseMs
    yield* pause(pauseMs)
  }
})
