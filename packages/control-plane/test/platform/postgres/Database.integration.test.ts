import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { createMigratedDatabase } from "../../support/TestDatabase.ts"

const database = Layer.unwrap(
  Effect.map(createMigratedDatabase, (url) =>
    layerDatabase({ url, lockTimeoutMs: 1_500, statementTimeoutMs: 2_500, idleInTransactionTimeoutMs: 3_500 })
  )
)

layer(database)("the connections of the pool", (it) => {
  for (const [setting, value] of [
    ["lock_timeout", "1500ms"],
    ["statement_timeout", "2500ms"],
    ["idle_in_transaction_session_timeout", "3500ms"],
    ["jit", "off"]
  ] as const) {
    it.effect(`have ${setting} ${value}`, () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const [row] = yield* sql<{ readonly value: string }>`SELECT current_setting(${setting}) AS value`
        assert.strictEqual(row?.value, value)
      })
    )
  }
})
