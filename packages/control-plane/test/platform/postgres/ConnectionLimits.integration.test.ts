import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { describeSqlError, isOutage } from "@runplane/database"
import { createDatabase } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { HELD_CONNECTIONS, layerDatabase } from "../../../src/platform/postgres/Database.ts"

/** An empty database and a role that owns it and may have so many connections. */
const limited = Effect.fnUntraced(function* (connections: number) {
  const address = new URL(yield* createDatabase)
  const database = address.pathname.slice(1)
  const role = `role_${database}`
  yield* Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    for (const statement of [
      `CREATE ROLE ${role} LOGIN PASSWORD 'geheim' CONNECTION LIMIT ${connections}`,
      `GRANT CREATE ON SCHEMA public TO ${role}`
    ]) {
      yield* sql.unsafe(statement).unprepared
    }
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(address.href), maxConnections: 1 })))
  address.username = role
  address.password = "geheim"
  return { url: address.href, role }
})

const withLog = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    if (logLevel === "Warn") lines.push([message].flat().join(" "))
  })
  return Effect.map(Effect.provide(effect, Logger.layer([logger])), (result) => ({ lines, result }))
}

describe("a role with fewer connections than the pool", () => {
  it.live("makes callers wait for the connections that there are", () =>
    Effect.gen(function* () {
      const { role, url } = yield* limited(4)
      const { lines } = yield* withLog(
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const statements = Array.from({ length: 40 }, () => sql`SELECT pg_sleep(0.01)`)
          const transactions = Array.from({ length: 20 }, () => sql.withTransaction(sql`SELECT pg_sleep(0.01)`))
          yield* Effect.all([...statements, ...transactions], { concurrency: "unbounded", discard: true })
        }).pipe(Effect.provide(layerDatabase({ url, maxConnections: 20 })))
      )
      assert.deepStrictEqual(lines, [
        `the pool may have ${20 + HELD_CONNECTIONS} connections, but the role ${role} takes 4 from all programs: ` +
          "lower DB_POOL_MAX or raise that limit",
        `the database opens no more connections, so the pool does not grow: too many connections for role "${role}"`
      ])
    })
  )

  it.live("is named when no connection comes free in time", () =>
    Effect.gen(function* () {
      const { role, url } = yield* limited(2)
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const busy = yield* Effect.forEach([1, 2], () => Effect.forkChild(sql`SELECT pg_sleep(60)`))
        const failed = yield* Effect.flip(sql`SELECT pg_sleep(0)`).pipe(
          Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 100 })
        )
        assert.isTrue(isOutage(failed))
        assert.strictEqual(
          describeSqlError(failed),
          `no database connection within 400 ms (the pool has ${20 + HELD_CONNECTIONS}; the server opens no more of ` +
            `them: too many connections for role "${role}")`
        )
        yield* Fiber.interruptAll(busy)
        yield* sql`SELECT 1`
      }).pipe(Effect.provide(layerDatabase({ url, maxConnections: 20, connectTimeoutMs: 400 })))
    })
  )

  it.live("logs no warning when it takes as many connections as the pool has", () =>
    Effect.gen(function* () {
      const { url } = yield* limited(20 + HELD_CONNECTIONS)
      const { lines } = yield* withLog(Effect.scoped(Layer.build(layerDatabase({ url, maxConnections: 20 }))))
      assert.deepStrictEqual(lines, [])
    })
  )
})
