import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it, layer } from "@effect/vitest"
import { DatabaseUnavailable, describeSqlError, isOutage } from "@runplane/database"
import { RequestFacts } from "@runplane/server"
import { createDatabase } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import { batchedWrites } from "../../../src/platform/postgres/Batched.ts"
import { HELD_CONNECTIONS, layerDatabase } from "../../../src/platform/postgres/Database.ts"

const ACQUIRE_TIMEOUT_MS = 600

const smallest = Layer.unwrap(
  Effect.map(createDatabase, (url) => layerDatabase({ url, maxConnections: 1, connectTimeoutMs: ACQUIRE_TIMEOUT_MS }))
)

const ask = Effect.flatMap(PgClient.PgClient, (sql) => sql<{ readonly answer: number }>`SELECT 42 AS answer`)

/** Uses up the pool until it is interrupted. */
const useUp = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const busy = yield* Effect.forEach(Array.from({ length: 1 + HELD_CONNECTIONS }), () =>
    Effect.forkChild(sql`SELECT pg_sleep(60)`)
  )
  const exhausted = yield* Effect.flip(ask).pipe(Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 100 }))
  return { busy, exhausted }
})

describe("an idle time-out of 0", () => {
  it.live("keeps a connection for ever", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const server = Effect.map(sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => row?.pid)
      const first = yield* server
      yield* Effect.sleep("200 millis")
      assert.strictEqual(yield* server, first)
    }).pipe(
      Effect.provide(
        Layer.unwrap(Effect.map(createDatabase, (url) => layerDatabase({ url, maxConnections: 1, idleTimeoutMs: 0 })))
      )
    )
  )
})

layer(smallest, { excludeTestServices: true })("the smallest pool", (it) => {
  it.effect("says when it is used up, after the time-out, and serves again when a connection comes free", () =>
    Effect.gen(function* () {
      const { busy, exhausted } = yield* useUp
      assert.isTrue(isOutage(exhausted))
      assert.strictEqual(
        describeSqlError(exhausted),
        `no database connection within ${ACQUIRE_TIMEOUT_MS} ms (the pool has ${1 + HELD_CONNECTIONS})`
      )
      yield* Fiber.interruptAll(busy)
      const [row] = yield* ask
      assert.strictEqual(row?.answer, 42)
    })
  )

  it.effect("lets who waits shorter than that go on", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const waits = Array.from({ length: 20 }, () => sql`SELECT pg_sleep(0.02)`)
      yield* Effect.all(waits, { concurrency: "unbounded", discard: true })
    })
  )

  it.effect("gives the next connection to a caller that has none, not to the many statements of another", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const answered: Array<string> = []
      const from = (client: string) =>
        Effect.tap(sql`SELECT pg_sleep(0.05)`, () => Effect.sync(() => answered.push(client))).pipe(
          Effect.provideService(RequestFacts, { client, actor: undefined, address: "" })
        )
      const many = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 30 }, () => from("many")),
          { concurrency: "unbounded", discard: true }
        ),
        { startImmediately: true }
      )
      yield* from("other")
      assert.isAtMost(answered.indexOf("other"), 2 * (1 + HELD_CONNECTIONS))
      yield* Fiber.join(many)
      assert.strictEqual(answered.length, 31)
    })
  )

  it.effect("makes no transaction hang that cannot be interrupted", () =>
    Effect.gen(function* () {
      const { busy } = yield* useUp
      const sql = yield* PgClient.PgClient
      const failed = yield* Effect.flip(Effect.uninterruptible(sql.withTransaction(ask)))
      assert.isTrue(isOutage(failed))
      yield* Fiber.interruptAll(busy)
    })
  )

  it.effect("fails a transaction whose connection is terminated with the error of that, and its pool lives on", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const ended = sql.withTransaction(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      const failed: SqlError = yield* Effect.flip(ended)
      assert.isTrue(isOutage(failed))
      assert.strictEqual((yield* ask)[0]?.answer, 42)
    })
  )
})

