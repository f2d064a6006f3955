import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"

/** The rows of the three high-volume tables, as texts that PostgreSQL takes back. */
export interface WrittenRows {
  readonly events: ReadonlyArray<{
    readonly seq: bigint
    readonly run_id: string
    readonly index: number
    readonly ts: string
    readonly type: string
    readonly event: string
    /** Hexadecimal, as that of a frame. */
    readonly seed: string
    /** Id of the transaction that wrote the row. */
    readonly writer: string
  }>
  readonly raw: ReadonlyArray<{
    readonly run_id: string
    readonly seq: number
    readonly ts: string
    readonly kind: string
    readonly source_name: string
    readonly payload: string
    readonly seed: string
  }>
  readonly messages: ReadonlyArray<{
    readonly run_id: string
    readonly message_id: string
    readonly accepted: boolean
    readonly message: string
  }>
}

/** How many events each run has now. */
export const eventCounts = Effect.fn("WrittenRows.eventCounts")(function* (runIds: ReadonlyArray<string>) {
  const sql = yield* PgClient.PgClient
  const heads = yield* sql<{ readonly run_id: string; readonly last_index: number }>`
    SELECT run_id::text AS run_id, last_index FROM run_heads WHERE run_id = ANY(${runIds}::text[]::uuid[])`
  return new Map(heads.map((head) => [head.run_id, head.last_index]))
})

/**
 * What the service wrote for these runs, without the events that they had before (`eventCounts`), in the order of the
 * writing.
 */
export const readWrittenRows = Effect.fn("WrittenRows.read")(function* (before: ReadonlyMap<string, number>) {
  const sql = yield* PgClient.PgClient
  const runIds = [...before.keys()]
  const events = yield* sql<WrittenRows["events"][number]>`
    SELECT e.seq, e.run_id::text AS run_id, e.index, e.ts::text AS ts, e.type, e.event::text AS event,
           encode(e.seed, 'hex') AS seed,
           e.xmin::text AS writer
    FROM canonical_events e
    JOIN unnest(${runIds}::text[]::uuid[], ${[...before.values()]}::int[]) AS b (run_id, index)
      ON e.run_id = b.run_id AND e.index > b.index
    ORDER BY e.seq`
  const raw = yield* sql<WrittenRows["raw"][number]>`
    SELECT run_id::text AS run_id, seq, ts::text AS ts, kind, source_name, payload::text AS payload,
           encode(seed, 'hex') AS seed
    FROM raw_events WHERE run_id = ANY(${runIds}::text[]::uuid[]) ORDER BY ts, run_id, seq`
  const messages = yield* sql<WrittenRows["messages"][number]>`
    SELECT run_id::text AS run_id, message_id, accepted, message::text AS message
    FROM outbound_messages WHERE run_id = ANY(${runIds}::text[]::uuid[]) ORDER BY ordinal`
  const rows: WrittenRows = { events, raw, messages }
  return rows
})

export const countRows = ({ events, messages, raw }: WrittenRows): number =>
  events.length + raw.length + messages.length
