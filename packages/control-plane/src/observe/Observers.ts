import type { RunId } from "@runplane/domain"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import { describeSqlError } from "../database/SqlFailures.ts"
import { endsRun, LiveEvents } from "../log/LiveEvents.ts"
import type { Adoption } from "./decide.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { RecoveryMeter } from "./RecoveryMeter.ts"
import { RunLocks } from "./RunLocks.ts"
import { RunObserver, restarts } from "./RunObserver.ts"
import { SessionUpdates } from "./SessionUpdates.ts"

/** Runs whose locks one statement takes. */
const TAKE_UP_BATCH = 500

export interface TakingUp {
  readonly done: number
  /** Undefined until they have been counted. */
  readonly of: number | undefined
}

/**
 * Supervises the observers: one fiber a run, restarted with back-off when it fails, stopped with the service, and
 * started again for every unfinished run when the service comes back (docs/runtime.md#supervision). One run's trouble
 * never touches another.
 */
export class Observers extends Context.Service<
  Observers,
  {
    /** Makes sure that the run is observed; returns at once, and does nothing when it already is. */
    readonly adopt: (runId: RunId) => Effect.Effect<void>
    /** Stops observing a run that has been deleted, so that a new one of the same id finds the place free. */
    readonly dismiss: (runId: RunId) => Effect.Effect<void>
    /** Runs that are observed by this process. */
    readonly active: Effect.Effect<number>
    /** How far this process is with the unfinished runs that it takes up just now; undefined when it takes none up. */
    readonly takingUp: Effect.Effect<TakingUp | undefined>
    /**
     * Unfinished runs of at least that age, in seconds, that neither this nor another process on the database observes.
     */
    readonly unobserved: (seconds: number) => Effect.Effect<ReadonlyArray<RunId>, SqlError>
  }
>()("runplane/control-plane/Observers") {
  static readonly layer = Layer.effect(
    Observers,
    Effect.gen(function* () {
      const observer = yield* RunObserver
      const runs = yield* ObservedRuns
      const settings = yield* ObserverSettings
      const updates = yield* SessionUpdates
      const live = yield* LiveEvents
      const locks = yield* RunLocks
      const recovery = yield* RecoveryMeter
      const fibers = yield* FiberMap.make<RunId, void, never>()

      const supervise = (runId: RunId, first: Adoption, placed: Effect.Effect<unknown>) =>
        Effect.suspend(() => {
          let adoption = first
          return Effect.suspend(() => {
            const current = adoption
            adoption = "restarted"
            return observer.observe(runId, current, placed)
          }).pipe(
            // A defect is retried like a failure: whatever it was, the run must not stay unobserved.
            Effect.catchDefect((defect) => Effect.fail(defect)),
            Effect.retry(restarts),
            Effect.ignore,
            Effect.ensuring(placed),
            Effect.ensuring(locks.release(runId)),
            Effect.annotateLogs({ runId })
          )
        })

      const start = (runId: RunId, adoption: Adoption, placed: Effect.Effect<unknown>) =>
        FiberMap.run(fibers, runId, supervise(runId, adoption, placed), { onlyIfMissing: true })

      /** Observes the run unless another process does; when that one dies, a later look takes the run over. */
      const adopt = (runId: RunId) =>
        Effect.gen(function* () {
          if (yield* FiberMap.has(fibers, runId)) return
          const [held] = yield* locks.acquire([runId])
          if (held !== undefined) yield* start(runId, "created", Effect.void)
        }).pipe(
          Effect.catchTag("SqlError", (error) =>
            Effect.logWarning(`cannot take over run ${runId} now: ${describeSqlError(error)}`)
          )
        )

      let progress: TakingUp | undefined = settings.recoveryEnabled ? { done: 0, of: undefined } : undefined

      /** Starts the run's observer and waits until it has found its place, but not for ever. */
      const recover = Effect.fnUntraced(function* (runId: RunId) {
        const placed = yield* Deferred.make<void>()
        yield* start(runId, "recovered", Deferred.succeed(placed, undefined))
        yield* Effect.timeoutOption(Deferred.await(placed), settings.takeUpPatienceMs)
      })

      /**
       * Takes up every unfinished run that nobody observes: at the start, and again and again for those of dead
       * processes. In batches, so that the service answers requests meanwhile.
       */
      const takeUp = Effect.gen(function* () {
        for (const lost of yield* locks.renew) {
          yield* Effect.logWarning("another process observes this run now").pipe(Effect.annotateLogs({ runId: lost }))
          yield* FiberMap.remove(fibers, lost)
        }
        const unfinished = (yield* runs.unfinished).filter((runId) => !FiberMap.hasUnsafe(fibers, runId))
        const taking = { done: 0, of: unfinished.length }
        if (taking.of > 0) progress = taking
        for (const batch of Arr.chunksOf(unfinished, TAKE_UP_BATCH)) {
          const held = yield* Effect.tapError(locks.acquire(batch), () =>
            Effect.sync(() => {
              for (const _ of batch) recovery("failed")
            })
          )
          taking.done += batch.length - held.length
          yield* Effect.forEach(
            held,
            (runId) =>
              Effect.ensuring(
                recover(runId),
                Effect.sync(() => (taking.done += 1))
              ),
            { concurrency: settings.takeUpConcurrency, discard: true }
          )
        }
      }).pipe(Effect.ensuring(Effect.sync(() => (progress = undefined))))

      // A run that was ended by a caller leaves an observer that has not heard of it from the runtime yet.
      yield* live.listen((batch) => {
        if (endsRun(batch)) updates.publish(batch.runId, { _tag: "Check" })
      })

      if (settings.recoveryEnabled) {
        yield* takeUp.pipe(
          Effect.catchTag("SqlError", (error) =>
            Effect.logWarning(`cannot look for unobserved runs: ${describeSqlError(error)}`)
          ),
          Effect.repeat(Schedule.spaced(settings.takeOverIntervalMs)),
          Effect.forkScoped
        )
      }

      // While a lost connection is being replaced our own locks are gone, and our observers work on.
      const unobserved = Effect.fn("Observers.unobserved")(function* (seconds: number) {
        const old = yield* runs.unfinishedFor(seconds)
        const others = old.filter((runId) => !FiberMap.hasUnsafe(fibers, runId))
        return others.length === 0 ? [] : yield* locks.unheld(others)
      })

      return Observers.of({
        adopt,
        dismiss: (runId) => FiberMap.remove(fibers, runId),
        active: FiberMap.size(fibers),
        takingUp: Effect.sync(() => progress),
        unobserved
      })
    })
  )
}
