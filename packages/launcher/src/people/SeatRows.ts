import * as PgClient from "@effect/sql-pg/PgClient"
import { RemoteAgent, SeatText } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** A seat of a launched session. */
export interface NewSeat {
  readonly sessionId: string
  readonly seat: string
  readonly modeName: string
  readonly scenarioRef: string
  readonly rules: SeatText
  /** The agent whose turns are its acts; undefined for a seat of a person. */
  readonly agent?: RemoteAgent | undefined
  /** All participants of the session that are people. */
  readonly seats: ReadonlyArray<string>
  /** Who launched the session; undefined when that is not known. */
  readonly requester: string | undefined
}

/** A seat whose session goes on, or has acts that are not settled. */
export interface SeatRow extends NewSeat {
  readonly createdAtUnixMs: number
  /** An answer waits until the service has read so far again. */
  readonly lastOrdinal: number
  readonly unavailable: string | undefined
}

/** Rules as they were checked at the launch. Those of an agent assign no person. */
const StoredRules = Schema.Struct({ ...SeatText.fields, assign: Schema.Array(Schema.String) })

const Row = Schema.Struct({
  session_id: Schema.String,
  seat: Schema.String,
  mode_name: Schema.String,
  scenario_ref: Schema.String,
  rules: Schema.fromJsonString(StoredRules),
  agent: Schema.NullOr(Schema.fromJsonString(RemoteAgent)),
  seats: Schema.fromJsonString(Schema.Array(Schema.String)),
  requester: Schema.NullOr(Schema.String),
  created_ms: Schema.Finite,
  last_ordinal: Schema.Int,
  unavailable: Schema.NullOr(Schema.String)
})

const decodeRow = Schema.decodeUnknownEffect(Row)

const seatOf = (row: typeof Row.Type): SeatRow => ({
  sessionId: row.session_id,
  seat: row.seat,
  modeName: row.mode_name,
  scenarioRef: row.scenario_ref,
  rules: row.rules,
  agent: row.agent ?? undefined,
  seats: row.seats,
  requester: row.requester ?? undefined,
  createdAtUnixMs: row.created_ms,
  lastOrdinal: row.last_ordinal,
  unavailable: row.unavailable ?? undefined
})

/** The rows of seats. What is written in a row that does not fit its Schema is a defect of the program. */
export class SeatRows extends Context.Service<SeatRows, Effect.Success<typeof make>>()("runplane/launcher/SeatRows") {
  static readonly layer = Layer.effect(
    SeatRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const columns = sql.literal(
    "session_id, seat, mode_name, scenario_ref, rules::text AS rules, agent::text AS agent, seats::text AS seats, requester, last_ordinal, " +
      "unavailable, (extract(epoch FROM created_at) * 1000)::float8 AS created_ms"
  )
  const read = (rows: ReadonlyArray<unknown>) =>
    Effect.orDie(Effect.forEach(rows, (row) => Effect.map(decodeRow(row), seatOf)))

  return {
    /** Adds the seats of a session; those that are there stay. */
    add: (seats: ReadonlyArray<NewSeat>) =>
      Effect.forEach(
        seats,
        (one) => sql`
          INSERT INTO people.seats (session_id, seat, mode_name, scenario_ref, rules, agent, seats, requester)
          VALUES (${one.sessionId}, ${one.seat}, ${one.modeName}, ${one.scenarioRef},
            ${JSON.stringify(one.rules)}::text::jsonb,
            ${one.agent === undefined ? null : JSON.stringify(one.agent)}::text::jsonb, ${JSON.stringify(one.seats)}::text::jsonb,
            ${one.requester ?? null}::text)
          ON CONFLICT DO NOTHING`,
        { discard: true }
      ).pipe(sql.withTransaction),

    /** The seats that a service has to run, the oldest first. */
    unfinished: Effect.flatMap(
      sql`SELECT ${columns} FROM people.seats WHERE ended_at IS NULL ORDER BY created_at, session_id, seat`,
      read
    ),

    /** Locks a seat for a transaction: its items change one after the other. Undefined when there is none. */
    lock: (sessionId: string, seat: string) =>
      sql`SELECT ${columns} FROM people.seats WHERE session_id = ${sessionId} AND seat = ${seat} FOR UPDATE`.pipe(
        Effect.flatMap(read),
        Effect.map(([row]) => row)
      ),

    /** Locks all seats of a session for a transaction, in their order. */
    lockAll: (sessionId: string) =>
      Effect.flatMap(
        sql`SELECT ${columns} FROM people.seats WHERE session_id = ${sessionId} ORDER BY seat FOR UPDATE`,
        read
      ),

    find: (sessionId: string, seat: string) =>
      sql`SELECT ${columns} FROM people.seats WHERE session_id = ${sessionId} AND seat = ${seat}`.pipe(
        Effect.flatMap(read),
        Effect.map(([row]) => row)
      ),

    /** How far the session was read. */
    noteOrdinal: (sessionId: string, seat: string, ordinal: number) =>
      sql`UPDATE people.seats SET last_ordinal = ${ordinal}::int
          WHERE session_id = ${sessionId} AND seat = ${seat} AND last_ordinal < ${ordinal}::int`,

    /** No item of the seat takes an answer any more. */
    noteUnavailable: (sessionId: string, seat: string, why: string) =>
      sql`UPDATE people.seats SET unavailable = ${why} WHERE session_id = ${sessionId} AND seat = ${seat}`,

    /** The session is over and nothing is left to send. */
    finish: (sessionId: string, seat: string, state: string) =>
      sql`UPDATE people.seats SET ended_at = now(), ended_state = ${state}
          WHERE session_id = ${sessionId} AND seat = ${seat} AND ended_at IS NULL`
  }
})
