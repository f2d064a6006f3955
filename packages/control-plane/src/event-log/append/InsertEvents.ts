import * as PgClient from "@effect/sql-pg/PgClient"
import { isBadArgument } from "@runplane/database"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Statement from "effect/sql/Statement"
import { insertPending, type PendingEntry } from "../../platform/ledger/PendingEntries.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import type { CommittedEvent } from "../CommittedEvent.ts"
import { makeOpening, type StoredAs } from "./LockHeads.ts"

/** An event to be stored; its columns. */
interface EventRow {
  readonly seq: number
  readonly run_id: string
  readonly index: number
  readonly ts: string
  readonly type: string
  readonly event: string
  /** Of the salts of its texts; null in version 1 of the chain. */
  readonly seed: string | null
}

/** A raw frame to be stored; its columns. */
interface RawRow {
  readonly run_id: string
  readonly seq: number
  readonly ts: string
  readonly kind: string
  readonly source_name: string
  readonly payload: string
  /** As that of an event. */
  readonly seed: string | null
}

/** Events and frames to be written. */
export interface EventRows {
  readonly events: Array<EventRow>
  readonly raw: Array<RawRow>
  /** Of the texts in it. */
  characters: number
}

/** The end of a run's log, with its metrics. Hashes are hexadecimal. */
export interface HeadRow {
  readonly run_id: string
  readonly last_seq: number
  readonly last_index: number
  readonly last_raw_seq: number
  readonly last_ts: string
  readonly cursor: number
  readonly metrics: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cost_usd: number
  readonly guessed_usd: number
  readonly signal_count: number
  readonly decision_count: number
  readonly intent: string | null
  /** Head of the hash chain after `last_index`. */
  readonly chain: string
  /** Whether a seal over this head is among the seals. */
  readonly sealed: boolean
  readonly proven_after: number
  readonly frames_after: number
  /** Head of the chain of the frames after `last_raw_seq`. */
  readonly frames: string
  readonly mac: string | null
}

/** The rows that a transaction writes once for each of its runs. */
export interface RunRows {
  readonly heads: Array<HeadRow>
  /** Checkpoints of projections: of the runs for which one is due. */
  readonly projections: Array<{ readonly run_id: string; readonly last_seq: number; readonly state: string }>
  /** Seals of ended runs, with the number of events that each covers. */
  readonly seals: Array<{ readonly run_id: string; readonly events: number; readonly seal: string }>
  /** The entries of the seals in the ledger. */
  readonly pending: Array<PendingEntry>
}

/** A change of a run's status. */
export interface StatusRow {
  readonly run_id: string
  readonly status: string
  readonly revision: number
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly error_code: string | null
  readonly error_message: string | null
}

/** A change to `completed` or `failed`, with the run's metadata, which gain the results of its log. */
interface EndRow extends StatusRow {
  readonly metadata: string
}

/** Changes of a run's session; null for a column that does not change. */
export interface SessionRow {
  readonly run_id: string
  readonly at: string
  readonly state: string | null
  readonly connected_at: string | null
  readonly disconnected_at: string | null
}

export const noEventRows = (): EventRows => ({ events: [], raw: [], characters: 0 })

export const noRunRows = (): RunRows => ({ heads: [], projections: [], seals: [], pending: [] })

const UUID_LENGTH = 36

const joined = Statement.join("", false)

const EVENT_COLUMNS = {
  seq: "bigint",
  run_id: "uuid",
  index: "int",
  ts: "timestamptz",
  type: "text",
  event: "json",
  seed: "bytea"
} as const

const RAW_COLUMNS = {
  run_id: "uuid",
  seq: "int",
  ts: "timestamptz",
  kind: "text",
  source_name: "text",
  payload: "json",
  seed: "bytea"
} as const

