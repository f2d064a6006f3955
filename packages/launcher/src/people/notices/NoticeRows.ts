import * as PgClient from "@effect/sql-pg/PgClient"
import { ASKING_EVENTS, ItemState } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ItemRows } from "../ItemRows.ts"

const Due = Schema.Struct({
  id: Schema.String,
  item: Schema.NullOr(Schema.String),
  event: Schema.String,
  person: Schema.String,
  tries: Schema.Int
})
/** A notice that is to be sent. Without an item it is a digest. */
export type DueNotice = typeof Due.Type

const Question = Schema.Struct({
  seat: Schema.String,
  scenario_ref: Schema.String,
  state: ItemState,
  proposal_hash: Schema.String,
  deadline_at: Schema.NullOr(Schema.String),
  person: Schema.NullOr(Schema.String),
  origin: Schema.NullOr(Schema.String),
  content: Schema.Literals(["link", "full"]),
  /** The proof that the seat needs. */
  proof: Schema.Literals(["session", "fresh", "passkey"]),
  payload_type: Schema.String,
  payload: Schema.String,
  is_erased: Schema.Boolean
})
/** A question as a mail shows it. Times are ISO 8601, the payload is base64. */
export type NoticedQuestion = typeof Question.Type

const Shown = Schema.Struct({
  event: Schema.String,
  person: Schema.String,
  channel: Schema.String,
  state: Schema.Literals(["pending", "sent", "failed", "digested", "obsolete"]),
  reason: Schema.NullOr(Schema.String),
  at: Schema.String
})
/** A notice as the item shows it. */
export type ShownNotice = typeof Shown.Type

/** The notices of persons. No row has an address. */
export class NoticeRows extends Context.Service<NoticeRows, Effect.Success<typeof make>>()(
  "runplane/launcher/NoticeRows"
) {
  static readonly layer = Layer.effect(
    NoticeRows,
    Effect.suspend(() => make)
  )
}

/** The events that ask, as a list of a statement. */
export const askingEvents = (sql: PgClient.PgClient) =>
  sql.literal(ASKING_EVENTS.map((event) => `'${event}'`).join(", "))

/** How many open questions a person was asked. */
export const openOf = (sql: PgClient.PgClient, person: string) =>
  sql<{ readonly open: number }>`
    SELECT count(DISTINCT i.id)::int4 AS open FROM people.items i JOIN people.notices n ON n.item = i.id
    WHERE i.state = 'open' AND n.person = ${person} AND n.event IN (${askingEvents(sql)}) AND n.state <> 'failed'`.pipe(
    Effect.map(([row]) => row?.open ?? 0)
  )

export const decodeAll =
  <A>(schema: Schema.Codec<A, unknown, never, never> | Schema.Decoder<A>) =>
  (rows: ReadonlyArray<unknown>) =>
    Effect.orDie(Effect.forEach(rows, (row) => Schema.decodeUnknownEffect(schema)(row)))

