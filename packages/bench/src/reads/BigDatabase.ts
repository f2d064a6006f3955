import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type Pieces, piecesOf, type TemplateRun } from "./Template.ts"

/** A table of a run, with its columns that hold a place in the log or an id of their own. */
interface Table {
  readonly name: string
  readonly run: string
  readonly seqs?: ReadonlyArray<string>
  readonly ids?: ReadonlyArray<string>
}

const RUNS: Table = { name: "runs", run: "id" }
const TABLES: ReadonlyArray<Table> = [
  { name: "run_heads", run: "run_id", seqs: ["last_seq"] },
  { name: "sessions", run: "run_id" },
  { name: "canonical_events", run: "run_id", seqs: ["seq"] },
  { name: "raw_events", run: "run_id" },
  { name: "outbound_messages", run: "run_id", ids: ["id"] },
  { name: "projections", run: "run_id", seqs: ["last_seq"] },
  { name: "run_metrics", run: "run_id" },
  { name: "artifacts", run: "run_id", ids: ["id"] },
  { name: "event_marks", run: "run_id", seqs: ["seq"] },
  { name: "run_participants", run: "run_id" }
]

/** Runs that one statement copies. */
const RUNS_PER_STATEMENT = 2_000
/** Statements at the same time. */
const BACKENDS = 2
const DAY_SECONDS = 86_400

export interface CopyPlan {
  readonly runs: number
  /** The copies are spread evenly over the days before now. */
  readonly days: number
}

/**
 * Adds copies of one ended run to the database, all tables of it, on the server itself: every copy has an id, a
 * stretch of the log and times of its own, also inside the JSON texts, so state, events and heads of a copy agree as
 * those of the template do. The tables derived from the log are brought up to date at the end.
 */
export const copyRun = Effect.fn("BigDatabase.copyRun")(function* (runId: string, { days, runs }: CopyPlan) {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(FILL).unprepared
  const template = yield* readTemplate(runId)
  const copyRuns = yield* copier(template, RUNS)
  const copyOthers = yield* Effect.forEach(TABLES, (table) => copier(template, table))
  const length = template.lastSeq - template.firstSeq + 1
  const [{ last = 0n } = {}] = yield* sql<{ readonly last: bigint }>`SELECT max(seq) AS last FROM canonical_events`
  yield* sql`DROP TABLE IF EXISTS bench_copies`.unprepared
  yield* sql`CREATE UNLOGGED TABLE bench_copies (run text, first bigint, start timestamptz)`.unprepared
  for (let done = 0; done < runs; done += RUNS_PER_STATEMENT) {
    const count = Math.min(RUNS_PER_STATEMENT, runs - done)
    yield* sql`TRUNCATE bench_copies`
    yield* sql`
      INSERT INTO bench_copies
      SELECT gen_random_uuid()::text, ${last + 1n} + (n - 1) * ${BigInt(length)},
             date_trunc('milliseconds', now() - make_interval(secs => ${days * DAY_SECONDS}::float8 * (1 - n / ${runs + 1}::float8)))
      FROM generate_series(${BigInt(done + 1)}, ${BigInt(done + count)}) AS n`
    // The rows of the others refer to the runs.
    yield* copyRuns
    yield* Effect.forEach(copyOthers, (copy) => copy, { concurrency: BACKENDS, discard: true })
  }
  yield* sql`DROP TABLE bench_copies`.unprepared
  yield* sql`SELECT setval('event_seq', (SELECT max(seq) FROM canonical_events))`
  yield* sql`SELECT count_event_blocks(event_watermark())::text`
  const fold = sql<{ readonly done: boolean }>`SELECT fold_tallies(20000) AS done`
  yield* Effect.repeat(fold, { until: ([row]) => row?.done === true })
  yield* sql`VACUUM ANALYZE`.unprepared
  return { events: (runs + 1) * length, eventsOfRun: length }
})

