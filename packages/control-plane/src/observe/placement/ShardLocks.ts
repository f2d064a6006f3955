import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import type { ShardId } from "effect/cluster/ShardId"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { FIRST_SHARD_LOCK, SHARD_LOCKS } from "../../platform/postgres/AdvisoryLocks.ts"
import { describeSqlError } from "../../platform/postgres/SqlFailures.ts"
import type { Presence } from "./Presence.ts"

/** The shards of all runs. Equal in all processes of all releases on a database, so no setting. */
export const SHARDS = 64

/** Told when shards come and go. */
export interface Follower {
  /** There are shards more; returns at once. */
  readonly gained: () => void
  /** Lets go of all runs of these shards. The shards go on to others when it returns. */
  readonly leave: (shards: ReadonlySet<number>) => Effect.Effect<void>
}

/**
 * Which shards this process has. Those are the ones whose lock it took, until another process has it: while the
 * database is away all locks are gone, and nobody else can take them, so work goes on.
 */
export class ShardLocks extends Context.Service<
  ShardLocks,
  {
    readonly has: (shard: number) => boolean
    /** How many this process has. */
    readonly count: () => number
    /** Whether this process has none, although there are enough for all the processes that are there. */
    readonly lacking: () => boolean
    /** Shards whose lock any process holds. */
    readonly taken: Effect.Effect<ReadonlySet<number>, SqlError>
    readonly follow: (follower: Follower) => void
    /** Returns once the first locks have been asked for: an only process has them all then. */
    readonly asked: Effect.Effect<void>
  }
>()("runplane/control-plane/ShardLocks") {}

/** The storage of runners as the cluster uses it, with an eye on what becomes of the locks. */
export const layerWatched = (presence: Presence) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* RunnerStorage
      const sql = yield* PgClient.PgClient
      /** Their runs are observed here. */
      const ours = new Set<number>()
      /** Those of ours whose lock is held, as far as is known. */
      const held = new Set<number>()
      /** Processes on the database. */
      let processes = 1
      const asked = yield* Deferred.make<void>()
      let follower: Follower = { gained: () => {}, leave: () => Effect.void }

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
          return shards.size === 0 ? Effect.void : follower.leave(shards)
        })

      /** Lets go of what another process has by now. */
      const settle = Effect.suspend(() => {
        const doubtful = [...ours].filter((shard) => !held.has(shard))
        if (doubtful.length === 0) return Effect.void
        return Effect.matchEffect(taken, {
          onSuccess: (elsewhere) =>
            leave(new Set(doubtful.filter((shard) => elsewhere.has(shard) && !held.has(shard)))),
          onFailure: (error) => Effect.logDebug(`cannot see who has which runs: ${describeSqlError(error)}`)
        })
      })

      const watched = RunnerStorage.of({
        ...storage,
        getRunners: Effect.gen(function* () {
          const runners = yield* storage.getRunners
          const seats = yield* Effect.orDie(presence.seats)
          processes = seats.size
          yield* settle
          return runners.filter(([{ address }]) => seats.has(address.port))
        }),
        acquire: (address, shards) =>
          Effect.tap(storage.acquire(address, shards), (acquired) =>
            Effect.sync(() => {
              for (const { id } of acquired) {
                held.add(id)
                ours.add(id)
              }
              if (acquired.length > 0) follower.gained()
              Deferred.doneUnsafe(asked, Effect.void)
            })
          ),
        refresh: (address, shards) => {
          const asked = numbersOf(shards)
          return Effect.tap(storage.refresh(address, shards), (kept) => {
            const left = numbersOf(kept)
            for (const shard of asked) if (!left.has(shard)) held.delete(shard)
            return settle
          })
        },
        release: (address, shard) =>
          Effect.suspend(() => (held.has(shard.id) ? leave(new Set([shard.id])) : Effect.void)).pipe(
            Effect.andThen(storage.release(address, shard)),
            Effect.tap(Effect.sync(() => held.delete(shard.id)))
          ),
        releaseAll: (address) =>
          Effect.tap(
            storage.releaseAll(address),
            Effect.sync(() => held.clear())
          )
      })
      const locks = ShardLocks.of({
        asked: Deferred.await(asked),
        has: (shard) => ours.has(shard),
        count: () => ours.size,
        lacking: () => ours.size === 0 && processes <= SHARDS,
        taken,
        follow: (next) => {
          follower = next
        }
      })
      return Context.make(RunnerStorage, watched).pipe(Context.add(ShardLocks, locks))
    })
  )

const numbersOf = (shards: Iterable<ShardId>) => new Set(Array.from(shards, ({ id }) => id))
