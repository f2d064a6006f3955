import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ExpiredRuns } from "../../../src/admin/retention/ExpiredRuns.ts"
import { makeAuditExpiry } from "../../../src/platform/audit/AuditExpiry.ts"
import { LedgerWriter } from "../../../src/platform/ledger/LedgerWriter.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { eraseText, personRun } from "../../features/erasure/PersonRuns.ts"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createMigratedDatabase } from "../../support/TestDatabase.ts"

const ROLE = "runplane_service"

/** The statements of docs/reference/seal.md#database-role, as they are printed. */
const document = readFileSync(join(import.meta.dirname, "../../../../../docs/reference/seal.md"), "utf8")
const statements = document
  .slice(document.indexOf("    CREATE ROLE"))
  .split("\n")
  .filter((line) => line.startsWith("    ") && !line.startsWith("    --"))
  .join("\n")
  .split(";")
  .filter((statement) => /\b(?:CREATE ROLE|GRANT|REVOKE)\b/.test(statement))

/** A database that the service uses as that role; the owner of the tables has migrated it. */
const layerRestricted = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* createMigratedDatabase
    const grants = Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      for (const statement of statements) yield* sql.unsafe(statement).unprepared
    })
    yield* Effect.scoped(Effect.provide(grants, layerDatabase({ url, maxConnections: 2 })))
    const restricted = new URL(url)
    restricted.username = ROLE
    restricted.password = "..."
    return layerDatabase({ url: restricted.href, maxConnections: 10, migrateOnStart: false })
  })
)

layer(layerTestService({ database: layerRestricted }), { excludeTestServices: true })("a role without UPDATE", (it) => {
  it.effect("runs the service, its deletions and its retention, and changes no proof", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { numberPending } = yield* LedgerWriter
      const { removeRuns } = yield* ExpiredRuns
      const auditEntries = yield* makeAuditExpiry
      const [user] = yield* sql<{ readonly name: string }>`SELECT current_user AS name`
      assert.strictEqual(user?.name, ROLE)
      const [kept, deleted] = [yield* endedRun, yield* endedRun]
      yield* appendMessages(kept, 1)
      assert.strictEqual((yield* call("GET", `/runs/${kept}/seal`)).body.events, 3)
      assert.strictEqual((yield* call("DELETE", `/runs/${deleted}`)).status, 204)
      yield* numberPending
      for (const table of [
        "ledger",
        "run_tombstones",
        "run_seals",
        "run_erasures",
        "seal_keys",
        "seal_key_statements",
        "audit_log"
      ]) {
        const [row] = yield* sql<{ readonly column: string }>`
          SELECT column_name AS column FROM information_schema.columns
          WHERE table_name = ${table} AND is_identity = 'NO' LIMIT 1`
        const column = sql(row?.column ?? "")
        const change = sql`UPDATE ${sql(table)} SET ${column} = ${column}`
        assert.strictEqual((yield* Effect.flip(change)).reason._tag, "AuthorizationError", table)
        if (table === "audit_log") continue
        assert.strictEqual(
          (yield* Effect.flip(sql`DELETE FROM ${sql(table)}`)).reason._tag,
          "AuthorizationError",
          table
        )
      }
      const soon = "2126-01-01T00:00:00.000Z"
      assert.strictEqual((yield* removeRuns(soon, 10)).runs, 1)
      assert.strictEqual(yield* auditEntries.removeBatch(soon), 1)
      yield* numberPending
      const { body } = yield* call("GET", "/ledger")
      assert.sameMembers(
        body.data.map(({ content, kind }: { content: string; kind: string }) => `${kind} ${content}`),
        [
          ...["key kept", "seal deleted", "seal deleted", "seal deleted", "tombstone kept", "tombstone kept"],
          ...["audit expired", "expiry kept"]
        ]
      )
    }).pipe(Effect.provide(ExpiredRuns.layer))
  )

  it.effect("erases texts", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      assert.isAbove((yield* eraseText(runId)).erased.members, 0)
      assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
    })
  )
})
