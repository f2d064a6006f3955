import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { type EventDraft, RunId, recordEvent, runCompleted } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { AT, COST, commits, LEAD, opened, proposes, RISK, votes } from "../../support/Committee.ts"

/** A run that changes, so that no answer about it is cached. */
const OPEN = "queued"
const AGENTS = [LEAD, RISK, COST]
const completed = runCompleted({ ts: AT, endedAt: AT, runId: "", traceId: "", runtimeSessionId: "s" })
/** Runs of which the votes of one differ. */
const MINORITY = 4

/** The stored text of a draft, which a statement completes for each run and position. */
const templateOf = (draft: EventDraft) =>
  JSON.stringify(recordEvent(draft, { id: "", runId: RunId.make(randomUUID()), seq: 1, index: 1 }))

const insertRuns = Effect.fnUntraced(function* (count: number, status: string, tag: string) {
  const sql = yield* PgClient.PgClient
  const ids = Array.from({ length: count }, () => randomUUID())
  yield* sql`
    INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, tags, metadata,
                      search_text, created_at, updated_at, started_at, ended_at)
    SELECT id::uuid, ${status}, 'live', 'macp.mode.decision.v1', 'rust', id, 'trace', 'span', ARRAY[${tag}], '{}',
           lower(id), ${AT}::timestamptz, now(), now(), CASE WHEN ${status === OPEN}::boolean THEN NULL ELSE now() END
    FROM unnest(${ids}::text[]) AS id`
  yield* sql`INSERT INTO run_heads (run_id) SELECT unnest(${ids}::text[]::uuid[])`
  return ids
})

/** Appends events to runs: each template at its index, and `repeated` ones in turn at all indexes between. */
const appendEvents = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  {
    events,
    first,
    last,
    repeated
  }: {
    readonly events: number
    readonly first: ReadonlyArray<EventDraft>
    readonly repeated: ReadonlyArray<EventDraft>
    readonly last: ReadonlyArray<EventDraft>
  }
) {
  const sql = yield* PgClient.PgClient
  const drafts = [...first, ...repeated, ...last].map((draft) => ({ type: draft.type, event: templateOf(draft) }))
  const [types, templates] = [drafts.map(({ type }) => type), drafts.map(({ event }) => event)]
  const middle = events - first.length - last.length
  yield* sql`
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event)
    SELECT seq, run_id, n, ${AT}::timestamptz, type,
           (jsonb_set(event, '{data,messageId}', to_jsonb('m' || n)) ||
            jsonb_build_object('id', run_id::text || n, 'runId', run_id, 'seq', seq, 'index', n))::json
    FROM (
      SELECT nextval('event_seq') AS seq, r.run_id, n, t.type, t.event::jsonb AS event
      FROM unnest(${ids}::text[]::uuid[]) AS r(run_id)
      CROSS JOIN generate_series(1, ${events}::int) AS n
      JOIN unnest(${types}::text[], ${templates}::text[]) WITH ORDINALITY AS t(type, event, position)
        ON t.position = CASE
          WHEN n <= ${first.length}::int THEN n
          WHEN n > ${first.length + middle}::int THEN n - ${middle}::int + ${repeated.length}::int
          ELSE ${first.length}::int + 1 + n % ${repeated.length}::int END
      ORDER BY r.run_id, n OFFSET 0
    ) AS numbered`
  yield* sql`
    UPDATE run_heads h SET last_index = ${events}::int,
      last_seq = (SELECT max(seq) FROM canonical_events e WHERE e.run_id = h.run_id)
    WHERE run_id = ANY(${ids}::text[]::uuid[])`
  yield* sql`
    INSERT INTO run_participants
    SELECT r, p, 1, 0, 0, 0 FROM unnest(${ids}::text[]::uuid[]) AS r, unnest(${AGENTS}::text[]) AS p`
  yield* sql`
    INSERT INTO key_events (run_id, seq, ts, type, positive)
    SELECT run_id, seq, ts, type, true FROM canonical_events
    WHERE type = 'decision.finalized' AND run_id = ANY(${ids}::text[]::uuid[])`
})

/** Large runs that ended with a decision, and a small one that is open. */
export const seedLargeRuns = Effect.fnUntraced(function* (runs: number, events: number) {
  const sql = yield* PgClient.PgClient
  const large = yield* insertRuns(runs, "completed", "large")
  const repeated = [proposes, votes(RISK, "APPROVE"), votes(COST, "APPROVE"), votes(LEAD, "REJECT")]
  yield* appendEvents(large.slice(MINORITY), { events, first: opened, repeated, last: [commits, completed] })
  const others = [proposes, votes(RISK, "REJECT"), votes(COST, "APPROVE"), votes(LEAD, "APPROVE")]
  yield* appendEvents(large.slice(0, MINORITY), { events, first: opened, repeated: others, last: [completed] })
  const [small = ""] = yield* insertRuns(1, OPEN, "small")
  yield* appendEvents([small], { events: 8, first: opened, repeated, last: [commits] })
  yield* sql`ANALYZE`
  return { events, large, small }
})

export type Seeded = Effect.Success<ReturnType<typeof seedLargeRuns>>
