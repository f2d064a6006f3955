import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { median } from "../Statistics.ts"
import { countRows, type WrittenRows } from "./WrittenRows.ts"

/** Rows of one INSERT. */
const BATCH_ROWS = 500
const NANOS_PER_SECOND = 1e9

/** The insertion is over in a tenth of a second, so it is done several times and the median counts. */
const ROUNDS = 5

/** Tables with the columns, indexes and constraints of the real ones. */
const TABLES = ["canonical_events", "raw_events", "outbound_messages"] as const

/**
 * The ceiling that the service is measured against: the very rows that it wrote, inserted by the same SQL client on one
 * connection into empty copies of the tables, 500 rows a statement, each statement its own transaction. No decoding, no
 * folding, no locks, no heads, no projections. Answers rows per second.
 */
export const measureRawCeiling = Effect.fn("RawCeiling.measure")(function* (rows: WrittenRows) {
  const sql = yield* PgClient.PgClient
  yield* sql`DROP SCHEMA IF EXISTS bench_raw CASCADE`.unprepared
  yield* sql`CREATE SCHEMA bench_raw`.unprepared
  for (const table of TABLES) {
    yield* sql`CREATE TABLE ${sql(`bench_raw.${table}`)} (LIKE ${sql(`public.${table}`)} INCLUDING ALL)`.unprepared
  }
  const rates: Array<number> = []
  for (let round = 0; round < ROUNDS; round++) {
    yield* sql`TRUNCATE bench_raw.canonical_events, bench_raw.raw_events, bench_raw.outbound_messages`
    const started = yield* Clock.monotonicTimeNanos
    yield* insertAll(rows)
    const ended = yield* Clock.monotonicTimeNanos
    rates.push(countRows(rows) / (Number(ended - started) / NANOS_PER_SECOND))
  }
  return median(rates)
})

const insertAll = Effect.fnUntraced(function* ({ events, messages, raw }: WrittenRows) {
  const sql = yield* PgClient.PgClient
  for (const batch of batches(events)) {
    yield* sql`
      INSERT INTO bench_raw.canonical_events (seq, run_id, index, ts, type, event, seed)
      SELECT * FROM unnest(
        ${batch.map((row) => row.seq)}::bigint[], ${batch.map((row) => row.run_id)}::text[]::uuid[],
        ${batch.map((row) => row.index)}::int[], ${batch.map((row) => row.ts)}::text[]::timestamptz[],
        ${batch.map((row) => row.type)}::text[], ${batch.map((row) => row.event)}::text[]::json[],
        ${batch.map((row) => `\\x${row.seed}`)}::text[]::bytea[])`
  }
  for (const batch of batches(raw)) {
    yield* sql`
      INSERT INTO bench_raw.raw_events (run_id, seq, ts, kind, source_name, payload, seed)
      SELECT * FROM unnest(
        ${batch.map((row) => row.run_id)}::text[]::uuid[], ${batch.map((row) => row.seq)}::int[],
        ${batch.map((row) => row.ts)}::text[]::timestamptz[], ${batch.map((row) => row.kind)}::text[],
        ${batch.map((row) => row.source_name)}::text[], ${batch.map((row) => row.payload)}::text[]::json[],
        ${batch.map((row) => `\\x${row.seed}`)}::text[]::bytea[])`
  }
  for (const batch of batches(messages)) {
    yield* sql`
      INSERT INTO bench_raw.outbound_messages (run_id, message_id, accepted, message)
      SELECT * FROM unnest(
        ${batch.map((row) => row.run_id)}::text[]::uuid[], ${batch.map((row) => row.message_id)}::text[],
        ${batch.map((row) => row.accepted)}::bool[], ${batch.map((row) => row.message)}::text[]::json[])`
  }
})

const batches = function* <A>(rows: ReadonlyArray<A>) {
  for (let from = 0; from < rows.length; from += BATCH_ROWS) yield rows.slice(from, from + BATCH_ROWS)
}
