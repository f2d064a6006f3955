import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** Makes an empty database, with a name of its own, on the server of the URL. Answers the URL of the new database. */
export const createDatabase = Effect.fn("EmptyDatabase.create")(function* (serverUrl: string) {
  const address = new URL(serverUrl)
  address.pathname = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`CREATE DATABASE ${address.pathname.slice(1)}`).unprepared
  }).pipe(Effect.provide(Layer.fresh(PgClient.layer({ url: Redacted.make(serverUrl), maxConnections: 1 }))))
  return address.href
})