/** Rows that say which statement has written them. */
const statements = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE TABLE written (row text PRIMARY KEY, statement integer NOT NULL)`.unprepared
  yield* Effect.addFinalizer(() => Effect.orDie(sql`DROP TABLE written`.unprepared))
  let count = 0
  const write = batchedWrites(sql, (rows: ReadonlyArray<string>) => {
    count += 1
    return Effect.as(
      sql`INSERT INTO written SELECT *, ${count}::int FROM unnest(${rows}::text[])`,
      rows.map((row) => row.toUpperCase())
    )
  })
  const writeAll = (rows: ReadonlyArray<string>) => Effect.forEach(rows, write, { concurrency: "unbounded" })
  const found = Effect.map(
    sql<{ readonly rows: string }>`
      SELECT string_agg(row, ' ' ORDER BY row) AS rows FROM written GROUP BY statement ORDER BY min(row)`,
    (lines) => lines.map(({ rows }) => rows)
  )
  return { found, write, writeAll }
})

layer(smallest, { excludeTestServices: true })("rows that are written together", (it) => {
  it.effect("share a statement in a transaction, and each caller gets its own answer", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { found, writeAll } = yield* statements
      assert.deepStrictEqual(yield* sql.withTransaction(writeAll(["a", "b", "c"])), ["A", "B", "C"])
      assert.deepStrictEqual(yield* found, ["a b c"])
    })
  )

  it.effect("share nothing with another transaction, nor outside of one", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { found, write, writeAll } = yield* statements
      const rolledBack = sql.withTransaction(Effect.andThen(writeAll(["c", "d"]), Effect.fail("on purpose" as const)))
      const outcomes = yield* Effect.all(
        [sql.withTransaction(writeAll(["a", "b"])), Effect.flip(rolledBack), write("e"), write("f")],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(outcomes, [["A", "B"], "on purpose", "E", "F"])
      assert.deepStrictEqual(yield* found, ["a b", "e", "f"])
    })
  )

  it.effect("fail together, with the error of their statement", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { found, writeAll } = yield* statements
      const failed = yield* Effect.flip(sql.withTransaction(writeAll(["a", "b", "a"])))
      assert.include(describeSqlError(failed), "duplicate key")
      assert.deepStrictEqual(yield* found, [])
    })
  )

  it.effect("are waited for by a caller who is interrupted, so nothing outlives the transaction", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const slow = batchedWrites(sql, (rows: ReadonlyArray<number>) => Effect.as(sql`SELECT pg_sleep(0.2)`, rows))
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(Deferred.succeed(begun, undefined), slow(1)))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* ask)[0]?.answer, 42)
    })
  )
})

describe("a start without a database", () => {
  const start = (url: string) =>
    Effect.flip(Effect.scoped(Layer.build(layerDatabase({ url, maxConnections: 1, connectTimeoutMs: 2_000 }))))

  it.live("says why in one line, without the password", () =>
    Effect.gen(function* () {
      const url = yield* createDatabase
      const cases = [
        ["postgresql://postgres:geheim@127.0.0.1:1/runplane", /connect ECONNREFUSED 127\.0\.0\.1:1$/],
        // A name with several addresses.
        ["postgresql://postgres:geheim@localhost:1/runplane", /connect ECONNREFUSED/],
        ["postgresql://postgres:geheim@nowhere.invalid/runplane", /nowhere\.invalid/],
        [url.replace(/:[^:@]+@/, ":geheim@"), /password authentication failed for user "runplane"/],
        [url.replace(/[^/]+$/, "nirgends"), /database "nirgends" does not exist/]
      ] as const
      for (const [address, words] of cases) {
        const failed = yield* start(address)
        assert.instanceOf(failed, DatabaseUnavailable)
        assert.match(failed.message, /^database unavailable: .+$/)
        assert.match(failed.message, words)
        assert.notInclude(failed.message, "geheim")
      }
    })
  )
})
