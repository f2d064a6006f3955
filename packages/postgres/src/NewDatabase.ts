import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** One connection to the database of the URL. */
const onServer = (url: string) => Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))

const urlOf = (serverUrl: string, name: string): string => {
  const address = new URL(serverUrl)
  address.pathname = name
  return address.href
}

const create = Effect.fnUntraced(function* (serverUrl: string, template?: string) {
  const sql = yield* PgClient.PgClient
  const name = `test_${randomUUID().replaceAll("-", "")}`
  const from = template === undefined ? "" : ` TEMPLATE ${template}`
  yield* sql.unsafe(`CREATE DATABASE ${name}${from}`).unprepared
  return urlOf(serverUrl, name)
})

/** Makes an empty database, with a name of its own, on the server of the URL. Answers the URL of the new database. */
export const createDatabase = Effect.fn("NewDatabase.create")((serverUrl: string) =>
  Effect.provide(create(serverUrl), onServer(serverUrl))
)

/** A database that others are copied from. */
export interface DatabaseTemplate<E, R> {
  /** An identifier of PostgreSQL, in small letters. */
  readonly name: string
  /** Makes the empty database of the URL what its copies shall be, and leaves no connection to it open. */
  readonly prepare: (url: string) => Effect.Effect<unknown, E, R>
}

/**
 * Makes a copy of the template, with a name of its own, on the server of the URL. The template is prepared once on a
 * server: processes that want it at the same time wait for the one that came first. Answers the URL of the copy.
 */
export const copyDatabase = Effect.fn("NewDatabase.copy")(
  <E, R>(serverUrl: string, { name, prepare }: DatabaseTemplate<E, R>) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      // Until the connection ends.
      yield* sql`SELECT pg_advisory_lock(hashtext(${name}))`
      // One that takes no connections is ready: half of one could still be written to.
      const [found] = yield* sql<{ readonly ready: boolean }>`
        SELECT NOT datallowconn AS ready FROM pg_database WHERE datname = ${name}`
      if (found?.ready !== true) {
        yield* sql.unsafe(`DROP DATABASE IF EXISTS ${name}`).unprepared
        yield* sql.unsafe(`CREATE DATABASE ${name}`).unprepared
        yield* prepare(urlOf(serverUrl, name))
        yield* sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`).unprepared
      }
      yield* sql`SELECT pg_advisory_unlock(hashtext(${name}))`
      return yield* create(serverUrl, name)
    }).pipe(Effect.provide(onServer(serverUrl)))
)
