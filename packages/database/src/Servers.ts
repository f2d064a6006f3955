import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { type ServerPool, setUpSession } from "./ServerPool.ts"
import { describeSqlError, isConnectFailure, isTooManyConnections } from "./SqlFailures.ts"

/** Between two searches for a server that takes writes. Milliseconds. */
const SEARCH_PAUSE_MS = 1_000

/** The servers of a database, of which one is used at a time. */
export interface Servers {
  /** Checks a connection to the server in use out; another server is used when that one opens none. */
  readonly get: Effect.Effect<PgConnection, SqlError, Scope.Scope>
  /** The same for a connection beside the pool. */
  readonly connect: Effect.Effect<PgConnection, SqlError, Scope.Scope>
  /**
   * Searches a server that takes writes, because the current one takes none. When it has found one, it breaks all older
   * connections, which belong to the former server even if both have the same name. Until then they serve reads.
   * Returns at once.
   */
  readonly seenReadOnly: Effect.Effect<void>
}

export const makeServers = Effect.fnUntraced(function* (pools: readonly [ServerPool, ...ReadonlyArray<ServerPool>]) {
  const scope = yield* Effect.scope
  const clock = Clock.Clock.defaultValue()
  let inUse: ServerPool = pools[0]
  /** The current search; it ends without an error. */
  let search: Deferred.Deferred<void> | undefined
  let searchedAt = Number.NEGATIVE_INFINITY
  /** How often a connection to a server without writes was seen, and how many of these a search has followed. */
  let seen = 0
  let followed = 0

  const takesWrites = (pool: ServerPool) =>
    Effect.scoped(Effect.flatMap(pool.connect, (connection) => setUpSession(connection, {}))).pipe(
      Effect.catch((error) => Effect.as(Effect.logDebug(`a server cannot be used: ${describeSqlError(error)}`), false))
    )

  /** Breaks the connections to other servers, and the older ones of this pool if they may lead to a former server. */
  const changeTo = (pool: ServerPool, moment: number) => {
    const isFormer = seen > followed
    const isNew = isFormer || pool !== inUse
    for (const other of pools) if (other !== pool) other.closeOlder(other.now())
    if (isFormer) pool.closeOlder(moment)
    inUse = pool
    return isNew ? Effect.logWarning("the pool has changed to a server that takes writes") : Effect.void
  }
  const findServer = Effect.gen(function* () {
    const sightings = seen
    for (const pool of pools) {
      const moment = pool.now()
      if (yield* takesWrites(pool)) {
        yield* changeTo(pool, moment)
        break
      }
    }
    followed = sightings
  })

  /** Waits for a search. One that has just ended counts. */
  const searched = Effect.suspend(() => {
    if (search !== undefined) return Deferred.await(search)
    if (clock.currentTimeMillisUnsafe() - searchedAt < SEARCH_PAUSE_MS) return Effect.void
    const done = Deferred.makeUnsafe<void>()
    search = done
    const ended = Effect.suspend(() => {
      search = undefined
      searchedAt = clock.currentTimeMillisUnsafe()
      return Deferred.succeed(done, undefined)
    })
    return Effect.andThen(Effect.forkIn(Effect.ensuring(findServer, ended), scope), Deferred.await(done))
  })

  const follow = searched.pipe(
    Effect.andThen(Effect.suspend(() => (followed < seen ? Effect.sleep(SEARCH_PAUSE_MS) : Effect.void))),
    Effect.repeat({ while: () => followed < seen }),
    Effect.provideService(Clock.Clock, clock)
  )
  const seenReadOnly = Effect.suspend(() => {
    seen += 1
    return seen === followed + 1 ? Effect.asVoid(Effect.forkIn(follow, scope)) : Effect.void
  })

  const orElsewhere = (ask: (pool: ServerPool) => Effect.Effect<PgConnection, SqlError, Scope.Scope>) =>
    pools.length === 1
      ? ask(inUse)
      : Effect.catchIf(
          Effect.suspend(() => ask(inUse)),
          (error) => isConnectFailure(error) && !isTooManyConnections(error),
          () =>
            Effect.andThen(
              searched,
              Effect.suspend(() => ask(inUse))
            )
        )

  const servers: Servers = {
    get: orElsewhere((pool) =>
      Effect.tap(pool.get, (connection) => (pool.isReadOnly(connection) ? seenReadOnly : Effect.void))
    ),
    connect: orElsewhere((pool) => pool.connect),
    seenReadOnly
  }
  return servers
})
