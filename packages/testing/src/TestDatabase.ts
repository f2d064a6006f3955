import * as Postgres from "@runplane/postgres"
import * as Effect from "effect/Effect"
import { inject } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    /** Of the server's own database, with the password. */
    readonly postgresUrl: string
  }
}

/** Makes an empty database on the server of the tests; answers its URL. */
export const createDatabase = Effect.suspend(() => Postgres.createDatabase(inject("postgresUrl")))

/** Makes a copy of a database that is prepared once for all test files; answers its URL. */
export const copyDatabase = <E, R>(template: Postgres.DatabaseTemplate<E, R>) =>
  Effect.suspend(() => Postgres.copyDatabase(inject("postgresUrl"), template))