const STATUS_COLUMNS = {
  run_id: "uuid",
  status: "text",
  revision: "int",
  started_at: "timestamptz",
  ended_at: "timestamptz",
  error_code: "text",
  error_message: "text"
} as const

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient

  /** The ids of those runs that exist, locked or not. */
  const existing = (runIds: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly id: string }>`
        SELECT id::text AS id FROM runs WHERE id = ANY(${runIds}::text[]::uuid[])`,
      (rows) => new Set(rows.map(({ id }) => id))
    )

  /**
   * Removes messages of which no append has made use; the keys are those of `open`. The row of a rejection stays, and
   * leaves its id free again.
   */
  const forgetMessages = (fresh: ReadonlyMap<string, StoredAs>) => {
    const messages = [...fresh].map(([key, stored]) => ({
      run_id: key.slice(0, UUID_LENGTH),
      message_id: key.slice(UUID_LENGTH + 1),
      was_rejected: stored === "accepted instead"
    }))
    return sql`
      WITH unused AS (
        SELECT * FROM ${unnestRows(sql, messages, { run_id: "uuid", message_id: "text", was_rejected: "bool" })} AS k
      ), rejected_again AS (
        UPDATE outbound_messages m SET accepted = false FROM unused k
        WHERE k.was_rejected AND m.run_id = k.run_id AND m.message_id = k.message_id
      )
      DELETE FROM outbound_messages m USING unused k
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
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event, seed) ${unnestRows(sql, events, EVENT_COLUMNS)}`

  const insertRaw = ({ raw }: EventRows) => sql`
    INSERT INTO raw_events (run_id, seq, ts, kind, source_name, payload, seed) ${unnestRows(sql, raw, RAW_COLUMNS)}`

  /** Writes a part of the events and frames of a transaction, before `write` ends it. */
  const writeEvents = (rows: EventRows) => sql`WITH new_events AS (${insertEvents(rows)}) ${insertRaw(rows)}`

  const reactionsOf = (reactions: ReadonlyArray<Statement.Fragment>) =>
    joined(reactions.map((reaction, index) => sql`, ${sql.literal(`reaction_${index}`)} AS (${reaction})`))

  /** Writes the remaining events and the rows of the runs, and with the same statement the rows of the reactors. */
  const write = (
    rows: EventRows,
    { heads, pending, projections, seals }: RunRows,
    reactions: ReadonlyArray<Statement.Fragment>
  ) => sql`
    WITH new_events AS (${insertEvents(rows)}), new_raw AS (${insertRaw(rows)})${reactionsOf(reactions)}, head AS (
      SELECT * FROM ${unnestRows(sql, heads, {
        run_id: "uuid",
        last_seq: "bigint",
        last_index: "int",
        last_raw_seq: "int",
        last_ts: "timestamptz",
        cursor: "bigint",
        metrics: "json",
        prompt_tokens: "float8",
        completion_tokens: "float8",
        total_tokens: "float8",
        cost_usd: "float8",
        guessed_usd: "float8",
        signal_count: "int",
        decision_count: "int",
        intent: "text",
        chain: "text",
        sealed: "bool",
        proven_after: "int",
        frames_after: "int",
        frames: "text",
        mac: "text"
      })} AS h
    ), new_heads AS (
      UPDATE run_heads SET last_seq = head.last_seq, last_index = head.last_index, last_raw_seq = head.last_raw_seq,
                           last_ts = head.last_ts, stream_cursor = head.cursor,
                           chain_head = decode(head.chain, 'hex'),
                           sealed_head = CASE WHEN head.sealed THEN decode(head.chain, 'hex') ELSE run_heads.sealed_head END,
                           sealed_index = CASE WHEN head.sealed THEN head.last_index ELSE run_heads.sealed_index END,
                           proven_after = head.proven_after, frames_after = head.frames_after,
                           frames_head = decode(head.frames, 'hex'),
                           head_mac = decode(head.mac, 'hex')
      FROM head WHERE run_heads.run_id = head.run_id
    ), new_projections AS (
      INSERT INTO projections (run_id, last_seq, state, updated_at)
      SELECT *, now()
      FROM ${unnestRows(sql, projections, { run_id: "uuid", last_seq: "bigint", state: "json" })} AS p
      ON CONFLICT (run_id) DO UPDATE
      SET last_seq = excluded.last_seq, state = excluded.state, updated_at = excluded.updated_at
    ), new_seals AS (
      INSERT INTO run_seals (run_id, events, seal)
      ${unnestRows(sql, seals, { run_id: "uuid", events: "int", seal: "json" })}
    ), new_pending AS (${insertPending(sql, pending)})
    INSERT INTO run_metrics (run_id, metrics, prompt_tokens, completion_tokens, total_tokens, estimated_cost_usd,
                             guessed_cost_usd, signal_count, decision_count, intent)
    SELECT run_id, metrics, prompt_tokens, completion_tokens, total_tokens, cost_usd, guessed_usd, signal_count,
           decision_count, intent
    FROM head
    ON CONFLICT (run_id) DO UPDATE
    SET metrics = excluded.metrics, prompt_tokens = excluded.prompt_tokens,
        completion_tokens = excluded.completion_tokens, total_tokens = excluded.total_tokens,
        estimated_cost_usd = excluded.estimated_cost_usd, guessed_cost_usd = excluded.guessed_cost_usd, signal_count = excluded.signal_count,
        decision_count = excluded.decision_count, intent = excluded.intent`

  /** The metadata of the runs, as text. */
  const readMetadata = (runIds: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly id: string; readonly metadata: string }>`
        SELECT id::text AS id, metadata::text AS metadata FROM runs WHERE id = ANY(${runIds}::text[]::uuid[])`,
      (rows) => new Map(rows.map(({ id, metadata }) => [id, metadata]))
    )

  const setStatus = (at: string) => sql`
    SET status = c.status, status_revision = c.revision,
        updated_at = greatest(runs.updated_at, ${at}::timestamptz, c.started_at, c.ended_at),
        started_at = c.started_at, ended_at = c.ended_at, error_code = c.error_code, error_message = c.error_message`

  /** Metadata are named only when they change: the table would compute the generated columns again each time. */
  const updateStatuses = (rows: ReadonlyArray<StatusRow>, at: string) => sql`
    UPDATE runs ${setStatus(at)} FROM ${unnestRows(sql, rows, STATUS_COLUMNS, { unseen: true })} AS c
    WHERE runs.id = c.run_id`

  /** The same for runs whose metadata change with it. */
  const updateEnds = (rows: ReadonlyArray<EndRow>, at: string) => sql`
    UPDATE runs ${setStatus(at)}, metadata = c.metadata
    FROM ${unnestRows(sql, rows, { ...STATUS_COLUMNS, metadata: "json" }, { unseen: true })} AS c
    WHERE runs.id = c.run_id`

  const updateSessions = (rows: ReadonlyArray<SessionRow>) => sql`
    UPDATE sessions
    SET session_state = coalesce(c.state, session_state), last_seen_at = c.at, updated_at = c.at,
        stream_connected_at = coalesce(c.connected_at, stream_connected_at),
        stream_disconnected_at = coalesce(c.disconnected_at, stream_disconnected_at)
    FROM ${unnestRows(sql, rows, {
      run_id: "uuid",
      at: "timestamptz",
      state: "text",
      connected_at: "timestamptz",
      disconnected_at: "timestamptz"
    })} AS c
    WHERE sessions.run_id = c.run_id`

  const markGaps = (runIds: ReadonlyArray<string>) =>
    sql`UPDATE runs SET history_gap = true WHERE id = ANY(${runIds}::text[]::uuid[])`

  /**
   * The state of a transaction whose COMMIT was not answered. Undefined when the server does not know its id: the
   * transaction is too old, or the server has crashed since.
   */
  const transactionStatus = (transactionId: string) =>
    sql<{ readonly status: string | null }>`SELECT pg_xact_status(${transactionId}::text::xid8) AS status`.pipe(
      Effect.map(([row]) => row?.status ?? undefined),
      Effect.catchIf(isBadArgument, () => Effect.undefined)
    )

  /** Whether the log has exactly this event. */
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
