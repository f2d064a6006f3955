import * as PgClient from "@effect/sql-pg/PgClient"
import { TALLY_LOCK } from "@runplane/control-plane"
import * as Effect from "effect/Effect"

/** A text of a template run in pieces: every second piece, from the second on, names the value of a copy. */
type Pieces = ReadonlyArray<string>

interface TemplateRun {
  readonly runId: string
  /** Its first and last position in the log. */
  readonly firstSeq: number
  readonly lastSeq: number
  /** Unix milliseconds of its creation. */
  readonly createdAt: number
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
/** Positions of the log in a JSON text, in keys that end with seq. */
const SEQ = /("\w*[sS]eq":)(\d+)/g
const EVENT_ID = /^(\{"id":")([0-9a-f-]{36})(")/
/** No text of JSON holds it. */
const CUT = "\u0001"

const mark = (kind: string, value: number | string) => `${CUT}${kind}${value}${CUT}`

/**
 * Cuts a text where a copy of the run differs: `R` is its id, `S<n>` its n-th position in the log (from 0), `T<ms>`
 * the time since its creation, `U` any UUID.
 */
const piecesOf = ({ createdAt, firstSeq, lastSeq, runId }: TemplateRun, text: string): Pieces =>
  text
    .replace(EVENT_ID, (_, before: string, __, after: string) => `${before}${mark("U", "")}${after}`)
    .replaceAll(runId, mark("R", ""))
    .replace(SEQ, (whole, key: string, digits: string) => {
      const seq = Number(digits)
      return seq < firstSeq || seq > lastSeq ? whole : `${key}${mark("S", seq - firstSeq)}`
    })
    .replace(TIME, (time) => mark("T", Date.parse(time) - createdAt))
    .split(CUT)

/** A table of a run, with its columns that hold a position in the log or an id of their own. */
interface Table {
  readonly name: string
  readonly run: string
  readonly seqs?: ReadonlyArray<string>
  readonly ids?: ReadonlyArray<string>
}

const RUNS: Table = { name: "runs", run: "id" }
const LOG_TABLES: ReadonlyArray<Table> = [
  { name: "run_heads", run: "run_id", seqs: ["last_seq"] },
  { name: "canonical_events", run: "run_id", seqs: ["seq"] }
]
const TABLES: ReadonlyArray<Table> = [
  ...LOG_TABLES,
  { name: "sessions", run: "run_id" },
  { name: "raw_events", run: "run_id" },
  { name: "outbound_messages", run: "run_id", ids: ["id"] },
  { name: "projections", run: "run_id", seqs: ["last_seq"] },
  { name: "run_metrics", run: "run_id" },
  { name: "artifacts", run: "run_id", ids: ["id"] },
  { name: "key_events", run: "run_id", seqs: ["seq"] },
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
  /** Only the runs and their events, without what is derived from them: enough for readers of the log, and faster. */
  readonly onlyLog?: boolean
}

/**
 * Adds copies of one ended run to the database, all tables of it, on the server itself: every copy has an id, a
 * stretch of the log and times of its own, also inside the JSON texts, so state, events and heads of a copy agree as
 * those of the template do. The tables derived from the log are brought up to date at the end.
 */
export const copyRun = Effect.fn("BigDatabase.copyRun")(function* (
  runId: string,
  { days, onlyLog = false, runs }: CopyPlan
) {
  const sql = yield* PgClient.PgClient
  const template = yield* readTemplate(runId)
  const copyRuns = yield* copier(template, RUNS)
  const copyOthers = yield* Effect.forEach(onlyLog ? LOG_TABLES : TABLES, (table) => copier(template, table))
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
  if (onlyLog) {
    yield* sql`VACUUM ANALYZE`.unprepared
    return { events: (runs + 1) * length, eventsOfRun: length }
  }
  // The service counts blocks too, one of them at a time.
  yield* sql.withTransaction(
    Effect.andThen(
      sql`SELECT pg_advisory_xact_lock(${TALLY_LOCK})`,
      sql`SELECT count_event_blocks(event_watermark())::text`
    )
  )
  const fold = sql<{ readonly done: boolean }>`SELECT fold_tallies(20000) AS done`
  yield* Effect.repeat(fold, { until: ([row]) => row?.done === true })
  yield* sql`VACUUM ANALYZE`.unprepared
  return { events: (runs + 1) * length, eventsOfRun: length }
})

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

/** Reads the template's rows of a table; answers what copies them for all `bench_copies`. */
const copier = Effect.fnUntraced(function* (template: TemplateRun, table: Table) {
  const sql = yield* PgClient.PgClient
  const columns = yield* sql<Column>`
    SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
    WHERE attrelid = ${table.name}::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = '' AND attgenerated = ''`
  const texts = columns.map(({ name, type }) =>
    type === "timestamp with time zone" ? `${isoText(name)} AS ${name}` : `${name}::text AS ${name}`
  )
  const rows = yield* sql.unsafe<Record<string, string | null>>(
    `SELECT ${texts.join(", ")} FROM ${table.name} WHERE ${table.run} = '${template.runId}'`
  ).unprepared
  const pieces = ({ name }: Column, text: string): Pieces => {
    if (table.ids?.includes(name)) return ["", "U", ""]
    if (table.seqs?.includes(name)) return ["", `S${Number(text) - template.firstSeq}`, ""]
    return piecesOf(template, text)
  }
  const value = (column: Column, text: string | null): string =>
    text === null ? `NULL::${column.type}` : `${expressionOf(pieces(column, text))}::${column.type}`
  const names = columns.map(({ name }) => name).join(", ")
  const values = rows.map((row) => `(${columns.map((column) => value(column, row[column.name] ?? null)).join(", ")})`)
  if (values.length === 0) return Effect.void
  return sql.unsafe(
    `INSERT INTO ${table.name} (${names})
     SELECT t.* FROM bench_copies c CROSS JOIN LATERAL (VALUES ${values.join(", ")}) AS t`
  ).unprepared
})

const isoText = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** SQL for a text of the copy `c`. The pieces are its own, so the server only joins them. */
const expressionOf = (pieces: Pieces): string => {
  const parts = pieces.map((piece, index) => {
    if (index % 2 === 0) return `'${piece.replaceAll("'", "''")}'`
    const number = Number(piece.slice(1))
    switch (piece[0]) {
      case "R":
        return "c.run"
      case "U":
        return "gen_random_uuid()::text"
      case "S":
        return `(c.first + ${number})::text`
      default:
        return isoText(`(c.start + ${number} * interval '1 ms')`)
    }
  })
  return `array_to_string(ARRAY[${parts.filter((part) => part !== "''").join(", ")}]::text[], '')`
}
