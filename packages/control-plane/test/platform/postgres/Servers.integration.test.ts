import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { describeSqlError } from "@runplane/database"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { WriteCheck } from "../../../src/platform/postgres/WriteCheck.ts"

/** Makes new sessions of the database take writes or not; those that are open stay as they are. */
const letWrite = (url: string, writable: boolean) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const database = new URL(url).pathname.slice(1)
    yield* sql`SET default_transaction_read_only = off`.unprepared
    yield* sql.unsafe(`ALTER DATABASE ${database} SET default_transaction_read_only = ${writable ? "off" : "on"}`)
      .unprepared
  }).pipe(Effect.provide(Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))))

const write = Effect.flatMap(PgClient.PgClient, (sql) => sql`INSERT INTO written VALUES (1)`)
const pid = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
  return row?.pid
})

describe("a server that takes no writes any more", () => {
  it.live("loses all its connections, held ones too, once another one takes them", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      yield* Effect.flatMap(PgClient.PgClient, (sql) => sql`CREATE TABLE written (n integer)`.unprepared).pipe(
        Effect.provide(layerDatabase({ url, maxConnections: 1 }))
      )
      yield* letWrite(url, false)
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const check = yield* WriteCheck
        const notices = yield* sql.listen("c")
        const former = yield* pid
        assert.match(describeSqlError(yield* Effect.flip(write)), /read-only transaction/)
        const refused = yield* Effect.flip(check)
        assert.match(refused._tag === "SqlError" ? describeSqlError(refused) : "", /^the server takes no writes/)
        // Without another one the connections stay, for what only reads.
        assert.strictEqual(yield* pid, former)

        yield* letWrite(url, true)
        yield* until(Effect.option(write), (written) => written._tag === "Some")
        yield* check
        assert.notStrictEqual(yield* pid, former)
        yield* Effect.flip(Queue.take(notices))
      }).pipe(
        Effect.scoped,
        Effect.provide(layerDatabase({ url, maxConnections: 1, migrateOnStart: false })),
        Effect.ensuring(Effect.ignore(letWrite(url, true)))
      )
    })
  )
})

describe("a session that takes no writes any more", () => {
  it.live("is left for a new one, because the server takes writes", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql`CREATE TABLE written (n integer)`.unprepared
        const former = yield* pid
        yield* sql`SET default_transaction_read_only = on`.unprepared
        assert.match(describeSqlError(yield* Effect.flip(write)), /read-only transaction/)
        yield* until(Effect.option(write), (written) => written._tag === "Some")
        assert.notStrictEqual(yield* pid, former)
      }).pipe(Effect.provide(layerDatabase({ url, maxConnections: 1 })))
    })
  )
})

describe("several hosts", () => {
  const withHosts = (url: string, ...hosts: ReadonlyArray<string>) => url.replace(/@[^/]+/, `@${hosts.join(",")}`)

  it.live("are tried in their order", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      const { host } = new URL(url)
      const answer = Effect.flatMap(PgClient.PgClient, (sql) => sql<{ readonly n: number }>`SELECT 1 AS n`)
      const [row] = yield* Effect.provide(
        answer,
        layerDatabase({ url: withHosts(url, "127.0.0.1:1", host), maxConnections: 1 })
      )
      assert.strictEqual(row?.n, 1)
    })
  )

  it.live("are refused when none takes writes, or none answers", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      const { host } = new URL(url)
      const refusal = (address: string) =>
        Effect.map(
          Effect.flip(Effect.scoped(Layer.build(layerDatabase({ url: address, maxConnections: 1 })))),
          ({ message }) => message
        )
      assert.match(yield* refusal(withHosts(url, "127.0.0.1:1", "127.0.0.1:2")), /connect ECONNREFUSED 127\.0\.0\.1:1$/)
      yield* letWrite(url, false)
      assert.match(yield* refusal(withHosts(url, host, "127.0.0.1:1")), /unavailable: the server takes no writes/)
      assert.match(yield* refusal(`${url}?target_session_attrs=read-write`), /unavailable: the server takes no writes/)
      yield* letWrite(url, true)
    })
  )
})
