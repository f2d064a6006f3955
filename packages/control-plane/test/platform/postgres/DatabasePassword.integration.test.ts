import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import { createDatabase } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { databaseSettings, layerDatabase } from "../../../src/platform/postgres/Database.ts"

const PASSWORD = `p@ss:w/rd%41#?&='"$ü\\`

it.live("DATABASE_PASSWORD is the password as it is, with every character that an address must encode", () =>
  Effect.gen(function* () {
    const url = new URL(yield* createDatabase)
    const role = `role_${url.pathname.slice(1)}`
    yield* Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`SELECT set_config('test.password', ${PASSWORD}, false)`
      yield* sql.unsafe(
        `DO $do$ BEGIN EXECUTE format('CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD %L', current_setting('test.password')); END $do$`
      ).unprepared
    }).pipe(Effect.provide(Layer.fresh(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 }))))
    url.username = role
    url.password = ""

    const user = Effect.flatMap(PgClient.PgClient, (sql) => sql<{ readonly name: string }>`SELECT current_user AS name`)
    const connect = (env: Readonly<Record<string, string>>) =>
      Effect.gen(function* () {
        const settings = yield* databaseSettings
        return yield* Effect.provide(user, Layer.fresh(layerDatabase(settings)))
      }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })))

    assert.deepStrictEqual(yield* connect({ DATABASE_URL: url.href, DATABASE_PASSWORD: PASSWORD }), [{ name: role }])
    const refused = yield* Effect.flip(connect({ DATABASE_URL: url.href, DATABASE_PASSWORD: `${PASSWORD}x` }))
    assert.match(refused.message, /password authentication failed/)
    assert.notInclude(refused.message, PASSWORD)
    // The password of the address counts before it.
    url.password = encodeURIComponent(PASSWORD)
    assert.deepStrictEqual(yield* connect({ DATABASE_URL: url.href, DATABASE_PASSWORD: "another" }), [{ name: role }])
  })
)
