import { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { SqlError } from "effect/sql/SqlError"
import { endsRun } from "../event-log/subscribe/LiveBatch.ts"
import { LiveEvents } from "../event-log/subscribe/LiveEvents.ts"
import { forever, roundGoesOn } from "../platform/loop/Forever.ts"
import type { Adoption } from "./decide.ts"
import { MemoryGuard } from "./MemoryGuard.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { Placement } from "./placement/Placement.ts"
import { RunObserver, restarts } from "./RunObserver.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/** Most runs in the notices of other processes; the next recovery finds further ones. */
const NOTICED_RUNS = 10_000
/** Between two checks of the heap. */
const MEMORY_PAUSE = "1 second"

export interface RecoveryProgress {
  readonly done: number
  /** Undefined until they have been counted. */
  readonly of: number | undefined
  /** Whether the remaining runs wait for memory. */
  readonly isWaitingForMemory: boolean
}

/**
 * Supervises the observers: one fiber a run, restarted with back-off when it fails, stopped with the service, and
 * started for every unfinished run with it (docs/internals/runtime.md#supervision). The failure of one run's observer
 * does not affect the others.
 */
export class Observers extends Context.Service<
  Observers,
  {
    /** Makes sure that the run is observed; returns at once, and does nothing when it already is. */
    readonly adopt: (runId: RunId) => Effect.Effect<void>
    /** Stops observing a deleted run, so that a new run with the same id can be observed. */
    readonly dismiss: (runId: RunId) => Effect.Effect<void>
    /** Runs that are observed by this process. */
    readonly active: Effect.Effect<number>
    /** Progress of the current recovery of unfinished runs; undefined without one. */
    readonly recovery: Effect.Effect<RecoveryProgress | undefined>
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
      const directory = yield* SessionDirectory
      const live = yield* LiveEvents
      const placement = yield* Placement
      const memory = yield* MemoryGuard
      const fibers = yield* FiberMap.make<RunId, void, never>()
      // In the context of the service: an observer lives as long as its run, and must not retain the request that
      // created it, with its body, its answer and its connection.
      const run = yield* FiberMap.runtime(fibers)<never>()

      /** The observed runs of each shard. */
      const byShard = new Map<number, Set<RunId>>()
      const isOurs = (runId: RunId) => placement.has(placement.shardOf(runId))

      const supervise = (runId: RunId, first: Adoption, ready: Effect.Effect<unknown>) =>
        Effect.suspend(() => {
          let adoption = first
          return Effect.suspend(() => {
            const current = adoption
            adoption = "restarted"
            return observer.observe(runId, current, ready)
          }).pipe(
            // A defect is retried like a failure, so that the run does not stay unobserved.
            Effect.catchDefect((defect) => Effect.fail(defect)),
            Effect.retry(restarts),
            Effect.ignore,
            Effect.ensuring(ready),
            Effect.ensuring(Effect.sync(() => byShard.get(placement.shardOf(runId))?.delete(runId))),
            Effect.annotateLogs({ runId })
          )
        })

      const start = (runId: RunId, adoption: Adoption, ready: Effect.Effect<unknown>) =>
        Effect.sync(() => {
          const shard = placement.shardOf(runId)
          byShard.set(shard, (byShard.get(shard) ?? new Set()).add(runId))
          run(runId, supervise(runId, adoption, ready), { onlyIfMissing: true })
        })

      const wake = yield* Queue.sliding<void>(1)
      /**
       * Observes the run if its shard is ours; otherwise the owner of the shard is notified of the append. While the
       * heap is full the next recovery adopts it.
       */
      const adopt = Effect.fnUntraced(function* (runId: RunId) {
        if (!isOurs(runId)) return
        if (settings.recoveryEnabled && (yield* memory.isFull)) Queue.offerUnsafe(wake, undefined)
        else yield* start(runId, "created", Effect.void)
      })

      /** Starts the run's observer and waits until it is ready, with a timeout. */
      const recover = Effect.fnUntraced(function* (runId: RunId) {
        const ready = yield* Deferred.make<void>()
        yield* start(runId, "recovered", Deferred.succeed(ready, undefined))
        yield* Effect.timeoutOption(Deferred.await(ready), settings.recoveryTimeoutMs)
      })

      let progress: RecoveryProgress | undefined = settings.recoveryEnabled
        ? { done: 0, of: undefined, isWaitingForMemory: false }
        : undefined

      /**
       * Adopts every unobserved unfinished run of this process: at the start, after gained shards, and periodically for
       * missed ones. A few at a time, so that the service answers requests meanwhile.
       */
      const recoverAll = Effect.gen(function* () {
        const waiting = (yield* runs.unfinished).filter((runId) => !FiberMap.hasUnsafe(fibers, runId) && isOurs(runId))
        const current = { done: 0, of: waiting.length, isWaitingForMemory: false }
        if (current.of > 0) progress = current
        let isLogged = false
        const awaitMemory = Effect.gen(function* () {
          while (yield* memory.isFull) {
            current.isWaitingForMemory = true
            if (!isLogged) {
              isLogged = true
              yield* Effect.logWarning(
                `the heap is full: ${current.of - current.done} wait until others have ended ` +
                  "(docs/reference/operations.md#memory)"
              )
            }
            yield* Effect.sleep(MEMORY_PAUSE)
            yield* roundGoesOn
          }
          current.isWaitingForMemory = false
        })
        yield* Effect.forEach(
          waiting,
          (runId) =>
            Effect.ensuring(
              Effect.andThen(
                awaitMemory,
                Effect.suspend(() => (isOurs(runId) ? Effect.andThen(recover(runId), roundGoesOn) : Effect.void))
              ),
              Effect.sync(() => (current.done += 1))
            ),
          { concurrency: settings.recoveryConcurrency, discard: true }
        )
      }).pipe(Effect.ensuring(Effect.sync(() => (progress = undefined))))

      placement.follow({
        gained: () => Queue.offerUnsafe(wake, undefined),
        leave: (shards) =>
          Effect.forEach(
            [...shards].flatMap((shard) => [...(byShard.get(shard) ?? [])]),
            (runId) => FiberMap.remove(fibers, runId),
            { concurrency: "unbounded", discard: true }
          )
      })

      // When a caller ends a run, its observer has no notice of that from the runtime yet.
      yield* live.listen((batch) => {
        if (endsRun(batch)) directory.publish(batch.runId, { _tag: "Check" })
      })

      /** Runs without an observer that another process has written: it may have created them. */
      const noticed = new Set<string>()
      const notices = yield* Queue.sliding<void>(1)
      yield* live.listenElsewhere((notice) => {
        if (notice === "anything") return Queue.offerUnsafe(wake, undefined)
        if (notice.ended) return directory.publish(notice.runId, { _tag: "Check" })
        const runId = RunId.make(notice.runId)
        if (FiberMap.hasUnsafe(fibers, runId) || !isOurs(runId)) return
        if (noticed.size < NOTICED_RUNS) noticed.add(runId)
        return Queue.offerUnsafe(notices, undefined)
      })
      const adoptNoticed = Effect.gen(function* () {
        const runIds = [...noticed]
        noticed.clear()
        for (const runId of yield* runs.queued(runIds)) yield* adopt(runId)
      }).pipe(Effect.tapCause(() => Queue.offer(wake, undefined)))
      yield* Effect.forkScoped(
        forever("observer-notices", adoptNoticed, { wake: Queue.take(notices), first: Number.POSITIVE_INFINITY })
      )

      if (settings.recoveryEnabled) {
        yield* Effect.forkScoped(
          forever("observer-recovery", recoverAll, { wake: Queue.take(wake), every: settings.recoveryIntervalMs })
        )
      }

      // The process of a shard observes its runs; of our own shards we know each observer.
      const unobserved = Effect.fn("Observers.unobserved")(function* (seconds: number) {
        const old = yield* runs.unfinishedFor(seconds)
        const others = old.filter((runId) => !FiberMap.hasUnsafe(fibers, runId))
        if (others.length === 0) return []
        const taken = yield* placement.taken
        return others.filter((runId) => isOurs(runId) || !taken.has(placement.shardOf(runId)))
      })

      return Observers.of({
        adopt,
        dismiss: (runId) => FiberMap.remove(fibers, runId),
        active: FiberMap.size(fibers),
        recovery: Effect.sync(() => progress),
        unobserved
      })
    })
  )
}
