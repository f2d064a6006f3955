import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { baseUrl, call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

const MIB = 1024 * 1024
const READERS = 8
/** How many fat rows an answer has, and how large each is: what one reader is sent. Bytes. */
const ROWS = 24
const ROW_BYTES = MIB
/** What all readers of a list may make the process hold, client and server. Bytes. */
const HELD_BOUND = 160 * MIB
/** The longest that the service may take to say that it lives, on a machine that is busy otherwise. Milliseconds. */
const HEALTH_MS = 15_000

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const held = () => {
  collectGarbage()
  const { external, heapUsed } = process.memoryUsage()
  return external + heapUsed
}

const fatText = (bytes: number) => `repeat('0123456789abcdef', ${bytes / 16})`

/** A run with fat rows of every kind that it can have, and a subscription with fat deliveries. */
const fill = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const runId = yield* createRun()
  const text = sql.literal(fatText(ROW_BYTES))
  const numbers = sql`generate_series(1, ${ROWS}::int) AS n`
  yield* sql`
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event)
    SELECT seq, ${runId}::uuid, n + 1, now(), 'message.received',
           json_build_object('id', 'e' || n, 'runId', ${runId}::text, 'seq', seq, 'index', n + 1,
                             'ts', '2026-07-01T10:00:00.000Z', 'type', 'message.received',
                             'data', json_build_object('text', ${text}))
    FROM (SELECT n, nextval('event_seq') AS seq FROM ${numbers}) AS numbered`
  yield* sql`
    INSERT INTO raw_events (run_id, seq, ts, kind, source_name, payload)
    SELECT ${runId}::uuid, n, now(), 'envelope', 'rust-runtime', json_build_object('text', ${text}) FROM ${numbers}`
  yield* sql`
    UPDATE run_heads SET last_seq = (SELECT max(seq) FROM canonical_events), last_index = ${ROWS + 1}, last_raw_seq = ${ROWS}
    WHERE run_id = ${runId}::uuid`
  yield* sql`
    INSERT INTO outbound_messages (run_id, message_id, accepted, message)
    SELECT ${runId}::uuid, 'm' || n, true, json_build_object('runId', ${runId}::text, 'recipients', ${text}) FROM ${numbers}`
  yield* sql`
    INSERT INTO artifacts (id, run_id, kind, label, inline, created_at)
    SELECT gen_random_uuid(), ${runId}::uuid, 'json', 'fat', json_build_object('text', ${text}), '2026-07-01T10:00:00.000Z' FROM ${numbers}`
  yield* sql`
    INSERT INTO audit_log (actor, actor_type, action, resource, resource_id, details, created_at)
    SELECT 'fat', 'api-key', 'run.cancel', 'run', ${runId}::text, json_build_object('reason', ${text}), now() FROM ${numbers}`
  const [webhook] = yield* sql<{ readonly id: string }>`
    INSERT INTO webhooks (id, url, events, secret, created_at, updated_at)
    VALUES (gen_random_uuid(), 'http://192.0.2.1/', '{}', 's', now(), now()) RETURNING id::text AS id`
  const webhookId = webhook?.id ?? ""
  yield* sql`
    INSERT INTO webhook_deliveries (webhook_id, run_id, event, payload, status, created_at)
    SELECT ${webhookId}::uuid, ${runId}::uuid, 'run.failed', json_build_object('error', ${text}), 'failed', now()
    FROM ${numbers}`
  // Fifteen small values each, which lists show, and tags of the longest kind.
  yield* sql`
    INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, tags, metadata,
                      search_text, created_at, updated_at)
    SELECT gen_random_uuid(), 'completed', 'live', 'macp.mode.decision.v1', 'rust', 'fat' || n, 'trace', 'span',
           (SELECT array_agg(repeat('€', 196) || t) FROM generate_series(1000, 1099) AS t),
           (SELECT json_object_agg('key' || k, repeat('x', 4090)) FROM generate_series(1, 15) AS k),
           '', now(), now()
    FROM generate_series(1, 200) AS n`
  yield* sql`INSERT INTO run_heads (run_id) SELECT id FROM runs WHERE runtime_session_id LIKE 'fat%'`
  return { runId, webhookId }
})

