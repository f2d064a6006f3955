import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { inject } from "vitest"
import { layerDatabase } from "../../src/database/Database.ts"

const url = (database: string) => `postgresql://postgres:postgres@127.0.0.1:${inject("postgresPort")}/${database}`

/** Makes an empty database on the test server and answers its address. */
export const createDatabase = Effect.gen(function* () {
  const name = `t_${randomUUID().replaceAll("-", "")}`
  yield* Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql.unsafe(`CREATE DATABASE ${name}`).unprepared
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url("postgres")), maxConnections: 1 })))
  return url(name)
})

/** A migrated database of its own. */
export const layerTestDatabase = Layer.unwrap(
  Effect.map(createDatabase, (address) => layerDatabase({ url: address, maxConnections: 10 }))
)
