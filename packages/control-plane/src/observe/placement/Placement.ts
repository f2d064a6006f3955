import { hostname } from "node:os"
import type { RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import { make as entityId } from "effect/cluster/EntityId"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { ObserverSettings } from "../ObserverSettings.ts"
import { makePresence } from "./Presence.ts"
import { type Follower, layerWatched, SHARDS, ShardLocks } from "./ShardLocks.ts"

const GROUP = "default"

/** How long a process may be without shards, in leases: others have to release some first. */
const GRACE_LEASES = 3

/**
 * Decides which process observes a run, and which one runs a singleton (docs/internals/runtime.md#placement). A run
 * belongs to a shard by its id, and a shard to the process that holds its lock. It only avoids double work: the
 * compare-and-set on the stream cursor keeps the log exact.
 */
export class Placement extends Context.Service<
  Placement,
  {
    /** The unique number of this process among those on the database. */
    readonly processNumber: number
    /** How many shards this process has. */
    readonly shards: () => number
    /**
     * Whether it has had none for some time, although there are enough for all the processes on the database. Poll it:
     * the time counts from the first read.
     */
    readonly isStarved: Effect.Effect<boolean>
    readonly shardOf: (runId: RunId) => number
    /** Whether the runs of this shard are this process's to observe. */
    readonly has: (shard: number) => boolean
    /** The shards of all processes. */
    readonly taken: Effect.Effect<ReadonlySet<number>, SqlError>
    /** Notifies a follower of gained and lost shards. */
    readonly follow: (follower: Follower) => void
    /** Runs the effect in one process at a time, in another one when that is gone. It may be interrupted anywhere. */
    readonly singleton: <R>(
      name: string,
      effect: Effect.Effect<void, never, R>
    ) => Effect.Effect<void, never, R | Scope.Scope>
  }
>()("runplane/control-plane/Placement") {
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const { leaseMs, refreshMs } = yield* ObserverSettings
      const presence = yield* makePresence(leaseMs)
      const config = ShardingConfig.layer({
        // Runners do not call each other: the address is a name, and its port the number in the presence lock.
        runnerAddress: Option.some(RunnerAddress.make(`${hostname()}:${process.pid}`, presence.processNumber)),
        shardsPerGroup: SHARDS,
        shardLockExpiration: leaseMs,
        shardLockRefreshInterval: leaseMs,
        refreshAssignmentsInterval: refreshMs
      })
      return placed(presence.processNumber, leaseMs).pipe(
        Layer.provide(Sharding.layer.pipe(Layer.provide(quiet))),
        Layer.provide(Runners.layerNoop),
        Layer.provide([MessageStorage.layerNoop, RunnerHealth.layerNoop]),
        Layer.provideMerge(layerWatched(presence)),
        Layer.provide(SqlRunnerStorage.layer),
        Layer.provide(config)
      )
    })
  ).pipe(Layer.orDie)
}

/**
 * The library warns about missing runners while a process stops. Failures of the database are logged by their callers.
 */
const quiet = Layer.succeed(References.MinimumLogLevel, "Error")

/** Waits for the first shards, which an only process has at once, and one among others after a moment. */
const placed = (processNumber: number, leaseMs: number) =>
  Layer.effect(
    Placement,
    Effect.gen(function* () {
      const sharding = yield* Sharding.Sharding
      const locks = yield* ShardLocks
      yield* Effect.timeoutOption(locks.requested, leaseMs)
      let starvedSince: number | undefined
      return Placement.of({
        processNumber,
        shards: locks.count,
        isStarved: Effect.map(Clock.currentTimeMillis, (now) => {
          starvedSince = locks.isStarved() ? (starvedSince ?? now) : undefined
          return starvedSince !== undefined && now - starvedSince >= GRACE_LEASES * leaseMs
        }),
        shardOf: (runId) => sharding.getShardId(entityId(runId), GROUP).id,
        has: locks.has,
        taken: locks.taken,
        follow: locks.follow,
        // The fiber of a singleton begins with the level that is for the library alone.
        singleton: (name, effect) =>
          Effect.flatMap(References.MinimumLogLevel, (level) =>
            sharding.registerSingleton(name, Effect.provideService(effect, References.MinimumLogLevel, level))
          )
      })
    })
  )