/** Notices that an item shows. */
export const MAX_SHOWN = 200
/** Tries after which a waiting notice is a remark of the readiness. */
const REMARKED_TRIES = 3

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const items = yield* ItemRows
  let troubles: ReadonlyArray<string> = []

  const iso = (column: string, name: string) =>
    sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${name}`)
  const asking = askingEvents(sql)
  const end = (id: string, state: "sent" | "failed" | "obsolete", reason?: string) =>
    sql`UPDATE people.notices SET state = ${state}, reason = ${reason ?? null}::text, ended_at = now()
        WHERE id = ${id} AND state = 'pending' RETURNING id`

  return {
    /** What an operator should know, as of the last round; empty without any. */
    troubles: () => troubles,

    readTroubles: Effect.gen(function* () {
      const [row] = yield* sql<{
        readonly waiting: number
        readonly reason: string | null
        readonly unreached: number
      }>`
        SELECT count(*)::int4 AS waiting, max(reason) AS reason,
          (SELECT count(*) FROM people.items WHERE state = 'open' AND undelivered_at IS NOT NULL)::int4 AS unreached
        FROM people.notices WHERE state = 'pending' AND tries >= ${REMARKED_TRIES}::int`
      const { reason = null, unreached = 0, waiting = 0 } = row ?? {}
      troubles = [
        ...(waiting === 0 ? [] : [`notices that wait: ${waiting}, since ${reason}`]),
        ...(unreached === 0 ? [] : [`open questions without a notice: ${unreached}`])
      ]
    }),

    /** The notices that are due, the first due first. */
    due: (limit: number) =>
      Effect.flatMap(
        sql`
          SELECT id, item::text AS item, event, person, tries FROM people.notices
          WHERE state = 'pending' AND due_at <= clock_timestamp() ORDER BY due_at, id LIMIT ${limit}::int`,
        decodeAll(Due)
      ),

    /** Begins a try, which no other process begins within the lease. Returns whether it is ours. */
    claim: ({ id, tries }: DueNotice, leaseMs: number) =>
      Effect.map(
        sql`
          UPDATE people.notices SET tries = tries + 1,
            due_at = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
          WHERE id = ${id} AND state = 'pending' AND tries = ${tries}::int RETURNING id`,
        (rows) => rows.length > 0
      ),

    /** The try failed, and another one follows. */
    postpone: ({ id }: DueNotice, pauseMs: number, reason: string) =>
      sql`UPDATE people.notices SET reason = ${reason},
            due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
          WHERE id = ${id} AND state = 'pending'`,

    sent: ({ id }: DueNotice) => end(id, "sent"),
    drop: ({ id }: DueNotice, reason: string) => end(id, "obsolete", reason),

    /** No try follows. */
    fail: ({ event, id, item, person }: DueNotice, reason: string) =>
      sql.withTransaction(
        Effect.gen(function* () {
          const ended = yield* end(id, "failed", reason)
          if (ended.length === 0) return
          yield* items.audit("service", "notice.failed", item ?? undefined, { person, event, reason })
        })
      ),

    /** What a mail about an item shows. */
    question: (item: string) =>
      sql`
        SELECT i.seat, s.scenario_ref, i.state, i.proposal_hash, ${iso("i.deadline_at", "deadline_at")}, a.person,
          a.origin, coalesce(s.rules #>> '{notify,content}', 'link') AS content,
          coalesce(s.rules ->> 'proof', 'session') AS proof, i.payload_type,
          replace(encode(i.payload, 'base64'), E'\\n', '') AS payload, s.erased_at IS NOT NULL AS is_erased
        FROM people.items i JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat
        LEFT JOIN people.answers a ON a.item = i.id WHERE i.id = ${item}::uuid`.pipe(
        Effect.flatMap(decodeAll(Question)),
        Effect.map(([row]) => row)
      ),

    /** What a digest says. */
    digest: Effect.fnUntraced(function* (person: string) {
      const [row] = yield* sql<{ readonly at: string | null }>`
        SELECT ${iso("min(i.deadline_at)", "at")} FROM people.items i JOIN people.notices n ON n.item = i.id
        WHERE i.state = 'open' AND n.person = ${person} AND n.event IN (${asking})`
      return { open: yield* openOf(sql, person), firstDeadline: row?.at ?? undefined }
    }),

    /** The notices of an item, the first one first. */
    ofItem: (item: string) =>
      Effect.flatMap(
        sql`
          SELECT event, person, channel, state, reason, ${iso("at", "at")} FROM (
            SELECT event, person, channel, state, reason, coalesce(ended_at, created_at) AS at, created_at
            FROM people.notices WHERE item = ${item}::uuid
            UNION ALL SELECT 'opened', person, 'slack',
              CASE WHEN ts IS NOT NULL THEN 'sent' WHEN ended_at IS NULL THEN 'pending' ELSE 'failed' END,
              CASE WHEN ts IS NULL THEN ended_reason END, coalesce(sent_at, ended_at, created_at), created_at
            FROM people.slack_messages WHERE item = ${item}::uuid
          ) AS n ORDER BY created_at, person, channel, event LIMIT ${MAX_SHOWN}::int`,
        decodeAll(Shown)
      ),

    /** When the next notice or reminder is due, milliseconds; undefined without any. */
    nextDueMs: sql<{ readonly ms: number | null }>`
      SELECT (extract(epoch FROM least(
        (SELECT min(due_at) FROM people.notices WHERE state = 'pending'),
        (SELECT min(remind_at) FROM people.items WHERE state = 'open' AND remind_at IS NOT NULL AND reminded_at IS NULL)
      ) - clock_timestamp()) * 1000)::float8 AS ms`.pipe(Effect.map(([row]) => row?.ms ?? undefined))
  }
})
