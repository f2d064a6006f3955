import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import { statementsOf } from "@runplane/database"
import { createDatabase } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { migrationFiles } from "../../../../src/platform/postgres/schema/FirstObjects.ts"

const idOf = (digit: number) => `00000000-0000-7000-8000-${String(digit).padStart(12, "0")}`
const HOOK = idOf(1)
const RUN = idOf(2)
const DELETED_RUN = idOf(3)
const FIRING = idOf(4)
const TEST_RUN = idOf(5)

/** What the deliveries of an older program become. */
const EXPECTED = [
  ["run.completed", RUN, { run: RUN, firing: null, lane: RUN }],
  ["run.failed", DELETED_RUN, { run: DELETED_RUN, firing: null, lane: DELETED_RUN }],
  ["alert.fired", RUN, { run: RUN, firing: null, lane: RUN }],
  ["alert.fired", DELETED_RUN, { run: DELETED_RUN, firing: null, lane: DELETED_RUN }],
  ["alert.resolved", FIRING, { run: null, firing: FIRING, lane: FIRING }],
  ["webhook.test", TEST_RUN, { run: null, firing: null, lane: undefined }]
] as const

it.live("deliveries of an older program keep their runs, and name the firings that had no run", () =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const files = yield* migrationFiles
    const at = files.findIndex(({ name }) => name === "lane_of_deliveries")
    assert.isAbove(at, 0)
    const apply = (text: string) =>
      Effect.forEach(statementsOf(text), (statement) => sql.unsafe(statement.text).unprepared, { discard: true })
    for (const { text } of files.slice(0, at)) yield* apply(text)
    yield* sql`INSERT INTO webhooks (id, url, events, secret, created_at, updated_at)
               VALUES (${HOOK}::uuid, 'https://example.org', '{}', 's', now(), now())`
    yield* sql`INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, tags,
                                 metadata, search_text, created_at, updated_at)
               VALUES (${RUN}::uuid, 'completed', 'live', 'm', 'rust', 's', 't', 's', '{}', '{}', '', now(), now())`
    yield* sql`INSERT INTO run_tombstones (run_id, status, events, reason, deleted_at, deleted_by, run_created_at, last_seq)
               VALUES (${DELETED_RUN}::uuid, 'completed', 1, 'deleted', now(), 'a', now(), 1)`
    for (const [event, id] of EXPECTED) {
      yield* sql`INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, created_at)
                 VALUES (${HOOK}::uuid, ${id}::uuid, ${event}, '{}', now())`
    }
    yield* apply(files[at]?.text ?? "")
    const rows = yield* sql<{ readonly id: string; readonly lane: string }>`
      SELECT id::text AS id, run_id::text AS run, firing_id::text AS firing, lane::text AS lane
      FROM webhook_deliveries ORDER BY ordinal`
    assert.deepStrictEqual(
      rows,
      EXPECTED.map(([, , { lane, ...ids }], number) => {
        const id = rows[number]?.id ?? ""
        return { id, ...ids, lane: lane ?? id }
      })
    )
  }).pipe(
    Effect.provide(
      Layer.unwrap(Effect.map(createDatabase, (url) => PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
    ),
    Effect.scoped
  )
)
