import * as PgClient from "@effect/sql-pg/PgClient"
import { RunId, type Telemetry } from "@runplane/domain"
import { telemetryKey } from "@runplane/otlp"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { batched } from "../../platform/postgres/Batched.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

/** Most rows of a trace or run that one read returns, and about the most bytes of rows of all its callers. */
export const ROWS_PER_READ = 2_000
const BYTES_PER_READ = 2 * 1024 * 1024
/** About the most bytes of rows that one statement stores. */
const BYTES_PER_STORE = 8 * 1024 * 1024
/** Spans and log records of a run, and their bytes; what is beyond is not stored. */
export const MAX_SPANS_PER_RUN = 100_000
export const MAX_BYTES_PER_RUN = 512 * 1024 * 1024
/** Traces or runs that share a read. */
export const KEYS_PER_READ = 64

/** A trace of a source, which is the name of the exporter's key. */
export interface TraceRef {
  readonly source: string
  readonly traceId: string
}

/** A trace as one text; ids of traces have no spaces. */
export const traceKey = ({ source, traceId }: TraceRef): string => `${traceId} ${source}`
export const traceOfKey = (key: string): TraceRef => ({ traceId: key.slice(0, 32), source: key.slice(33) })

/** A span or log record that is to be stored. */
export interface SpanInboxEntry {
  readonly traceId: string
  readonly spanId: string
  readonly kind: string
  readonly bytes: number
  /** JSON. */
  readonly span: string
}

/** The row of a span or log record. */
export const spanInboxEntry = (telemetry: Telemetry): SpanInboxEntry => {
  const { spanId, traceId } = telemetry
  const span = JSON.stringify(telemetry)
  return { traceId, spanId, kind: kindOf(telemetry), bytes: Buffer.byteLength(span), span }
}

/** A received span or log record. */
export interface SpanInboxRow extends TraceRef {
  readonly spanId: string
  readonly kind: string
  /** Position in the span inbox; later rows have larger ones, but may be visible earlier. */
  readonly ordinal: bigint
  /** Unix milliseconds. */
  readonly receivedAt: number
  /** The session that a token of the request allows to join. */
  readonly joins: string | undefined
  readonly telemetry: Telemetry
}

/** Waiting rows of one trace. */
export interface WaitingTrace extends TraceRef {
  /** Undefined before the trace is bound to a run. */
  readonly runId: RunId | undefined
  readonly rows: number
}

/** What waits of one source. */
export interface SourceSize {
  readonly source: string
  readonly rows: number
  readonly bytes: number
  /** Seconds since its oldest row was received. */
  readonly lagSeconds: number
}

/** What waits in the span inbox of all processes. */
export interface SpanInboxSize {
  readonly rows: number
  readonly bytes: number
  /** The same of each source with rows. */
  readonly sources: ReadonlyArray<SourceSize>
  /** Seconds since the oldest row was received; 0 when the span inbox is empty. */
  readonly lagSeconds: number
}

export interface RowsRead {
  readonly rows: ReadonlyArray<SpanInboxRow>
  /** Whether more rows wait. */
  readonly isCut: boolean
}

export interface StoredEntries {
  /** Entries that the span inbox did not have. */
  readonly stored: number
  /** Entries of runs that have all the spans and log records they may have: they are not stored. */
  readonly beyond: number
  /** Entries of traces whose run was deleted: they are not stored. */
  readonly deleted: number
}

const NOTHING_STORED: StoredEntries = { stored: 0, beyond: 0, deleted: 0 }

/** Entries in the order of their key, which all statements of a request keep, in parts of some bytes. */
const partsOf = (entries: ReadonlyArray<SpanInboxEntry>): ReadonlyArray<ReadonlyArray<SpanInboxEntry>> => {
  const parts: Array<Array<SpanInboxEntry>> = []
  let left = 0
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total <= BYTES_PER_STORE) return [entries]
  for (const entry of entries.toSorted(byKey)) {
    const last = parts.at(-1)
    if (last !== undefined && entry.bytes <= left) last.push(entry)
    else {
      parts.push([entry])
      left = BYTES_PER_STORE
    }
    left -= entry.bytes
  }
  return parts
}

const byKey = (one: SpanInboxEntry, other: SpanInboxEntry): number => (keyOf(one) < keyOf(other) ? -1 : 1)
const keyOf = ({ kind, spanId, traceId }: SpanInboxEntry): string => `${traceId} ${spanId} ${kind}`

/** A run, and the ordinals of its rows that are not to be read. */
export interface RunRows {
  readonly runId: RunId
  readonly without: Iterable<bigint>
}

