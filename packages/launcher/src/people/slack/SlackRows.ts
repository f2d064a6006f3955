import type * as PgClient from "@effect/sql-pg/PgClient"
import { ItemState } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** An open item for which people are not looked up yet, or since when others were added. */
const Unlaid = Schema.Struct({ item: Schema.String, scenario_ref: Schema.String, assignees: Schema.Int })
export type UnlaidItem = typeof Unlaid.Type

/** A message that is to be written: for the first time without `ts`, or again. */
const Due = Schema.Struct({
  item: Schema.String,
  person: Schema.String,
  scenario_ref: Schema.String,
  state: ItemState,
  channel: Schema.NullOr(Schema.String),
  ts: Schema.NullOr(Schema.String),
  tries: Schema.Int
})
export type DueMessage = typeof Due.Type

const decodeUnlaid = Schema.decodeUnknownEffect(Unlaid)
const decodeDue = Schema.decodeUnknownEffect(Due)

const PER_ROUND = 100

/** The rows of messages in Slack. */
export const makeSlackRows = (sql: PgClient.PgClient) => {
  const added = sql`(SELECT count(*)::int4 FROM people.item_assignees a WHERE a.item = i.id)`
  const joined = sql`people.items i JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat`
  const ofMessage = ({ item, person }: Pick<DueMessage, "item" | "person">) =>
    sql`item = ${item}::uuid AND person = ${person}`

  return {
    unlaid: Effect.flatMap(
      sql`
        SELECT i.id::text AS item, s.scenario_ref, ${added} AS assignees
        FROM ${joined} LEFT JOIN people.slack_items l ON l.item = i.id
        WHERE i.state = 'open' AND (l.item IS NULL OR l.assignees < ${added})
        ORDER BY i.opened_at, i.id LIMIT ${PER_ROUND}::int`,
      (rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeUnlaid(row)))
    ),

    /** Lays out one message for each person who has none yet. */
    lay: Effect.fnUntraced(function* ({ assignees, item }: UnlaidItem, persons: ReadonlyArray<string>) {
      yield* sql`
        INSERT INTO people.slack_messages (item, person)
        SELECT ${item}::uuid, jsonb_array_elements_text(${JSON.stringify(persons)}::text::jsonb)
        ON CONFLICT DO NOTHING`
      yield* sql`
        INSERT INTO people.slack_items (item, assignees) VALUES (${item}::uuid, ${assignees}::int)
        ON CONFLICT (item) DO UPDATE SET assignees = excluded.assignees`
    }, sql.withTransaction),

    /** The messages that are not written yet, or show another state than that of their item. */
    due: Effect.flatMap(
      sql`
        SELECT m.item::text AS item, m.person, s.scenario_ref, i.state, m.channel, m.ts, m.tries
        FROM people.slack_messages m JOIN (${joined}) ON i.id = m.item
        WHERE m.ended_at IS NULL AND m.due_at <= clock_timestamp() AND m.shown IS DISTINCT FROM i.state
        ORDER BY m.due_at LIMIT ${PER_ROUND}::int`,
      (rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeDue(row)))
    ),

    /** A try begins: the message is due again after the pause, unless it is written before. */
    postpone: (message: DueMessage, pauseMs: number) =>
      sql`UPDATE people.slack_messages SET tries = tries + 1,
            due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
          WHERE ${ofMessage(message)}`,

    /** The message shows this state. `isLast`: it is not written again. */
    wrote: (
      message: DueMessage,
      at: { readonly channel: string; readonly ts: string; readonly shown: ItemState; readonly isLast: boolean }
    ) =>
      sql`UPDATE people.slack_messages SET channel = ${at.channel}, ts = ${at.ts}, shown = ${at.shown}, tries = 0,
            sent_at = coalesce(sent_at, now()),
            due_at = now(), ended_at = CASE WHEN ${at.isLast}::boolean THEN now() END
          WHERE ${ofMessage(message)}`,

    /** The person may not answer: there is nothing to write. */
    remove: (message: DueMessage) => sql`DELETE FROM people.slack_messages WHERE ${ofMessage(message)} AND ts IS NULL`,

    /** The message is not written, or not again. */
    end: (message: DueMessage, reason: string) =>
      sql`UPDATE people.slack_messages SET ended_at = now(), ended_reason = ${reason} WHERE ${ofMessage(message)}`
  }
}