const FILL = `
  CREATE OR REPLACE FUNCTION bench_fill(pieces text[], run text, first bigint, start timestamptz) RETURNS text
  LANGUAGE sql VOLATILE STRICT AS $$
    SELECT CASE WHEN cardinality(pieces) = 1 THEN pieces[1] ELSE (
      SELECT string_agg(
        CASE WHEN place % 2 = 1 THEN piece
             WHEN piece = 'R' THEN run
             WHEN piece = 'U' THEN gen_random_uuid()::text
             WHEN piece LIKE 'S%' THEN (first + substr(piece, 2)::bigint)::text
             ELSE to_char((start + substr(piece, 2)::float8 * interval '1 ms') AT TIME ZONE 'UTC',
                          'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END, '' ORDER BY place)
      FROM unnest(pieces) WITH ORDINALITY AS t (piece, place)) END
  $$`

const readTemplate = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly first: bigint; readonly last: bigint; readonly created_at: Date }>`
    SELECT (SELECT min(seq) FROM canonical_events WHERE run_id = r.id) AS first,
           (SELECT max(seq) FROM canonical_events WHERE run_id = r.id) AS last, created_at
    FROM runs r WHERE id = ${runId}::uuid`
  if (row === undefined) return yield* Effect.die(new Error(`there is no run ${runId}`))
  const template: TemplateRun = {
    runId,
    firstSeq: Number(row.first),
    lastSeq: Number(row.last),
    createdAt: row.created_at.getTime()
  }
  return template
})

interface Column {
  readonly name: string
  readonly type: string
}

/** Puts the template's rows of a table, cut into pieces, beside it; answers what copies them for all `bench_copies`. */
const copier = Effect.fnUntraced(function* (template: TemplateRun, table: Table) {
  const sql = yield* PgClient.PgClient
  const columns = yield* sql<Column>`
    SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
    WHERE attrelid = ${table.name}::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = '' AND attgenerated = ''`
  const texts = columns.map(({ name, type }) =>
    type === "timestamp with time zone"
      ? `to_char(${name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${name}`
      : `${name}::text AS ${name}`
  )
  const rows = yield* sql.unsafe<Record<string, string | null>>(
    `SELECT ${texts.join(", ")} FROM ${table.name} WHERE ${table.run} = '${template.runId}'`
  ).unprepared
  const pieces = ({ name }: Column, text: string | null): Pieces | null => {
    if (text === null) return null
    if (table.ids?.includes(name)) return ["", "U", ""]
    if (table.seqs?.includes(name)) return ["", `S${Number(text) - template.firstSeq}`, ""]
    return piecesOf(template, text)
  }
  const held = `bench_${table.name}`
  yield* sql.unsafe(`DROP TABLE IF EXISTS ${held}`).unprepared
  const definitions = columns.map(({ name }) => `${name} jsonb`)
  yield* sql.unsafe(`CREATE UNLOGGED TABLE ${held} (${definitions.join(", ")})`).unprepared
  for (const row of rows) {
    const values = columns.map((column) => JSON.stringify(pieces(column, row[column.name] ?? null)))
    const places = values.map((_, place) => `$${place + 1}::text::jsonb`)
    yield* sql.unsafe(`INSERT INTO ${held} VALUES (${places.join(", ")})`, values).unprepared
  }
  const names = columns.map(({ name }) => name).join(", ")
  const cut = columns.map(
    ({ name }) =>
      `CASE WHEN jsonb_typeof(${name}) = 'array' THEN ARRAY(SELECT jsonb_array_elements_text(${name})) END AS ${name}`
  )
  const filled = columns.map(({ name, type }) => `bench_fill(t.${name}, c.run, c.first, c.start)::${type}`)
  return sql.unsafe(
    `WITH t AS MATERIALIZED (SELECT ${cut.join(", ")} FROM ${held})
     INSERT INTO ${table.name} (${names}) SELECT ${filled.join(", ")} FROM bench_copies c CROSS JOIN t`
  ).unprepared
})
