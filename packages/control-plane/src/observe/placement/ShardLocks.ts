import * as PgClient from "@effect/sql-pg/PgClient"
import { describeSqlError } from "@runplane/database"
import * as Context from "effect/Context"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import type { ShardId } from "effect/cluster/ShardId"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { FIRST_SHARD_LOCK, SHARD_LOCKS } from "../../platform/postgres/AdvisoryLocks.ts"
import type { Presence } from "./Presence.ts"

/** The shards of all runs. Equal in all processes of all releases on a database, so no setting. */
export const SHARDS = 64

/** Is notified of gained and lost shards. */
export interface Follower {
  /** This process has more shards; returns at once. */
  readonly gained: () => void
  /** Stops observing all runs of these shards. Other processes get the shards when it returns. */
  readonly leave: (shards: ReadonlySet<number>) => Effect.Effect<void>
}

/**
 * The shards of this process: it keeps a shard whose lock it took until another process has that lock. While the
 * database is away all locks are gone, but no other process can take them, so the work goes on.
 */
export class ShardLocks extends Context.Service<
  ShardLocks,
  {
    readonly has: (shard: number) => boolean
    /** How many this process has. */
    readonly count: () => number
    /** Whether this process has none, although there are enough for all live processes. */
    readonly isStarved: () => boolean
    /** Shards whose lock any process holds. */
    readonly taken: Effect.Effect<ReadonlySet<number>, SqlError>
    /** Adds a follower. */
    readonly follow: (follower: Follower) => void
    /** Returns after the first request for locks: an only process has them all then. */
    readonly requested: Effect.Effect<void>
  }
>()("runplane/control-plane/ShardLocks") {}

/** The cluster's storage of runners, which also records the locks of this process. */
export const layerWatched = (presence: Presence) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* RunnerStorage
      const sql = yield* PgClient.PgClient
      /** Shards whose runs this process observes. */
      const ours = new Set<number>()
      /** Those of ours with a known lock. */
      const locked = new Set<number>()
      /** Live processes on the database. */
      let processes = 1
      const requested = yield* Deferred.make<void>()
      const followers: Array<Follower> = []

      const taken = sql<{ readonly shard: number }>`
        SELECT (objid::int8 - ${FIRST_SHARD_LOCK})::int4 AS shard FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = ${SHARD_LOCKS}::int8::oid
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.pipe(
        Effect.map((rows) => new Set(rows.map(({ shard }) => shard))),
        Effect.withTracerEnabled(false)
      )

      const leave = (shards: ReadonlySet<number>) =>
        Effect.suspend(() => {
          for (const shard of shards) ours.delete(shard)
          if (shards.size === 0) return Effect.void
          return Effect.forEach(followers, (follower) => follower.leave(shards), { discard: true })
        })

      /** Leaves the shards whose lock another process has. */
      const settle = Effect.suspend(() => {
        const doubtful = [...ours].filter((shard) => !locked.has(shard))
        if (doubtful.length === 0) return Effect.void
        return Effect.matchEffect(taken, {
          onSuccess: (lockedShards) =>
            leave(new Set(doubtful.filter((shard) => lockedShards.has(shard) && !locked.has(shard)))),
          onFailure: (error) => Effect.logDebug(`cannot read the locked shards: ${describeSqlError(error)}`)
        })
      })

      const watched = RunnerStorage.of({
        ...storage,
        getRunners: Effect.gen(function* () {
          const runners = yield* storage.getRunners
          const processNumbers = yield* Effect.orDie(presence.processNumbers)
          processes = processNumbers.size
          yield* settle
          return runners.filter(([{ address }]) => processNumbers.has(address.port))
        }),
        acquire: (address, shards) =>
          Effect.tap(storage.acquire(address, shards), (acquired) =>
            Effect.sync(() => {
              for (const { id } of acquired) {
                locked.add(id)
                ours.add(id)
              }
              if (acquired.length > 0) for (const follower of followers) follower.gained()
              Deferred.doneUnsafe(requested, Effect.void)
            })
          ),
        refresh: (address, shards) => {
          const before = numbersOf(shards)
          return Effect.tap(storage.refresh(address, shards), (kept) => {
            const left = numbersOf(kept)
            for (const shard of before) if (!left.has(shard)) locked.delete(shard)
            return settle
          })
        },
        release: (address, shard) =>
          Effect.suspend(() => (locked.has(shard.id) ? leave(new Set([shard.id])) : Effect.void)).pipe(
            Effect.andThen(storage.release(address, shard)),
            Effect.tap(Effect.sync(() => locked.delete(shard.id)))
          ),
        releaseAll: (address) =>
          Effect.tap(
            storage.releaseAll(address),
            Effect.sync(() => locked.clear())
          )
      })
      const locks = ShardLocks.of({
        requested: Deferred.await(requested),
        has: (shard) => ours.has(shard),
        count: () => ours.size,
        isStarved: () => ours.size === 0 && processes <= SHARDS,
        taken,
        follow: (follower) => {
          followers.push(follower)
        }
      })
      return Context.make(RunnerStorage, watched).pipe(Context.add(ShardLocks, locks))
    })
  )

const numbersOf = (shards: Iterable<ShardId>) => new Set(Array.from(shards, ({ id }) => id))
