import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId } from "@runplane/domain"
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
 * Says which process observes which run (http-details section 5.5, "one instance per run"): session-level advisory locks, all
 * held by one connection, so that they vanish with the process, however it ends. They only keep observers from working
 * in vain: what keeps the log exact is the compare-and-set on the stream cursor.
 */
export class RunLocks extends Context.Service<
  RunLocks,
  {
    /** True when this process holds the run's lock now, or held it already. */
    readonly acquire: (runId: RunId) => Effect.Effect<boolean, SqlError>
    readonly release: (runId: RunId) => Effect.Effect<void>
    /** After a lost connection takes the locks again, and answers the runs whose lock another process has by now. */
    readonly renew: Effect.Effect<ReadonlyArray<RunId>, SqlError>
  }
>()("runplane/control-plane/RunLocks") {
  static readonly layer = Layer.effect(
    RunLocks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const held = new Set<RunId>()
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
      const ask = (text: string, params: ReadonlyArray<unknown>) =>
        Effect.flatMap(connection, (open) => open.execute(text, params, undefined)).pipe(Effect.tapError(() => drop))

      const tryLock = (runId: RunId) =>
        Effect.map(
          ask("SELECT pg_try_advisory_lock($1::int, hashtext($2)) AS locked", [LOCK_SPACE, runId]),
          (rows) => rows[0]?.locked === true
        )

      const acquire = Effect.fnUntraced(function* (runId: RunId) {
        if (held.has(runId)) return true
        const locked = yield* tryLock(runId)
        if (locked) held.add(runId)
        return locked
      }, turn.withPermits(1))

      const release = Effect.fnUntraced(function* (runId: RunId) {
        if (!held.delete(runId) || current === undefined) return
        yield* Effect.ignore(ask("SELECT pg_advisory_unlock($1::int, hashtext($2))", [LOCK_SPACE, runId]))
      }, turn.withPermits(1))

      const renew = Effect.gen(function* () {
        const before = current
        yield* Effect.ignore(ask("SELECT 1", []))
        if (current !== undefined && current === before) return []
        const lost: Array<RunId> = []
        for (const runId of held) {
          if (!(yield* tryLock(runId))) lost.push(runId)
        }
        for (const runId of lost) held.delete(runId)
        return lost
      }).pipe(turn.withPermits(1))

      return RunLocks.of({ acquire, release, renew })
    })
  )
}
