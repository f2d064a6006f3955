import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ask, keysEnv, makeInboxStage } from "./InboxStage.ts"
import { DECISION, SEAT } from "./SeatStage.ts"

const ITEMS = 500
/** Items of former sessions, for the same persons. */
const CLOSED = 200_000
/** The bound of a read of the inbox while the items open. Milliseconds. */
const P95_MS = 100

const LIMIT_MS = 300_000
const KEYS = { "key-of-ana": ["ana", "voter"] } as const

const p95 = (values: ReadonlyArray<number>) =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN

/** Adds sessions that are over, each with one withdrawn item of the same persons. */
const closedItems = (sql: PgClient.PgClient) =>
  Effect.gen(function* () {
    yield* sql`
      INSERT INTO people.seats (session_id, seat, mode_name, scenario_ref, rules, seats, ended_at, ended_state)
      SELECT 'over-' || n, ${SEAT}, ${DECISION}, 'demo/people@1.0.0', '{"assign": ["person:ana"]}', '[]',
        now() - interval '1 day', 'RESOLVED'
      FROM generate_series(1, ${CLOSED}::int) AS n`
    yield* sql`
      INSERT INTO people.items (id, session_id, seat, subject, state, reason, hashed, proposal_hash, payload,
        payload_type, created_at, closed_at)
      SELECT gen_random_uuid(), 'over-' || n, ${SEAT}, 2, 'withdrawn', 'the session is RESOLVED', '{}', repeat('0', 64),
        decode(repeat('00', 300), 'hex'), 'macp.modes.decision.v1.ProposalPayload',
        now() - interval '1 day' - n * interval '1 second', now() - interval '1 day'
      FROM generate_series(1, ${CLOSED}::int) AS n`
    yield* sql`ANALYZE people.items`
  })

layer(NodeFileSystem.layer, { excludeTestServices: true })("the inbox while 500 items open", (it) => {
  it.effect(
    `answers within ${P95_MS} ms (p95), beside ${CLOSED} closed items`,
    () =>
      Effect.gen(function* () {
        const sessions = Array.from({ length: ITEMS }, (_, at) => `s${at}`)
        const stage = yield* makeInboxStage(
          sessions.map((session) => ({ session })),
          keysEnv(KEYS)
        )
        yield* Effect.provideContext(Effect.flatMap(PgClient.PgClient, closedItems), stage.rows)
        const times: Array<number> = []
        let isOpening = true
        const list = ask(stage.url, "GET", "/inbox?limit=50", { "x-api-key": "key-of-ana" })
        const reader = Effect.gen(function* () {
          while (isOpening) {
            const start = yield* Clock.currentTimeMillis
            const { status } = yield* list
            times.push((yield* Clock.currentTimeMillis) - start)
            assert.strictEqual(status, 200)
            yield* Effect.sleep(20)
          }
        })
        const readers = yield* Effect.forkChild(Effect.all([reader, reader], { concurrency: "unbounded" }))
        yield* Effect.forEach(sessions, stage.propose, { concurrency: 16, discard: true })
        yield* Effect.forEach(sessions, (session) => stage.openItem(session), { concurrency: 4, discard: true })
        isOpening = false
        yield* Fiber.join(readers)
        yield* Effect.log(`${times.length} reads, p95 ${p95(times)} ms, longest ${Math.max(...times)} ms`)
        assert.isAbove(times.length, 20)
        assert.isAtMost(p95(times), P95_MS)
      }),
    LIMIT_MS
  )
})
