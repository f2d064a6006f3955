import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { endedRun } from "../support/EndedRuns.ts"
import { baseUrl, call, layerTestService } from "../support/HttpService.ts"

/** Rows of each kind, and characters of each: more than the connection and its client hold. */
const ROWS = 2_500
const CHARACTERS = 8_000

const fatRun = Effect.gen(function* () {
  const runId = yield* endedRun
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event)
    SELECT seq, ${runId}::uuid, n, now(), 'message.received',
           json_build_object('id', gen_random_uuid(), 'runId', ${runId}::text, 'seq', seq, 'index', n, 'ts', now(),
                             'type', 'message.received', 'schemaVersion', 1,
                             'source', json_build_object('kind', 'runtime', 'name', 'rust-runtime'),
                             'data', json_build_object('text', repeat('x', ${CHARACTERS}::int)))
    FROM (SELECT nextval('event_seq') AS seq, last_index + n AS n
          FROM run_heads CROSS JOIN generate_series(1, ${ROWS}::int) AS n WHERE run_id = ${runId}::uuid) AS positions`
  yield* sql`
    UPDATE run_heads SET last_index = last_index + ${ROWS}::int,
                         last_seq = (SELECT max(seq) FROM canonical_events WHERE run_id = ${runId}::uuid)
    WHERE run_id = ${runId}::uuid`
  yield* sql`
    INSERT INTO outbound_messages (run_id, message_id, accepted, message)
    SELECT ${runId}::uuid, 'm' || n, true, json_build_object('messageId', 'm' || n, 'x', repeat('x', ${CHARACTERS}::int))
    FROM generate_series(1, ${ROWS}::int) AS n`
  yield* sql`
    INSERT INTO artifacts (id, run_id, kind, label, inline, created_at)
    SELECT gen_random_uuid(), ${runId}::uuid, 'log', n, json_build_object('x', repeat('x', ${CHARACTERS}::int)), now()
    FROM generate_series(1, ${ROWS}::int) AS n`
  return runId
})

/** Reads an answer in two parts, with the deletion of the run between them; the outcome of the second part. */
const readAcrossDeletion = Effect.fnUntraced(function* (runId: string, path: string) {
  const url = yield* baseUrl
  const response = yield* Effect.promise(() => fetch(`${url}${path}`))
  assert.strictEqual(response.status, 200)
  const reader = response.body?.getReader()
  yield* Effect.promise(async () => reader?.read())
  assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
  const readAll = async () => {
    while (!(await reader?.read())?.done);
  }
  return yield* Effect.exit(Effect.tryPromise(readAll))
})

layer(layerTestService(), { excludeTestServices: true })("a run that is deleted while it is read", (it) => {
  for (const pathOf of [
    (runId: string) => `/runs/${runId}/events?limit=50000`,
    (runId: string) => `/runs/${runId}/events?limit=50000&type=message.received`,
    (runId: string) => `/events?limit=50000&runId=${runId}`,
    () => "/events?limit=50000",
    (runId: string) => `/runs/${runId}/messages`,
    (runId: string) => `/runs/${runId}/artifacts`,
    (runId: string) => `/runs/${runId}/export?includeCanonical=false`,
    (runId: string) => `/runs/${runId}/replay/stream?mode=instant`,
    (runId: string) => `/runs/${runId}/stream?afterSeq=0`
  ]) {
    it.effect(`cuts the answer of GET ${pathOf(":id")}`, () =>
      Effect.gen(function* () {
        const runId = yield* fatRun
        const rest = yield* readAcrossDeletion(runId, pathOf(runId))
        assert.strictEqual(rest._tag, "Failure")
      })
    )
  }
})
