import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Statement from "effect/sql/Statement"
import { insertPending, type PendingEntry } from "../../platform/ledger/PendingEntries.ts"
import { unseen } from "../../platform/postgres/KeptPlans.ts"
import { isBadArgument } from "../../platform/postgres/SqlFailures.ts"
import type { CommittedEvent } from "../CommittedEvent.ts"
import { makeOpening, type StoredAs } from "./LockHeads.ts"
import type { SessionRows, StatusRows } from "./StatusRows.ts"

/** Events and frames to be written, column by column: each array is one parameter of one `unnest`. */
export interface EventRows {
  readonly events: {
    readonly seq: Array<bigint>
    readonly runId: Array<string>
    readonly index: Array<number>
    readonly ts: Array<string>
    readonly type: Array<string>
    readonly json: Array<string>
  }
  readonly raw: {
    readonly runId: Array<string>
    readonly seq: Array<number>
    readonly ts: Array<string>
    readonly kind: Array<string>
    readonly sourceName: Array<string>
    readonly json: Array<string>
  }
  /** Of the texts in it. */
  characters: number
}

/** What is written once for each run of a transaction, column by column. */
export interface RunRows {
  readonly heads: {
    readonly runId: Array<string>
    readonly lastSeq: Array<bigint>
    readonly lastIndex: Array<number>
    readonly lastRawSeq: Array<number>
    readonly lastTs: Array<string>
    readonly cursor: Array<bigint>
    readonly metrics: Array<string>
    readonly promptTokens: Array<string>
    readonly completionTokens: Array<string>
    readonly totalTokens: Array<string>
    readonly costUsd: Array<string>
    readonly signalCount: Array<number>
    readonly decisionCount: Array<number>
    /** Head of the hash chain after `lastIndex`, hexadecimal. */
    readonly chain: Array<string>
    /** Whether a seal over this head is among the `seals`. */
    readonly sealed: Array<boolean>
    readonly provenAfter: Array<number>
    readonly framesAfter: Array<number>
    /** Head of the chain of the frames after `lastRawSeq`, hexadecimal. */
    readonly frames: Array<string>
    /** Hexadecimal; empty for none. */
    readonly mac: Array<string>
  }
  /** Checkpoints of projections: of the runs for which one is due. */
  readonly projections: {
    readonly runId: Array<string>
    readonly lastSeq: Array<bigint>
    readonly state: Array<string>
  }
  /** Seals of ended runs, with the number of events that each covers. */
  readonly seals: {
    readonly runId: Array<string>
    readonly events: Array<number>
    readonly seal: Array<string>
    /** What the ledger is going to hold of them. */
    readonly pending: Array<PendingEntry>
  }
}

export const noEventRows = (): EventRows => ({
  events: { seq: [], runId: [], index: [], ts: [], type: [], json: [] },
  raw: { runId: [], seq: [], ts: [], kind: [], sourceName: [], json: [] },
  characters: 0
})

export const noRunRows = (): RunRows => ({
  heads: {
    runId: [],
    lastSeq: [],
    lastIndex: [],
    lastRawSeq: [],
    lastTs: [],
    cursor: [],
    metrics: [],
    promptTokens: [],
    completionTokens: [],
    totalTokens: [],
    costUsd: [],
    signalCount: [],
    decisionCount: [],
    chain: [],
    sealed: [],
    provenAfter: [],
    framesAfter: [],
    frames: [],
    mac: []
  },
  projections: { runId: [], lastSeq: [], state: [] },
  seals: { runId: [], events: [], seal: [], pending: [] }
})

const UUID_LENGTH = 36

