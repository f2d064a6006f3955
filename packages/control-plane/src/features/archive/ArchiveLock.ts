import * as PgClient from "@effect/sql-pg/PgClient"
import { ArchiveFault, ArchiveStore } from "@runplane/archive"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { ARCHIVE_LOCK } from "../../platform/postgres/AdvisoryLocks.ts"

/** How long another process may have the lock before this one reports it. Milliseconds. */
const LONGEST_WAIT_MS = 600_000

/** How often a process that needs the lock tries again. Milliseconds. */
const RETRY_MS = 250

/**
 * The lock of the files of a database's archive. A process changes files only while it has the lock: a writer that was
 * replaced would otherwise overwrite a file with what is left of it, or with rows that have been deleted since.
 *
 * A session of the database has the lock, so it ends with the process. Before each change of a file the session is
 * used once: it answers only while it has the lock. The transaction that makes files part of the archive is one of that
 * session.
 */
export class ArchiveLock extends Context.Service<
  ArchiveLock,
  {
    /** Runs the effect with the lock; none, without running it, while another process has the lock. */
    readonly withLock: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<Option.Option<A>, E | ArchiveFault | SqlError, R>
    /** Waits for the lock. */
    readonly withLockAtLast: <A, E, R>(
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | ArchiveFault | SqlError, R>
    /**
     * A transaction of the session that has the lock. It commits only while this process has the lock, so no other
     * process has changed a file since.
     */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ArchiveFault, R>
  }
>()("runplane/control-plane/ArchiveLock") {}

const lost = () => new ArchiveFault({ kind: "failed", message: "the process has lost the lock of the archive" })

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const store = yield* ArchiveStore
  let session: Connection | undefined
  let refusedSince: number | undefined

  const acquire = Effect.gen(function* () {
    const connection = yield* sql.reserve
    const [row] = yield* connection.execute(
      "SELECT pg_try_advisory_lock($1::bigint) AS free",
      [ARCHIVE_LOCK],
      undefined
    )
    if (row?.["free"] !== true) return false
    session = connection
    // The connection returns to the pool. One that is broken has lost the lock.
    yield* Effect.addFinalizer(() => {
      session = undefined
      return Effect.ignore(connection.execute("SELECT pg_advisory_unlock($1::bigint)", [ARCHIVE_LOCK], undefined))
    })
    return true
  })

  /** A process that is paused keeps the lock. */
  const refused = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    refusedSince ??= now
    if (now - refusedSince < LONGEST_WAIT_MS) return Option.none()
    return yield* new ArchiveFault({
      kind: "failed",
      message: `another process has had the lock of the archive for ${LONGEST_WAIT_MS / 60_000} minutes: end it if it hangs`
    })
  })

  const withLock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.scoped(
      Effect.gen(function* () {
        if (!(yield* acquire)) return yield* refused
        refusedSince = undefined
        return Option.some(yield* effect)
      })
    )

  const withLockAtLast = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ArchiveFault | SqlError, R> =>
    Effect.flatMap(
      withLock(effect),
      Option.match({
        onNone: () =>
          Effect.delay(
            Effect.suspend(() => withLockAtLast(effect)),
            RETRY_MS
          ),
        onSome: Effect.succeed
      })
    )

  const check = Effect.suspend(() =>
    session === undefined ? Effect.fail(lost()) : Effect.mapError(session.execute("SELECT 1", [], undefined), lost)
  )

  const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | ArchiveFault, R> => {
      const connection = session
      if (connection === undefined) return Effect.fail(lost())
      const run = (statement: string) => Effect.mapError(connection.execute(statement, [], undefined), lost)
      const inside = Effect.provideService(effect, sql.transactionService, [connection, 0])
      return Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          yield* run("BEGIN")
          const value = yield* restore(inside).pipe(Effect.onError(() => Effect.ignore(run("ROLLBACK"))))
          yield* run("COMMIT")
          return value
        })
      )
    })

  const guarded = ArchiveStore.of({
    ...store,
    put: (path, bytes) => Effect.andThen(check, store.put(path, bytes)),
    remove: (path) => Effect.andThen(check, store.remove(path))
  })
  return Context.make(ArchiveLock, ArchiveLock.of({ withLock, withLockAtLast, transaction })).pipe(
    Context.add(ArchiveStore, guarded)
  )
})

/** The lock, and the store of the surroundings behind it: it changes a file only with the lock. */
export const layerLocked = Layer.effectContext(make)
