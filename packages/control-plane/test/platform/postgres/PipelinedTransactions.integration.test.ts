import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { describeSqlError, isInside, makePipelinedTransactions, PipelinedTransactions } from "@runplane/database"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { cuttingProxy } from "../../faults/support/CuttingProxy.ts"
import { createMigratedDatabase } from "../../support/TestDatabase.ts"

/** What the client sends, piece by piece. */
class Line extends Context.Service<
  Line,
  { readonly pieces: () => ReadonlyArray<string>; readonly forget: () => void }
>()("runplane/test/Line") {}

const database = Layer.unwrap(
  Effect.gen(function* () {
    const proxy = yield* cuttingProxy(yield* createMigratedDatabase)
    const pieces: Array<string> = []
    proxy.judge((from, piece) => {
      if (from === "client") pieces.push(piece.toString("latin1"))
      return "pass"
    })
    const forget = () => {
      pieces.length = 0
    }
    return Layer.merge(
      layerDatabase({ url: proxy.url, maxConnections: 1 }),
      Layer.succeed(Line, { pieces: () => pieces, forget })
    )
  })
)

const scratch = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE TABLE scratch (position bigserial PRIMARY KEY, text text UNIQUE NOT NULL)`.unprepared
  yield* Effect.addFinalizer(() => Effect.orDie(sql`DROP TABLE scratch`.unprepared))
  const insert = (text: string) => sql`INSERT INTO scratch (text) VALUES (${text})`
  const guarded = (text: string) => sql`
    INSERT INTO scratch (text) SELECT ${text}::text WHERE ${isInside(sql)} RETURNING text`
  const texts = Effect.map(sql<{ readonly text: string }>`SELECT text FROM scratch ORDER BY position`, (rows) =>
    rows.map(({ text }) => text)
  )
  return { insert, guarded, texts }
})

layer(database, { excludeTestServices: true })("a pipelined transaction", (it) => {
  it.effect("sends its first statement with the BEGIN and its last ones with the COMMIT", () =>
    Effect.gen(function* () {
      const { within } = yield* PipelinedTransactions
      const line = yield* Line
      const { guarded, insert, texts } = yield* scratch
      const transaction = (name: string) =>
        within(({ begun, send }) =>
          Effect.gen(function* () {
            assert.strictEqual((yield* guarded(`${name}1`)).length, 1)
            yield* begun
            yield* send(insert(`${name}2`))
            yield* send(insert(`${name}3`))
          })
        )
      // Statements are prepared by the first.
      yield* transaction("a")
      line.forget()
      yield* transaction("b")
      assert.strictEqual(line.pieces().length, 2)
      assert.include(line.pieces()[0], "b1")
      assert.match(line.pieces()[1] ?? "", /b2[\s\S]*b3/)
      assert.deepStrictEqual(yield* texts, ["a1", "a2", "a3", "b1", "b2", "b3"])
    })
  )

  it.effect("keeps the order of what is sent, however much that is", () =>
    Effect.gen(function* () {
      const { within } = yield* PipelinedTransactions
      const { insert, texts } = yield* scratch
      const names = Array.from({ length: 1_000 }, (_, position) => `n${position}`)
      yield* within(({ send }) => Effect.forEach(names, (name) => send(insert(name)), { discard: true }))
      assert.deepStrictEqual(yield* texts, names)
    })
  )

  it.effect("stores nothing when a statement fails whose answer was not awaited, and says why", () =>
    Effect.gen(function* () {
      const { within } = yield* PipelinedTransactions
      const { insert, texts } = yield* scratch
      const failed = (use: Parameters<typeof within<unknown, SqlError, never>>[0]) =>
        Effect.map(Effect.flip(within(use)), describeSqlError)
      const last = yield* failed(({ send }) => Effect.andThen(send(insert("a")), send(insert("a"))))
      assert.include(last, "duplicate key")
      // What failed behind it only says that the transaction is aborted.
      const first = yield* failed(({ send }) =>
        Effect.andThen(Effect.andThen(send(insert("b")), send(insert("b"))), insert("c"))
      )
      assert.include(first, "duplicate key")
      assert.deepStrictEqual(yield* texts, [])
      yield* within(() => insert("d"))
      assert.deepStrictEqual(yield* texts, ["d"])
    })
  )

  it.effect("stores nothing when what happens in it fails, and lets others have the connection afterwards", () =>
    Effect.gen(function* () {
      const { within } = yield* PipelinedTransactions
      const { insert, texts } = yield* scratch
      const outcomes = yield* Effect.all(
        [
          Effect.flip(within(({ send }) => Effect.andThen(send(insert("a")), Effect.fail("on purpose")))),
          Effect.flip(within(({ send }) => Effect.andThen(send(insert("b")), Effect.interrupt)).pipe(Effect.sandbox)),
          within(() => Effect.as(insert("c"), "done"))
        ],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes[0], "on purpose")
      assert.strictEqual(outcomes[2], "done")
      assert.deepStrictEqual(yield* texts, ["c"])
    })
  )

  it.effect("is over before its fiber is, when that is interrupted", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { within } = yield* PipelinedTransactions
      const { insert, texts } = yield* scratch
      const fiber = yield* Effect.forkChild(
        within(({ begun, send }) =>
          Effect.andThen(Effect.andThen(begun, send(insert("a"))), Effect.andThen(insert("b"), Effect.never))
        )
      )
      const isOpen = Effect.map(
        sql`SELECT FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()`,
        (rows) => rows.length > 0
      )
      yield* Effect.repeat(isOpen, { until: (open) => open })
      yield* Fiber.interrupt(fiber)
      assert.isFalse(yield* isOpen)
      assert.deepStrictEqual(yield* texts, [])
    })
  )

  it.effect("does nothing at all when its BEGIN fails, though its first statement is on its way", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { guarded, insert, texts } = yield* scratch
      // On a connection whose BEGIN is an error to the server.
      const { within } = makePipelinedTransactions({
        acquirer: Effect.map(sql.reserve, (connection) => ({
          ...connection,
          execute: (text, params, transform) =>
            connection.execute(text.startsWith("BEGIN") ? "SELECT 1 / 0" : text, params, transform)
        })),
        transactionService: sql.transactionService,
        commit: (connection) => Effect.asVoid(connection.execute("COMMIT", [], undefined))
      })
      const waiting = within(({ begun }) => Effect.andThen(Effect.andThen(guarded("a"), begun), insert("b")))
      assert.include(describeSqlError(yield* Effect.flip(waiting)), "division by zero")
      // Also when the BEGIN is not awaited.
      assert.include(describeSqlError(yield* Effect.flip(within(() => guarded("c")))), "division by zero")
      assert.deepStrictEqual(yield* texts, [])
    })
  )
})