/** Spans and log records that are received and have no run yet (docs/reference/ingest.md#exactly-once). */
export class SpanInbox extends Context.Service<
  SpanInbox,
  {
    /** Stores what the span inbox does not have, in one statement. */
    readonly store: (
      source: string,
      entries: ReadonlyArray<SpanInboxEntry>,
      /** The session that a token of the request allows the entries to join. */
      joins?: string
    ) => Effect.Effect<StoredEntries, SqlError>
    readonly size: Effect.Effect<SpanInboxSize, SqlError>
    readonly waiting: Effect.Effect<ReadonlyArray<WaitingTrace>, SqlError>
    /** The first rows of a trace. Callers that read at the same time share a statement. */
    readonly ofTrace: (trace: TraceRef) => Effect.Effect<RowsRead, SqlError>
    /** The same of a run's traces, without the rows that the caller has. */
    readonly ofRun: (run: RunRows) => Effect.Effect<RowsRead, SqlError>
    readonly remove: (rows: ReadonlyArray<SpanInboxRow>) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/SpanInbox") {
  static readonly layer = Layer.effect(
    SpanInbox,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const storePart = (source: string, entries: ReadonlyArray<SpanInboxEntry>, joins: string | undefined) => {
        const rows = entries.map(({ bytes, kind, span, spanId, traceId }) => ({
          trace_id: traceId,
          span_id: spanId,
          kind,
          bytes,
          span
        }))
        // In the order of the key: two requests with the same spans must not wait for each other.
        return Effect.map(
          sql<StoredEntries>`
            WITH full_trace AS (
              SELECT t.trace_id FROM otlp_traces t
              WHERE t.source = ${source} AND t.trace_id = ANY(${[...new Set(rows.map((row) => row.trace_id))]}::text[])
                AND (EXISTS (SELECT FROM otlp_seen s WHERE s.run_id = t.run_id AND s.position >= ${MAX_SPANS_PER_RUN - 1})
                  OR (SELECT sum(o.bytes) FROM otlp_traces o WHERE o.run_id = t.run_id) >= ${MAX_BYTES_PER_RUN}::bigint)
            ), given AS (
              SELECT r.*, r.trace_id IN (SELECT trace_id FROM full_trace) AS beyond,
                     EXISTS (SELECT FROM deleted_traces d WHERE d.source = ${source} AND d.trace_id = r.trace_id) AS deleted
              FROM ${unnestRows(sql, rows, ROW_COLUMNS)} AS r
            ), stored AS (
              INSERT INTO otlp_inbox (source, trace_id, span_id, kind, received_at, bytes, span, joins)
              SELECT ${source}, trace_id, span_id, kind, now(), bytes, span, ${joins ?? null}::text
              FROM given WHERE NOT beyond AND NOT deleted ORDER BY trace_id, span_id, kind
              ON CONFLICT DO NOTHING RETURNING 1
            )
            SELECT (SELECT count(*)::int FROM stored) AS stored,
                   (SELECT count(*)::int FROM given WHERE beyond AND NOT deleted) AS beyond,
                   (SELECT count(*)::int FROM given WHERE deleted) AS deleted`,
          ([row]) => row ?? NOTHING_STORED
        )
      }

      /** In parts, each of which is copied for its statement: memory does not have twice a large request. */
      const store = Effect.fn("SpanInbox.store")(
        (source: string, entries: ReadonlyArray<SpanInboxEntry>, joins?: string) => {
          const parts = partsOf(entries)
          const [first = [], ...others] = parts
          if (others.length === 0) return storePart(source, first, joins)
          const all = Effect.forEach(parts, (part) => storePart(source, part, joins))
          return Effect.map(sql.withTransaction(all), (results) =>
            results.reduce(
              (sum, part) => ({
                stored: sum.stored + part.stored,
                beyond: sum.beyond + part.beyond,
                deleted: sum.deleted + part.deleted
              }),
              NOTHING_STORED
            )
          )
        }
      )

      const size = Effect.map(
        sql<SourceSize>`
          SELECT source, count(*)::int AS rows, sum(bytes)::float8 AS bytes,
                 extract(epoch FROM now() - min(received_at))::float8 AS "lagSeconds"
          FROM otlp_inbox GROUP BY source`,
        (sources): SpanInboxSize => ({
          rows: sources.reduce((sum, { rows }) => sum + rows, 0),
          bytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
          lagSeconds: sources.reduce((most, { lagSeconds }) => Math.max(most, lagSeconds), 0),
          sources
        })
      ).pipe(Effect.withTracerEnabled(false))

      const waiting = Effect.map(
        sql<{
          readonly source: string
          readonly trace_id: string
          readonly run_id: string | null
          readonly rows: number
        }>`
          SELECT i.source, i.trace_id, t.run_id::text AS run_id, i.rows
          FROM (SELECT source, trace_id, count(*)::int AS rows FROM otlp_inbox GROUP BY source, trace_id) AS i
          LEFT JOIN otlp_traces t ON t.source = i.source AND t.trace_id = i.trace_id`,
        (rows) =>
          rows.map(
            ({ rows, run_id, source, trace_id }): WaitingTrace => ({
              source,
              traceId: trace_id,
              runId: run_id === null ? undefined : RunId.make(run_id),
              rows
            })
          )
      ).pipe(Effect.withTracerEnabled(false))

      /** The rows of each key. `keys` has their numbers from 1, in their order; `from` selects for one key. */
      const readRows = (count: number, keys: Fragment, from: Fragment) =>
        Effect.map(
          sql<StoredRow>`
            SELECT number, source, trace_id, span_id, kind, ordinal, received_at, joins, span::text AS span, found FROM (
              SELECT k.number::int AS number, i.*, sum(i.bytes) OVER (ORDER BY k.number, i.ordinal) - i.bytes AS before,
                     count(*) OVER ()::int AS found
              FROM ${keys} AS k CROSS JOIN LATERAL (${from} ORDER BY i.ordinal LIMIT ${ROWS_PER_READ}) AS i
            ) AS measured WHERE before < ${BYTES_PER_READ} ORDER BY number, ordinal`,
          (rows): ReadonlyArray<RowsRead> => {
            const last = rows.length < (rows[0]?.found ?? 0) ? (rows.at(-1)?.number ?? 0) : count + 1
            const byKey = Map.groupBy(rows, ({ number }) => number)
            return Array.from({ length: count }, (_, index) => {
              const own = byKey.get(index + 1) ?? []
              return { rows: own.map(toSpanInboxRow), isCut: own.length === ROWS_PER_READ || index + 1 >= last }
            })
          }
        ).pipe(Effect.withTracerEnabled(false))

      const readTraces = batched<TraceRef, RowsRead>(sql, {
        isShared: true,
        most: KEYS_PER_READ,
        run: (traces) =>
          readRows(
            traces.length,
            unnestRows(
              sql,
              traces.map(({ source, traceId }, index) => ({ number: index + 1, source, trace_id: traceId })),
              { number: "int", source: "text", trace_id: "text" }
            ),
            sql`SELECT i.* FROM otlp_inbox i WHERE i.source = k.source AND i.trace_id = k.trace_id`
          )
      })
      const ofTrace = Effect.fn("SpanInbox.ofTrace")((trace: TraceRef) => readTraces(trace))

      const readRuns = batched<RunRows, RowsRead>(sql, {
        isShared: true,
        most: KEYS_PER_READ,
        run: (runs) =>
          readRows(
            runs.length,
            unnestRows(
              sql,
              runs.map(({ runId }, index) => ({ number: index + 1, run_id: runId })),
              { number: "int", run_id: "uuid" }
            ),
            sql`SELECT i.* FROM otlp_traces t JOIN otlp_inbox i ON i.source = t.source AND i.trace_id = t.trace_id
                WHERE t.run_id = k.run_id AND NOT EXISTS (
                  SELECT FROM unnest(${runs.flatMap(({ without }) => [...without])}::int8[]) AS w (ordinal)
                  WHERE w.ordinal = i.ordinal)`
          )
      })
      const ofRun = Effect.fn("SpanInbox.ofRun")((run: RunRows) => readRuns(run))

      const remove = Effect.fn("SpanInbox.remove")((rows: ReadonlyArray<SpanInboxRow>) =>
        Effect.asVoid(removal(sql, rows))
      )

      return SpanInbox.of({ store, size, waiting, ofTrace, ofRun, remove })
    })
  )
}

