import * as PgClient from "@effect/sql-pg/PgClient"
import { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"

/** First key of the advisory locks that say which process observes a run; the second is a hash of the run's id. */
const LOCK_SPACE = 7_266_422

/**
 * Says which process observes which run (docs/runtime.md#supervision): session-level advisory locks, all
 * held by one connection, so that they vanish with the process, however it ends. They only keep observers from working
 * in vain: what keeps the log exact is the compare-and-set on the stream cursor.
 */
export class RunLocks extends Context.Service<
  RunLocks,
  {
    /** Those of the runs whose lock this process holds now, or held already. */
    readonly acquire: (runIds: ReadonlyArray<RunId>) => Effect.Effect<ReadonlyArray<RunId>, SqlError>
    readonly release: (runId: RunId) => Effect.Effect<void>
    /** After a lost connection takes the locks again, and answers the runs whose lock another process has by now. */
    readonly renew: Effect.Effect<ReadonlyArray<RunId>, SqlError>
    /** Those of the runs whose lock no process on this database holds. */
    readonly unheld: (runIds: ReadonlyArray<RunId>) => Effect.Effect<ReadonlyArray<RunId>, SqlError>
  }
>()("runplane/control-plane/RunLocks") {
  static readonly layer = Layer.effect(
    RunLocks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      /** The locks of this process, each with the connection that has it: when that is lost, so is the lock. */
      const held = new Map<RunId, Connection>()
      const turn = yield* Semaphore.make(1)
      let current: { readonly connection: Connection; readonly scope: Scope.Closeable } | undefined

      const drop = Effect.suspend(() => {
        const lost = current
        current = undefined
        return lost === undefined ? Effect.void : Scope.close(lost.scope, Exit.void)
      })
      yield* Effect.addFinalizer(() => drop)

      const connection = Effect.gen(function* () {
        if (current !== undefined) return current.connection
        const scope = yield* Scope.make()
        const opened = yield* Scope.provide(sql.reserve, scope).pipe(
          Effect.onError(() => Scope.close(scope, Exit.void))
        )
        current = { connection: opened, scope }
        return opened
      })

      /** A connection that fails is given up: the locks it held are gone. */
      const ask = (open: Connection, text: string, params: ReadonlyArray<unknown>) =>
        open.execute(text, params, undefined).pipe(Effect.tapError(() => drop))

      const tryLock = Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>) {
        const open = yield* connection
        const rows = yield* ask(
          open,
          `SELECT locked, id FROM unnest($2::text[]) AS asked (id), pg_try_advisory_lock($1::int, hashtext(id)) AS locked`,
          [LOCK_SPACE, runIds]
        )
        const locked = new Set(rows.flatMap((row) => (row.locked === true ? [row.id] : [])))
        const taken = runIds.filter((runId) => locked.has(runId))
        for (const runId of taken) held.set(runId, open)
        return taken
      })

      const acquire = Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>) {
        const missing = runIds.filter((runId) => !held.has(runId))
        if (missing.length > 0) yield* tryLock(missing)
        return runIds.filter((runId) => held.has(runId))
      }, turn.withPermits(1))

      const release = Effect.fnUntraced(function* (runId: RunId) {
        const owner = held.get(runId)
        held.delete(runId)
        if (owner === undefined || owner !== current?.connection) return
        yield* Effect.ignore(ask(owner, "SELECT pg_advisory_unlock($1::int, hashtext($2))", [LOCK_SPACE, runId]))
      }, turn.withPermits(1))

      const renew = Effect.gen(function* () {
        yield* Effect.ignore(Effect.flatMap(connection, (open) => ask(open, "SELECT 1", [])))
        const without = [...held].flatMap(([runId, owner]) => (owner === current?.connection ? [] : [runId]))
        const kept = new Set(without.length === 0 ? [] : yield* tryLock(without))
        const lost = without.filter((runId) => !kept.has(runId))
        for (const runId of lost) held.delete(runId)
        return lost
      }).pipe(turn.withPermits(1))

      // The lock table shows the two keys of a lock as unsigned numbers.
      const unheld = (runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          sql<{ readonly id: string }>`
            SELECT id FROM unnest(${runIds}::text[]) AS asked (id)
            WHERE NOT EXISTS (
              SELECT FROM pg_locks l
              WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid = ${LOCK_SPACE}
                AND l.objid = (hashtext(id)::bigint & 4294967295)::oid
                AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))`,
          (rows) => rows.map(({ id }) => RunId.make(id))
        )

      return RunLocks.of({ acquire, release, renew, unheld })
    })
  )
}
