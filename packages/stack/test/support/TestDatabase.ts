import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { inject } from "vitest"

/** Makes an empty database on the server of the tests; answers its URL. */
export const createDatabase = Effect.gen(function* () {
  const url = (database: string) => `postgresql://postgres:postgres@127.0.0.1:${inject("postgresPort")}/${database}`
  const name = `stack_${process.pid}_${Math.floor(performance.now())}`
  yield* Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`CREATE DATABASE ${name}`).unprepared
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url("postgres")), maxConnections: 1 })))
  return url(name)
})
