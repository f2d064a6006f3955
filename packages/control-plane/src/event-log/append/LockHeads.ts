import type * as PgClient from "@effect/sql-pg/PgClient"
import { isInside } from "@runplane/database"
import { RunId, type RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import { idRows } from "../../platform/postgres/KeptPlans.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { chainedEnd, type ProofRow, type StoredEnd } from "../seal/HeadProof.ts"
import type { LockedRun } from "./AppendRequest.ts"

/** The end of a locked run. */
export interface LockedHead extends StoredEnd {
  readonly run: LockedRun
  readonly lastSeq: number
  readonly lastRawSeq: number
  /** Of the last event, or of the run's creation before the first; ISO-8601. */
  readonly lastTs: string
  readonly cursor: number
  /** Number of the rebuilds of the stored projection. */
  readonly revision: number
  /** The transaction that holds the lock, by PostgreSQL's 64-bit id. */
  readonly transactionId: string
}

export interface MessageRow {
  readonly run_id: string
  readonly message_id: string
  readonly accepted: boolean
  readonly message: string
}

/** The first statement of a group of appends. */
export interface Opening {
  readonly runIds: ReadonlyArray<string>
  /** Of these runs and others; only those of locked runs are stored. */
  readonly messages: ReadonlyArray<MessageRow>
  /** How many numbers of the log to allocate at once; `allocate` allocates more. */
  readonly count: number
}

export interface Opened {
  /** Of the runs that are locked now. */
  readonly heads: ReadonlyMap<string, LockedHead>
  /** Messages that were new, as `runId messageId`. */
  readonly fresh: Map<string, StoredAs>
  /** The allocated numbers, ascending; none when no run could be locked. */
  readonly seqs: ReadonlyArray<number>
  /** The time of the database, Unix milliseconds; undefined when no run could be locked. */
  readonly databaseTime: number | undefined
}

interface OpenedRow extends LockRow {
  /** In one of the rows. */
  readonly seqs: ReadonlyArray<bigint> | null
  /** Ids of the run's new messages, each behind a mark. */
  readonly fresh: ReadonlyArray<string>
  readonly database_time: number
}

interface LockRow extends ProofRow {
  readonly id: string
  readonly status: RunStatus
  readonly mode_name: string
  readonly runtime_kind: string
  readonly runtime_session_id: string
  readonly trace_id: string
  readonly span_id: string
  readonly created_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date | null
  readonly last_seq: bigint
  readonly last_ts: Date | null
  readonly stream_cursor: bigint
  readonly projection_revision: number
  readonly transaction_id: string
  readonly status_revision: number
}

/** How a message was stored: new, or accepted in the row of its rejection. */
export type StoredAs = "accepted" | "rejected" | "accepted instead"

/** Marks of new messages. */
const MARKS: Readonly<Record<string, StoredAs>> = { "+": "accepted", "-": "rejected", "!": "accepted instead" }

const MESSAGE_COLUMNS = { run_id: "uuid", message_id: "text", accepted: "bool", message: "json" } as const

const NOTHING = Statement.fragment([])

/** The statement with which the transaction of a group of appends begins. */
export const makeOpening = (sql: PgClient.PgClient) => {
  /**
   * Stores the messages of the locked runs that the log does not have yet, in the order of the rows, which their
   * ordinals keep. A rejected message leaves its id free, so its later acceptance is new and takes its row; `xmax` is
   * zero in an inserted row only.
   */
  const insertMessages = (rows: ReadonlyArray<MessageRow>) => sql`
    INSERT INTO outbound_messages (run_id, message_id, accepted, message)
    SELECT m.run_id, m.message_id, m.accepted, m.message
    FROM ${unnestRows(sql, rows, MESSAGE_COLUMNS, { ordinal: true })} AS m JOIN head ON head.id = m.run_id
    ORDER BY m.ordinal
    ON CONFLICT (run_id, message_id) DO UPDATE SET accepted = true, message = excluded.message
    WHERE excluded.accepted AND NOT outbound_messages.accepted
    RETURNING run_id, message_id, CASE WHEN xmax <> 0 THEN '!' WHEN accepted THEN '+' ELSE '-' END AS mark`

  /**
   * Begins an append with one statement: locks the runs that no other transaction has locked, then stores their
   * messages and allocates numbers of the log for them. The other runs are left out like unknown ones, because a wait
   * for one would stop the whole group. Numbers are allocated once all runs are locked, so that the order of a run's
   * events is the order of its commits. Outside of the transaction the statement does nothing, so it may be sent with
   * its BEGIN. The later statements of the transaction find their runs by the index, also where their plans were made
   * when the tables were empty and a sequential scan looked cheapest.
   */
  const open = ({ count, messages, runIds }: Opening): Effect.Effect<Opened, SqlError> => {
    const hasMessages = messages.length > 0
    const seqs = sql`
      CASE WHEN row_number() OVER () = 1
           THEN (SELECT allocate_event_seqs(${count}) FROM (SELECT count(*) FROM head) AS locked) END`
    const fresh = sql`
      ARRAY(SELECT mark || message_id FROM fresh WHERE fresh.run_id = head.id)`
    return Effect.map(
      sql<OpenedRow>`
        WITH head AS MATERIALIZED (
          SELECT locked.* FROM ${idRows(sql, [...runIds].sort())} AS requested (id) CROSS JOIN LATERAL (
            SELECT r.id, r.status, r.mode_name, r.runtime_kind, r.runtime_session_id, r.trace_id, r.span_id,
                   r.created_at, r.started_at, r.ended_at, r.status_revision, h.last_seq, h.last_index, h.last_raw_seq,
                   h.last_ts, h.stream_cursor, h.projection_revision, h.chain_head, h.sealed_index, h.sealed_head,
                   h.proven_after, h.frames_after, h.frames_head, h.head_mac, h.chain_version
            FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE r.id = requested.id AND ${isInside(sql)}
            FOR NO KEY UPDATE OF r, h SKIP LOCKED
          ) AS locked
        )${hasMessages ? sql`, fresh AS (${insertMessages(messages)})` : NOTHING}
        SELECT id::text AS id, status, mode_name, runtime_kind, runtime_session_id, trace_id, span_id,
               created_at, started_at, ended_at, status_revision, last_seq, last_index, last_raw_seq, last_ts,
               stream_cursor, projection_revision, pg_current_xact_id()::text AS transaction_id,
               extract(epoch FROM clock_timestamp())::float8 * 1000 AS database_time,
               encode(chain_head, 'hex') AS chain_head, sealed_index, encode(sealed_head, 'hex') AS sealed_head,
               proven_after, frames_after, encode(frames_head, 'hex') AS frames_head,
               encode(head_mac, 'hex') AS head_mac, chain_version,
               ${count > 0 ? seqs : sql`NULL::bigint[]`} AS seqs, ${hasMessages ? fresh : sql`'{}'::text[]`} AS fresh,
               set_config('enable_seqscan', 'off', true) AS seqscan
        FROM head`,
      (rows) => ({
        heads: new Map(rows.map((row) => [row.id, toLockedHead(row)])),
        fresh: new Map(
          rows.flatMap(({ fresh: keys, id }) =>
            keys.map((key): [string, StoredAs] => [`${id} ${key.slice(1)}`, MARKS[key.charAt(0)] ?? "accepted"])
          )
        ),
        seqs: rows.flatMap(({ seqs }) => seqs ?? []).map(Number),
        databaseTime: rows[0]?.database_time
      })
    )
  }

  return open
}

const toLockedHead = (row: LockRow): LockedHead => ({
  run: {
    id: RunId.make(row.id),
    status: row.status,
    statusRevision: row.status_revision,
    modeName: row.mode_name,
    runtimeKind: row.runtime_kind,
    runtimeSessionId: row.runtime_session_id,
    traceId: row.trace_id,
    spanId: row.span_id,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString(),
    endedAt: row.ended_at?.toISOString()
  },
  ...chainedEnd(row.id, row),
  lastSeq: Number(row.last_seq),
  lastRawSeq: row.last_raw_seq,
  lastTs: (row.last_ts ?? row.created_at).toISOString(),
  cursor: Number(row.stream_cursor),
  revision: row.projection_revision,
  transactionId: row.transaction_id
})