/** `span`, or `log:` and the hash of the record: its key without the ids, which have columns of their own. */
const kindOf = (telemetry: Telemetry): string =>
  telemetryKey(telemetry).replace(`:${telemetry.traceId}:${telemetry.spanId}`, "")

const ROW_COLUMNS = { trace_id: "text", span_id: "text", kind: "text", bytes: "int", span: "json" } as const
const KEY_COLUMNS = { source: "text", trace_id: "text", span_id: "text", kind: "text" } as const

const keyRow = ({ kind, source, spanId, traceId }: SpanInboxRow) => ({
  source,
  trace_id: traceId,
  span_id: spanId,
  kind
})

/** The statement that removes rows from the span inbox; it returns their traces and bytes. */
export const removal = (sql: PgClient.PgClient, rows: ReadonlyArray<SpanInboxRow>) =>
  sql`DELETE FROM otlp_inbox i USING ${unnestRows(sql, rows.map(keyRow), KEY_COLUMNS)} AS k
      WHERE i.source = k.source AND i.trace_id = k.trace_id AND i.span_id = k.span_id AND i.kind = k.kind
      RETURNING i.source, i.trace_id, i.bytes`

interface StoredRow {
  /** Of its key. */
  readonly number: number
  readonly source: string
  readonly trace_id: string
  readonly span_id: string
  readonly kind: string
  readonly ordinal: bigint
  readonly received_at: Date
  readonly joins: string | null
  readonly span: string
  /** Rows before the bound of bytes. */
  readonly found: number
}

const toSpanInboxRow = (row: StoredRow): SpanInboxRow => ({
  source: row.source,
  traceId: row.trace_id,
  spanId: row.span_id,
  kind: row.kind,
  ordinal: row.ordinal,
  receivedAt: row.received_at.getTime(),
  joins: row.joins ?? undefined,
  // The receiver wrote it.
  telemetry: JSON.parse(row.span)
})
