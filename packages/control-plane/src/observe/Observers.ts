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
import { describeSqlError } from "../platform/postgres/SqlFailures.ts"
import type { Adoption } from "./decide.ts"
import { MemoryGuard } from "./MemoryGuard.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { Placement } from "./placement/Placement.ts"
import { RunObserver, restarts } from "./RunObserver.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/** Runs that others have written and that are to be looked at; a run more is found by the next look at all. */
const NAMED_RUNS = 10_000
/** Between two looks for room in the heap. */
const ROOM_PAUSE = "1 second"

export interface TakingUp {
  readonly done: number
  /** Undefined until they have been counted. */
  readonly of: number | undefined
  /** Whether the rest waits for memory. */
  readonly isHeld: boolean
}

/**
 * Supervises the observers: one fiber a run, restarted with back-off when it fails, stopped with the service, and
 * started again for every unfinished run when the service comes back (docs/internals/runtime.md#supervision). One run's
 * trouble never touches another.
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
      const directory = yield* SessionDirectory
      const live = yield* LiveEvents
      const placement = yield* Placement
      const room = yield* MemoryGuard
      const fibers = yield* FiberMap.make<RunId, void, never>()
      // In the surroundings of the service: an observer lives as long as its run, and must not hold on to the request
      // that made it, with its body, its answer and its connection.
      const run = yield* FiberMap.runtime(fibers)<never>()

      /** The observed runs of each shard. */
      const byShard = new Map<number, Set<RunId>>()
      const isOurs = (runId: RunId) => placement.has(placement.shardOf(runId))

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
            Effect.ensuring(Effect.sync(() => byShard.get(placement.shardOf(runId))?.delete(runId))),
            Effect.annotateLogs({ runId })
          )
        })

      const start = (runId: RunId, adoption: Adoption, placed: Effect.Effect<unknown>) =>
        Effect.sync(() => {
          const shard = placement.shardOf(runId)
          byShard.set(shard, (byShard.get(shard) ?? new Set()).add(runId))
          run(runId, supervise(runId, adoption, placed), { onlyIfMissing: true })
        })

      const wake = yield* Queue.sliding<void>(1)
      /**
       * Observes the run if it is this process's; else the one whose it is hears of it. Without room in the heap the
       * run is one of those to be taken up.
       */
      const adopt = Effect.fnUntraced(function* (runId: RunId) {
        if (!isOurs(runId)) return
        if (settings.recoveryEnabled && (yield* room.isFull)) Queue.offerUnsafe(wake, undefined)
        else yield* start(runId, "created", Effect.void)
      })

      /** Starts the run's observer and waits until it has found its place, but not for ever. */
      const recover = Effect.fnUntraced(function* (runId: RunId) {
        const placed = yield* Deferred.make<void>()
        yield* start(runId, "recovered", Deferred.succeed(placed, undefined))
        yield* Effect.timeoutOption(Deferred.await(placed), settings.takeUpPatienceMs)
      })

      let progress: TakingUp | undefined = settings.recoveryEnabled
        ? { done: 0, of: undefined, isHeld: false }
        : undefined

      /**
       * Takes up every unfinished run of this process that is not observed: at the start, when shards come, and again
       * and again for what was missed. A few at a time, so that the service answers requests meanwhile.
       */
      const takeUp = Effect.gen(function* () {
        const waiting = (yield* runs.unfinished).filter((runId) => !FiberMap.hasUnsafe(fibers, runId) && isOurs(runId))
        const taking = { done: 0, of: waiting.length, isHeld: false }
        if (taking.of > 0) progress = taking
        let isTold = false
        const awaitRoom = Effect.gen(function* () {
          while (yield* room.isFull) {
            taking.isHeld = true
            if (!isTold) {
              isTold = true
              yield* Effect.logWarning(
                `the heap has no room for more runs: ${taking.of - taking.done} wait until others have ended ` +
                  "(docs/reference/operations.md#memory)"
              )
            }
            yield* Effect.sleep(ROOM_PAUSE)
          }
          taking.isHeld = false
        })
        yield* Effect.forEach(
          waiting,
          (runId) =>
            Effect.ensuring(
              Effect.andThen(
                awaitRoom,
                Effect.suspend(() => (isOurs(runId) ? recover(runId) : Effect.void))
              ),
              Effect.sync(() => (taking.done += 1))
            ),
          { concurrency: settings.takeUpConcurrency, discard: true }
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

      // A run that was ended by a caller leaves an observer that has not heard of it from the runtime yet.
      yield* live.listen((batch) => {
        if (endsRun(batch)) directory.publish(batch.runId, { _tag: "Check" })
      })

      /** Runs that another process has written, and that nobody observes here: it may have created them. */
      const named = new Set<string>()
      const heard = yield* Queue.sliding<void>(1)
      yield* live.listenElsewhere((word) => {
        if (word === "anything") return Queue.offerUnsafe(wake, undefined)
        if (word.ended) return directory.publish(word.runId, { _tag: "Check" })
        const runId = RunId.make(word.runId)
        if (FiberMap.hasUnsafe(fibers, runId) || !isOurs(runId)) return
        if (named.size < NAMED_RUNS) named.add(runId)
        return Queue.offerUnsafe(heard, undefined)
      })
      yield* Effect.gen(function* () {
        yield* Queue.take(heard)
        const runIds = [...named]
        named.clear()
        for (const runId of yield* runs.queued(runIds)) yield* adopt(runId)
      }).pipe(
        Effect.catchTag("SqlError", () => Effect.asVoid(Queue.offer(wake, undefined))),
        Effect.forever,
        Effect.forkScoped
      )

      if (settings.recoveryEnabled) {
        yield* takeUp.pipe(
          Effect.catchTag("SqlError", (error) =>
            Effect.logWarning(`cannot look for unobserved runs: ${describeSqlError(error)}`)
          ),
          Effect.andThen(Effect.timeoutOption(Queue.take(wake), settings.takeOverIntervalMs)),
          Effect.forever,
          Effect.forkScoped
        )
      }

      // A shard is observed by whoever has it; of our own shards we know each observer.
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
        takingUp: Effect.sync(() => progress),
        unobserved
      })
    })
  )
}