const joined = Statement.join("", false)

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient

  /** Which of the runs there are, locked or not. */
  const existing = (runIds: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly id: string }>`
        SELECT id::text AS id FROM runs WHERE id = ANY(${runIds}::text[]::uuid[])`,
      (rows) => new Set(rows.map(({ id }) => id))
    )

  /**
   * Takes back messages that were stored for nothing; the keys are those that `open` answers. The row of a rejection
   * stays, and leaves its id free again.
   */
  const forgetMessages = (fresh: ReadonlyMap<string, StoredAs>) => {
    const keys = [...fresh.keys()]
    return sql`
      WITH taken_back AS (
        SELECT * FROM unnest(${keys.map((key) => key.slice(0, UUID_LENGTH))}::text[]::uuid[],
                             ${keys.map((key) => key.slice(UUID_LENGTH + 1))}::text[],
                             ${[...fresh.values()].map((stored) => stored === "accepted instead")}::bool[])
                      AS k (run_id, message_id, was_rejected)
      ), rejected_again AS (
        UPDATE outbound_messages m SET accepted = false FROM taken_back k
        WHERE k.was_rejected AND m.run_id = k.run_id AND m.message_id = k.message_id
      )
      DELETE FROM outbound_messages m USING taken_back k
      WHERE NOT k.was_rejected AND m.run_id = k.run_id AND m.message_id = k.message_id`
  }

  /**
   * Allocates `count` numbers of the log's one sequence, ascending, as its watermark needs it
   * (docs/reference/events.md#watermark).
   */
  const allocate = (count: number) =>
    Effect.map(sql<{ readonly seqs: ReadonlyArray<bigint> }>`SELECT allocate_event_seqs(${count}) AS seqs`, (rows) =>
      (rows[0]?.seqs ?? []).map(Number)
    )

  const insertEvents = ({ events }: EventRows) => sql`
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event)
    SELECT * FROM unnest(${events.seq}::bigint[], ${events.runId}::text[]::uuid[], ${events.index}::int[],
                         ${events.ts}::text[]::timestamptz[], ${events.type}::text[], ${events.json}::text[]::json[])`

  const insertRaw = ({ raw }: EventRows) => sql`
    INSERT INTO raw_events (run_id, seq, ts, kind, source_name, payload)
    SELECT * FROM unnest(${raw.runId}::text[]::uuid[], ${raw.seq}::int[], ${raw.ts}::text[]::timestamptz[],
                         ${raw.kind}::text[], ${raw.sourceName}::text[], ${raw.json}::text[]::json[])`

  /** Writes a part of the events and frames of a transaction, before `write` ends it. */
  const writeEvents = (rows: EventRows) => sql`WITH new_events AS (${insertEvents(rows)}) ${insertRaw(rows)}`

  /** Writes the rest, and with the same statement what the reactors add to it. */
  const write = (
    rows: EventRows,
    { heads, projections, seals }: RunRows,
    reactions: ReadonlyArray<Statement.Fragment>
  ) => sql`
    WITH new_events AS (${insertEvents(rows)}), new_raw AS (${insertRaw(rows)})${joined(reactions.map((reaction, place) => sql`, ${sql.literal(`reaction_${place}`)} AS (${reaction})`))}, head AS (
      SELECT * FROM unnest(
        ${heads.runId}::text[]::uuid[], ${heads.lastSeq}::bigint[], ${heads.lastIndex}::int[], ${heads.lastRawSeq}::int[],
        ${heads.lastTs}::text[]::timestamptz[], ${heads.cursor}::bigint[], ${heads.metrics}::text[]::json[],
        ${heads.promptTokens}::text[]::float8[], ${heads.completionTokens}::text[]::float8[],
        ${heads.totalTokens}::text[]::float8[], ${heads.costUsd}::text[]::float8[],
        ${heads.signalCount}::int[], ${heads.decisionCount}::int[], ${heads.chain}::text[],
        ${heads.sealed}::bool[], ${heads.provenAfter}::int[], ${heads.framesAfter}::int[],
        ${heads.frames}::text[], ${heads.mac}::text[]
      ) AS h (run_id, last_seq, last_index, last_raw_seq, last_ts, cursor, metrics, prompt_tokens, completion_tokens, total_tokens,
              cost_usd, signal_count, decision_count, chain, sealed, proven_after, frames_after,
              frames, mac)
    ), new_heads AS (
      UPDATE run_heads SET last_seq = head.last_seq, last_index = head.last_index, last_raw_seq = head.last_raw_seq,
                           last_ts = head.last_ts, stream_cursor = head.cursor,
                           chain_head = decode(head.chain, 'hex'),
                           sealed_head = CASE WHEN head.sealed THEN decode(head.chain, 'hex') ELSE run_heads.sealed_head END,
                           sealed_index = CASE WHEN head.sealed THEN head.last_index ELSE run_heads.sealed_index END,
                           proven_after = head.proven_after, frames_after = head.frames_after,
                           frames_head = decode(head.frames, 'hex'),
                           head_mac = decode(nullif(head.mac, ''), 'hex')
      FROM head WHERE run_heads.run_id = head.run_id
    ), new_projections AS (
      INSERT INTO projections (run_id, last_seq, state, updated_at)
      SELECT *, now()
      FROM unnest(${projections.runId}::text[]::uuid[], ${projections.lastSeq}::bigint[], ${projections.state}::text[]::json[])
      ON CONFLICT (run_id) DO UPDATE
      SET last_seq = excluded.last_seq, state = excluded.state, updated_at = excluded.updated_at
    ), new_seals AS (
      INSERT INTO run_seals (run_id, events, seal)
      SELECT * FROM unnest(${seals.runId}::text[]::uuid[], ${seals.events}::int[], ${seals.seal}::text[]::json[])
    ), new_pending AS (${insertPending(sql, seals.pending)})
    INSERT INTO run_metrics (run_id, metrics, prompt_tokens, completion_tokens, total_tokens, estimated_cost_usd,
                             signal_count, decision_count)
    SELECT run_id, metrics, prompt_tokens, completion_tokens, total_tokens, cost_usd, signal_count, decision_count FROM head
    ON CONFLICT (run_id) DO UPDATE
    SET metrics = excluded.metrics, prompt_tokens = excluded.prompt_tokens,
        completion_tokens = excluded.completion_tokens, total_tokens = excluded.total_tokens,
        estimated_cost_usd = excluded.estimated_cost_usd, signal_count = excluded.signal_count,
        decision_count = excluded.decision_count`

  /** The metadata of the runs, as text. */
  const readMetadata = (runIds: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly id: string; readonly metadata: string }>`
        SELECT id::text AS id, metadata::text AS metadata FROM runs WHERE id = ANY(${runIds}::text[]::uuid[])`,
      (rows) => new Map(rows.map(({ id, metadata }) => [id, metadata]))
    )

  const texts = (values: ReadonlyArray<string>) => unseen(sql, sql`${values}::text[]`)

  const changedStatuses = (rows: StatusRows) => sql`
    SELECT * FROM unnest(${unseen(sql, sql`${rows.runId}::text[]::uuid[]`)}, ${texts(rows.status)},
                         ${unseen(sql, sql`${rows.revision}::int[]`)}, ${texts(rows.startedAt)},
                         ${texts(rows.endedAt)}, ${texts(rows.errorCode)}, ${texts(rows.errorMessage)})
                  AS c (run_id, status, revision, started_at, ended_at, error_code, error_message)`

  const setStatus = (at: string) => sql`
    SET status = c.status, status_revision = c.revision,
        updated_at = greatest(runs.updated_at, ${at}::timestamptz, nullif(c.started_at, '')::timestamptz,
                              nullif(c.ended_at, '')::timestamptz),
        started_at = nullif(c.started_at, '')::timestamptz, ended_at = nullif(c.ended_at, '')::timestamptz,
        error_code = nullif(c.error_code, ''), error_message = CASE WHEN c.error_code <> '' THEN c.error_message END`

  /** Metadata are only named when they change: what the table derives of them would be worked out anew each time. */
  const updateStatuses = (rows: StatusRows, at: string) => sql`
    UPDATE runs ${setStatus(at)} FROM (${changedStatuses(rows)}) AS c WHERE runs.id = c.run_id`

  /** The same for runs whose metadata change with it; in the order of the rows. */
  const updateEnds = (rows: StatusRows, metadata: ReadonlyArray<string>, at: string) => sql`
    UPDATE runs ${setStatus(at)}, metadata = m.metadata
    FROM (${changedStatuses(rows)}) AS c,
         unnest(${rows.runId}::text[]::uuid[], ${metadata}::text[]::json[]) AS m (run_id, metadata)
    WHERE runs.id = c.run_id AND m.run_id = c.run_id`

  const updateSessions = (rows: SessionRows) => sql`
    UPDATE sessions
    SET session_state = coalesce(nullif(c.state, ''), session_state), last_seen_at = c.at, updated_at = c.at,
        stream_connected_at = coalesce(nullif(c.connected_at, '')::timestamptz, stream_connected_at),
        stream_disconnected_at = coalesce(nullif(c.disconnected_at, '')::timestamptz, stream_disconnected_at)
    FROM unnest(${rows.runId}::text[]::uuid[], ${rows.at}::text[]::timestamptz[], ${rows.state}::text[],
                ${rows.connectedAt}::text[], ${rows.disconnectedAt}::text[])
         AS c (run_id, at, state, connected_at, disconnected_at)
    WHERE sessions.run_id = c.run_id`

  const markGaps = (runIds: ReadonlyArray<string>) =>
    sql`UPDATE runs SET history_gap = true WHERE id = ANY(${runIds}::text[]::uuid[])`

  /**
   * Where a transaction stands of which nobody has heard the end. Undefined when the server knows nothing of it: it is
   * too long ago, or the server has crashed since and forgotten that it gave the id away.
   */
  const transactionStatus = (transactionId: string) =>
    sql<{ readonly status: string | null }>`SELECT pg_xact_status(${transactionId}::text::xid8) AS status`.pipe(
      Effect.map(([row]) => row?.status ?? undefined),
      Effect.catchIf(isBadArgument, () => Effect.undefined)
    )

  /** Whether the log holds this very event. */
  const holds = (event: CommittedEvent) =>
    Effect.map(
      sql`SELECT FROM canonical_events WHERE seq = ${BigInt(event.seq)} AND event::text = ${event.json}`,
      (rows) => rows.length > 0
    )

  return {
    transactionStatus,
    holds,
    open: makeOpening(sql),
    existing,
    forgetMessages,
    allocate,
    writeEvents,
    write,
    readMetadata,
    updateStatuses,
    updateEnds,
    updateSessions,
    markGaps
  } as const
})

/** The statements of an append, all to be run inside its transaction. */
export class InsertEvents extends Context.Service<InsertEvents, Effect.Success<typeof make>>()(
  "runplane/control-plane/InsertEvents"
) {
  static readonly layer = Layer.effect(InsertEvents, make)
}