/** Reads an answer to its end and keeps nothing of it but its length and its last bytes. */
const readThrough = Effect.fnUntraced(function* (path: string, body: unknown) {
  const url = `${yield* baseUrl}${path}`
  return yield* Effect.promise(async () => {
    // A connection of its own: on a busy machine, the server has closed an idle one when the client uses it again.
    const headers = { "content-type": "application/json", connection: "close" }
    const answer = await fetch(
      url,
      body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) }
    )
    let bytes = 0
    let end = ""
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length
      // A decoder may give the last bytes in a piece of their own.
      end = (end + Buffer.from(chunk.subarray(-200)).toString()).slice(-200)
    }
    return { status: answer.status, bytes, end }
  })
})

layer(layerTestService(), { excludeTestServices: true })(`${READERS} readers at once of a list of fat rows`, (it) => {
  let filled: Effect.Success<typeof fill> | undefined
  const fixture = Effect.gen(function* () {
    filled ??= yield* fill
    return filled
  })

  interface List {
    readonly path: (ids: Effect.Success<typeof fill>) => string
    readonly body?: (ids: Effect.Success<typeof fill>) => unknown
    readonly least?: number
    readonly end: RegExp
  }
  const lists: Readonly<Record<string, List>> = {
    "GET /runs": { path: () => "/runs?limit=200", least: 200 * 110_000, end: /"total":20\d,"limit":200,"offset":0,/ },
    "GET /runs/:id/events": { path: ({ runId }) => `/runs/${runId}/events?limit=500`, end: /"\}\}\]$/ },
    "GET /events": { path: () => "/events?limit=500", end: /\],"total":25,"limit":500\}$/ },
    "GET /runs/:id/messages": { path: ({ runId }) => `/runs/${runId}/messages`, end: /"\}\]$/ },
    "GET /runs/:id/artifacts": { path: ({ runId }) => `/runs/${runId}/artifacts`, end: /Z"\}\]$/ },
    "GET /audit": { path: () => "/audit?limit=200&actor=fat", end: /\],"total":24,"limit":200,"offset":0\}$/ },
    "GET /webhooks/:id/deliveries": {
      path: ({ webhookId }) => `/webhooks/${webhookId}/deliveries?limit=200`,
      end: /\],"total":24,"limit":200,"offset":0\}$/
    },
    "GET /runs/:id/export": { path: ({ runId }) => `/runs/${runId}/export?includeRaw=true&format=jsonl`, end: /\}\n$/ },
    "POST /runs/batch/export": {
      path: () => "/runs/batch/export",
      body: ({ runId }) => ({ runIds: [runId, runId] }),
      end: /\}\]$/
    },
    "POST /runs/compare": {
      path: () => "/runs/compare",
      body: ({ runId }) => ({ leftRunId: runId, rightRunId: runId }),
      least: 100,
      end: /\}$/
    },
    "GET /runs/:id/replay/stream": {
      path: ({ runId }) => `/runs/${runId}/replay/stream?mode=instant`,
      end: /\n\n$/
    }
  }

  for (const [name, { body, end, least = ROWS * ROW_BYTES, path }] of Object.entries(lists)) {
    it.effect(`all get the whole of it, in bounded memory, beside a service that answers: ${name}`, () =>
      Effect.gen(function* () {
        const ids = yield* fixture
        const before = held()
        let most = before
        let slowest = 0
        const watching = yield* Effect.forkChild(
          Effect.forever(
            Effect.gen(function* () {
              const startedAt = performance.now()
              const { status } = yield* call("GET", "/livez")
              slowest = Math.max(slowest, performance.now() - startedAt)
              assert.strictEqual(status, 200)
              most = Math.max(most, held())
              yield* Effect.sleep(600)
            })
          )
        )
        const answers = yield* Effect.all(
          Array.from({ length: READERS }, () => readThrough(path(ids), body?.(ids))),
          { concurrency: "unbounded" }
        )
        yield* Fiber.interrupt(watching)
        for (const answer of answers) {
          assert.oneOf(answer.status, [200, 201], answer.end)
          assert.isAtLeast(answer.bytes, least)
          assert.match(answer.end, end)
        }
        assert.isBelow(most - before, HELD_BOUND)
        assert.isBelow(slowest, HEALTH_MS)
      })
    )
  }
})
