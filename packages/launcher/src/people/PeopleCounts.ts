import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"

const CountsBy = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Int))

const Counts = Schema.Struct({
  waiting: Schema.Int,
  open: Schema.Int,
  expired: Schema.Int,
  by_person: Schema.Int,
  by_deadline: Schema.Int,
  turns_acted: Schema.Int,
  turns_ended: Schema.Int,
  /** By their failure. */
  turns_failed: CountsBy,
  /** By their phase. */
  turns_open: CountsBy,
  resent: Schema.Int,
  ids_taken: Schema.Int,
  suspensions: Schema.Int,
  suspensions_refused: Schema.Int,
  oldest_seconds: Schema.Finite,
  unposted: Schema.Int,
  notices_sent: Schema.Int,
  notices_failed: Schema.Int,
  notices_digested: Schema.Int,
  notices_obsolete: Schema.Int,
  notices_waiting: Schema.Int,
  undelivered: Schema.Int,
  escalated_persons: Schema.Int,
  escalated_unknown: Schema.Int,
  escalated_none: Schema.Int,
  unreachable: Schema.Int
})
export type PeopleCounts = typeof Counts.Type

const decodeCounts = Schema.decodeUnknownEffect(Schema.Tuple([Counts]))

/** The figures of all questions and answers. They are counted from the rows, which no erasure deletes. */
export const countPeople = (sql: PgClient.PgClient) => {
  const ofPeople = sql`people.items i JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat
    WHERE s.agent IS NULL AND`
  const turns = sql`people.turns t JOIN people.items i ON i.id = t.item LEFT JOIN people.answers a ON a.item = t.item
    WHERE true`
  const countsBy = (name: Fragment, condition: Fragment) =>
    sql`coalesce((SELECT jsonb_object_agg(by, number) FROM (SELECT ${name} AS by, count(*)::int AS number
      FROM ${turns} AND (${condition}) GROUP BY 1) counted), '{}')::text`
  return Effect.flatMap(
    sql`
      SELECT
        (SELECT count(*) FROM ${ofPeople} i.state = 'waiting')::int AS waiting,
        (SELECT count(*) FROM ${ofPeople} i.state = 'open')::int AS open,
        (SELECT count(*) FROM ${ofPeople} i.state = 'expired')::int AS expired,
        (SELECT count(*) FROM people.answers WHERE origin = 'person')::int AS by_person,
        (SELECT count(*) FROM people.answers WHERE origin = 'deadline')::int AS by_deadline,
        (SELECT count(*) FROM ${turns} AND a.origin = 'agent' AND i.state <> 'refused')::int AS turns_acted,
        (SELECT count(*) FROM ${turns} AND t.failure IS NULL AND a.item IS NULL
          AND i.state NOT IN ('waiting', 'open'))::int AS turns_ended,
        ${countsBy(sql`coalesce(t.failure, 'refused')`, sql`t.failure IS NOT NULL OR i.state = 'refused'`)} AS turns_failed,
        ${countsBy(sql`t.phase`, sql`i.state = 'open'`)} AS turns_open,
        (SELECT coalesce(sum(resent), 0) FROM people.turns)::int AS resent,
        (SELECT count(*) FROM people.audit WHERE action = 'item.id-taken')::int AS ids_taken,
        (SELECT count(*) FROM people.suspensions
          WHERE kind = 'suspend' AND actor = 'service' AND outcome = 'done')::int AS suspensions,
        (SELECT count(*) FROM people.suspensions
          WHERE kind = 'suspend' AND actor = 'service' AND outcome = 'refused')::int AS suspensions_refused,
        coalesce((SELECT extract(epoch FROM clock_timestamp() - min(answered_at))
          FROM people.answers WHERE settled_at IS NULL), 0)::float8 AS oldest_seconds,
        (SELECT count(*) FROM people.records WHERE ended_at IS NULL)::int AS unposted,
        (SELECT count(*) FROM people.notices WHERE state = 'sent')::int AS notices_sent,
        (SELECT count(*) FROM people.notices WHERE state = 'failed')::int AS notices_failed,
        (SELECT count(*) FROM people.notices WHERE state = 'digested')::int AS notices_digested,
        (SELECT count(*) FROM people.notices WHERE state = 'obsolete')::int AS notices_obsolete,
        (SELECT count(*) FROM people.notices WHERE state = 'pending')::int AS notices_waiting,
        (SELECT count(*) FROM people.items WHERE undelivered_at IS NOT NULL)::int AS undelivered,
        (SELECT count(*) FROM people.escalations WHERE reach = 'persons')::int AS escalated_persons,
        (SELECT count(*) FROM people.escalations WHERE reach = 'unknown')::int AS escalated_unknown,
        (SELECT count(*) FROM people.escalations WHERE reach = 'none')::int AS escalated_none,
        (SELECT count(*) FROM people.audit WHERE action = 'item.unreachable')::int AS unreachable`,
    (rows) => Effect.map(Effect.orDie(decodeCounts(rows)), ([counts]) => counts)
  )
}
