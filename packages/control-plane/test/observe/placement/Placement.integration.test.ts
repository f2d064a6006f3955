import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type ObserverOptions, ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { Placement } from "../../../src/observe/placement/Placement.ts"
import { SHARDS } from "../../../src/observe/placement/ShardLocks.ts"
import { FIRST_SHARD_LOCK, PRESENCE_LOCKS, SHARD_LOCKS } from "../../../src/platform/postgres/AdvisoryLocks.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const shards = Array.from({ length: SHARDS }, (_, index) => index + 1)

/** A process among others on the database, as far as it concerns who has which shard. */
const join = Effect.fnUntraced(function* (options: Partial<ObserverOptions> = {}) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const context = yield* Layer.buildWithScope(
    Layer.fresh(Placement.layer).pipe(Layer.provide(ObserverSettings.layerFrom({ refreshMs: 50, ...options }))),
    scope
  )
  const placement = Context.get(context, Placement)
  const left: Array<number> = []
  placement.follow({ gained: () => {}, leave: (given) => Effect.sync(() => left.push(...given)) })
  const singleton = (name: string, effect: Effect.Effect<void>) =>
    Scope.provide(placement.singleton(name, effect), scope)
  return {
    placement,
    singleton,
    left,
    own: () => shards.filter(placement.has),
    leave: Scope.close(scope, Exit.void)
  }
})

type Member = Effect.Success<ReturnType<typeof join>>

/** Each shard is one member's, and each member has its share. */
const shared = (...members: ReadonlyArray<Member>) =>
  until(
    Effect.sync(() => members.map((member) => member.own())),
    (own) =>
      own.flat().length === SHARDS &&
      new Set(own.flat()).size === SHARDS &&
      own.every(({ length }) => Math.abs(length - SHARDS / members.length) < 1)
  )

layer(layerTestDatabase, { excludeTestServices: true })("the shards of the runs", (it) => {
  it.effect("are an only process's from its start", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const only = yield* join()
        assert.deepStrictEqual(only.own(), shards)
        assert.deepStrictEqual(
          [...(yield* only.placement.taken)].sort((a, b) => a - b),
          shards
        )
        yield* only.leave
      })
    )
  )

  // The lock numbers of effect/cluster are not part of its interface.
  it.effect("have the advisory locks of AdvisoryLocks.ts, and effect/cluster locks nothing else", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const only = yield* join()
        const locks = yield* sql<{ readonly first: bigint; readonly second: bigint }>`
          SELECT classid::int8 AS first, objid::int8 AS second FROM pg_locks
          WHERE locktype = 'advisory' AND granted AND classid <> ${PRESENCE_LOCKS}::int8::oid
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          ORDER BY objid`
        assert.deepStrictEqual(
          locks.map(({ first, second }) => [Number(first), Number(second)]),
          shards.map((shard) => [SHARD_LOCKS, FIRST_SHARD_LOCK + shard])
        )
        yield* only.leave
      })
    )
  )

  it.effect("are shared evenly by the live processes; a process gets one after the other has released it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const first = yield* join()
        const second = yield* join()
        yield* shared(first, second)
        assert.sameMembers(first.left, second.own())
        const third = yield* join()
        yield* shared(first, second, third)
        yield* second.leave
        yield* shared(first, third)
        const { placement } = third
        for (let run = 0; run < 100; run++) {
          const runId = RunId.make(randomUUID())
          assert.strictEqual(placement.shardOf(runId), first.placement.shardOf(runId))
          assert.include(shards, placement.shardOf(runId))
        }
      })
    )
  )

  it.effect("move the singletons with them", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const running = new Set<string>()
        const work = (name: string) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              assert.strictEqual(running.size, 0, "two at the same time")
              running.add(name)
            }),
            () => Effect.never,
            () => Effect.sync(() => running.delete(name))
          )
        const first = yield* join()
        yield* first.singleton("work", work("first"))
        const second = yield* join()
        yield* second.singleton("work", work("second"))
        yield* shared(first, second)
        yield* until(
          Effect.sync(() => running.size),
          (size) => size === 1
        )
        const [owner, other] = running.has("first") ? [first, "second"] : [second, "first"]
        yield* owner.leave
        yield* until(
          Effect.sync(() => running.has(other)),
          (has) => has
        )
      })
    )
  )

  it.effect("are missed by a process as long as a session of no process has them", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const left = yield* Scope.make()
        const session = yield* Scope.provide(sql.reserve, left)
        for (const shard of shards) {
          yield* session.execute(
            "SELECT pg_advisory_lock($1::int, $2::int)",
            [SHARD_LOCKS | 0, FIRST_SHARD_LOCK + shard],
            undefined
          )
        }
        const only = yield* join({ leaseMs: 300 })
        assert.isFalse(yield* only.placement.isStarved)
        yield* until(only.placement.isStarved, (lacks) => lacks)
        yield* session.execute("SELECT pg_advisory_unlock_all()", [], undefined)
        yield* Scope.close(left, Exit.void)
        yield* until(only.placement.isStarved, (lacks) => !lacks)
        yield* only.leave
      })
    )
  )
})
