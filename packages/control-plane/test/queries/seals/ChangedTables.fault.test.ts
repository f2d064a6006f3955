import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { doubtsOf, RunId, verifyExport } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"
import { publishedKeys } from "../../support/SealTests.ts"

/** The tables that hold a run, by the column that names it. */
const TABLES = {
  runs: "id",
  run_heads: "run_id",
  run_seals: "run_id",
  run_metrics: "run_id",
  projections: "run_id",
  sessions: "run_id",
  canonical_events: "run_id",
  raw_events: "run_id",
  outbound_messages: "run_id",
  artifacts: "run_id"
} as const

/** The names of the tables in the list of what is not proven. */
const LISTED: Readonly<Record<string, string>> = {
  runs: "run",
  run_heads: "session",
  sessions: "session",
  artifacts: "artifacts"
}

type Table = keyof typeof TABLES
const tables = Object.keys(TABLES) as ReadonlyArray<Table>

/** The member of the export that a column is read into, where its name is another. */
const MEMBERS: Readonly<Record<string, string>> = {
  source_kind: "source",
  source_ref: "source",
  stream_cursor: "lastStreamCursor"
}

const memberOf = (column: string): string =>
  MEMBERS[column] ?? column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Another value of the column. */
const another = (column: string, type: string): string => {
  switch (type) {
    case "smallint":
    case "integer":
    case "bigint":
    case "double precision":
      return `coalesce(${column}, 0) + 1`
    case "timestamp with time zone":
      return `coalesce(${column}, now()) + interval '1 second'`
    case "uuid":
      return "gen_random_uuid()"
    case "boolean":
      return `NOT ${column}`
    case "json":
      return `(coalesce(${column}::jsonb, '{}') || '{"x": 1}')::json`
    case "ARRAY":
      return `array_append(${column}, 'x')`
    case "bytea":
      return "decode(repeat('00', 32), 'hex')"
    case "xid8":
      return "'1'"
    default:
      return column === '"status"' ? "'failed'" : `coalesce(${column}, '') || 'x'`
  }
}

const followedRun = Effect.gen(function* () {
  const runId = RunId.make(randomUUID())
  const fake = yield* RuntimeFake
  yield* fake.openSession({ sessionId: runId, participants: ["agent://lead"], initiator: "agent://lead" })
  const metadata = { source: "launch", sourceRef: "ref" }
  yield* call("POST", "/runs", {
    body: descriptor({ runtime: { kind: "fake", version: "1" }, session: { sessionId: runId, metadata } })
  })
  yield* awaitStatus(runId, "running")
  for (const messageId of ["m1", "m2"]) {
    yield* fake.accept(runId, { messageType: "Proposal", messageId, sender: "agent://lead" })
  }
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitStatus(runId, "completed")
  const body = { kind: "report", label: "Summary", uri: "s3://x", inline: { spans: [1] } }
  assert.strictEqual((yield* call("POST", `/runs/${runId}/artifacts`, { body })).status, 201)
  return runId
})

/** The export of the only run, and what its verification says. */
const verified = Effect.fnUntraced(function* (runId: RunId) {
  // A history that lacks rows cuts the answer.
  const { body, text } = yield* call("GET", `/runs/${runId}/export?includeRaw=true`).pipe(
    Effect.catchCause(() => Effect.succeed({ body: undefined, text: "" }))
  )
  const found = verifyExport(sha256, yield* publishedKeys, Buffer.from(text))
  const doubts = found.ok && found.seal !== null ? doubtsOf(found.seal) : []
  const { digest: _, exportedAt: __, ...content } = body ?? {}
  const why = found.ok ? doubts.join("; ") : found.why
  return { why, content, notProven: found.ok ? found.notProven : [], proven: found.ok ? found.proven : [] }
})

layer(layerTestService(), { excludeTestServices: true })("the export of a run whose tables were changed", (it) => {
  it.effect("is refused, or names what was changed as not proven", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* followedRun
      const honest = yield* verified(runId)
      assert.strictEqual(honest.why, "")
      assert.include(honest.proven, "raw frames")
      // Nothing is added to these from here on.
      for (const table of ["artifacts", "outbound_messages"]) {
        yield* sql`ALTER TABLE ${sql(table)} ALTER COLUMN ordinal DROP IDENTITY`
      }
      const columns = yield* sql<{ readonly table: Table; readonly name: string; readonly type: string }>`
        SELECT table_name AS table, column_name AS name, data_type AS type FROM information_schema.columns
        WHERE table_name = ANY(${tables}::text[]) AND table_schema = current_schema() AND is_generated = 'NEVER'`
      const listOf = (table: Table) =>
        sql.literal(columns.flatMap((column) => (column.table === table ? [`"${column.name}"`] : [])).join())
      yield* Effect.forEach(tables, (table) => sql`CREATE TABLE ${sql(`kept_${table}`)} AS SELECT * FROM ${sql(table)}`)

      const restore = (table: Table) =>
        table === "runs"
          ? sql`UPDATE runs SET (${listOf(table)}) = (SELECT ${listOf(table)} FROM kept_runs)`
          : Effect.andThen(
              sql`DELETE FROM ${sql(table)}`,
              sql`INSERT INTO ${sql(table)} (${listOf(table)}) OVERRIDING SYSTEM VALUE
                  SELECT ${listOf(table)} FROM ${sql(`kept_${table}`)}`
            )

      const missed: Array<string> = []
      /** Makes a change and takes it back. It must be found, be named, or be of nothing that an export holds. */
      const attempt = Effect.fnUntraced(function* (
        table: Table,
        what: string,
        change: Effect.Effect<unknown, SqlError>
      ) {
        yield* change
        const { content, notProven, why } = yield* verified(runId)
        const isShown = JSON.stringify(content) !== JSON.stringify(honest.content)
        const isNamed = notProven.some((text) => text.startsWith(`${LISTED[table]}:`) && text.includes(memberOf(what)))
        if (why === "" && isShown && !isNamed) missed.push(`${table}.${what}`)
        // A seal may have been made anew.
        for (const changed of new Set<Table>([table, "run_heads", "run_seals"])) yield* restore(changed)
      })

      for (const { name, table, type } of columns) {
        if (name === TABLES[table]) continue
        const value = sql.literal(another(`"${name}"`, type))
        yield* attempt(
          table,
          name,
          sql`UPDATE ${sql(table)} SET ${sql(name)} = ${value} WHERE ctid = (SELECT max(ctid) FROM ${sql(table)})`
        )
      }
      for (const table of tables) {
        if (table === "runs" || table === "run_heads") continue
        for (const end of ["min", "max"]) {
          const row = sql`(SELECT ${sql.literal(end)}(ctid) FROM ${sql(table)})`
          yield* attempt(table, `${end} row`, sql`DELETE FROM ${sql(table)} WHERE ctid = ${row}`)
        }
      }
      for (const [table, column] of [
        ["canonical_events", "event"],
        ["raw_events", "payload"],
        ["artifacts", "created_at"],
        ["artifacts", "inline"]
      ] as const) {
        const ends = sql`(SELECT min(ctid) AS one, max(ctid) AS other FROM ${sql(table)})`
        yield* attempt(
          table,
          `order of ${column}`,
          sql`UPDATE ${sql(table)} t SET ${sql(column)} = s.${sql(column)} FROM ${ends} AS e, ${sql(table)} s
              WHERE (t.ctid = e.one AND s.ctid = e.other) OR (t.ctid = e.other AND s.ctid = e.one)`
        )
      }
      assert.deepStrictEqual(missed, [])
      assert.deepStrictEqual(yield* verified(runId), honest)
    })
  )
})
