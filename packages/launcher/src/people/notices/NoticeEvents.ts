import * as PgClient from "@effect/sql-pg/PgClient"
import { type Assigned, type Concern, DIGEST_ABOVE, digestOf, type Notice, remindAtUnixMs } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { AssigneeRows } from "../AssigneeRows.ts"
import { DelegationRows } from "../escalate/DelegationRows.ts"
import { ItemRows } from "../ItemRows.ts"
import { RecordRows } from "../RecordRows.ts"
import { SeatRows } from "../SeatRows.ts"
import { askingEvents, decodeAll, MAX_SHOWN, openOf } from "./NoticeRows.ts"

const Event = Schema.Struct({
  id: Schema.String,
  item: Schema.String,
  event: Schema.String,
  scenario_ref: Schema.String
})
/** An event of a question whose persons are not known yet. */
export type RaisedEvent = typeof Event.Type

/** Open questions of a person from which on digests replace single notices (docs/reference/people.md#notices). */
export const DigestAbove = Context.Reference<number>("runplane/launcher/DigestAbove", {
  defaultValue: () => DIGEST_ABOVE
})

/** The ways in which the service can notify persons. A question that one of them delivered is delivered. */
export interface Ways {
  readonly mail: boolean
  readonly slack: boolean
}

/** Rows of one round. */
const ROUND = 100

/** The notices of an event, of those whom the directory, the assignments and delegations name. */
export type NoticesOf = (concern: Concern) => ReadonlyArray<Notice>

/** The events of questions, and the persons whom they concern. */
export class NoticeEvents extends Context.Service<NoticeEvents, Effect.Success<typeof make>>()(
  "runplane/launcher/NoticeEvents"
) {
  static readonly layer = Layer.effect(
    NoticeEvents,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(AssigneeRows.layer))
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const records = yield* RecordRows
  const insert = yield* makeInsert
  const whoIsAsked = yield* makeWhoIsAsked
  const unreachedReason = yield* makeUnreachedReason

  /** In a transaction that has the lock of the seat of an item, as every change of the item is made. */
  const inSeat = <A, E, R>(item: string, work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const at = yield* items.seatOf(item)
      if (at !== undefined) yield* seats.lock(at.sessionId, at.seat)
      return yield* work
    }).pipe(
      sql.withTransaction,
      Effect.tap(() => records.wake)
    )

  const setReminder = Effect.fnUntraced(function* (id: string) {
    const item = yield* items.byId(id)
    if (item?.openedAtUnixMs === undefined) return
    const at = remindAtUnixMs(item.openedAtUnixMs, item.deadlineUnixMs)
    if (at === undefined) return
    yield* sql`UPDATE people.items SET remind_at = to_timestamp(${at}::float8 / 1000) WHERE id = ${id}::uuid`
  })

  return {
    /** Waits until events may have to be reported. */
    woken: records.noticesWoken,

    /** Reports, once, that no way can deliver an open question to a person any more. */
    reportUnreached: Effect.fnUntraced(function* (id: string, ways: Ways) {
      const noted = yield* inSeat(
        id,
        Effect.gen(function* () {
          const reason = yield* unreachedReason(id, ways)
          if (reason === undefined) return undefined
          yield* sql`UPDATE people.items SET undelivered_at = now() WHERE id = ${id}::uuid`
          yield* records.note(id, "undelivered")
          yield* items.audit("service", "item.undelivered", id, { reason })
          return reason
        })
      )
      if (noted !== undefined) yield* Effect.logError(`no notice of item ${id} reached a person: ${noted}`)
    }),

    /** Notes the reminders that are due. */
    remind: Effect.gen(function* () {
      const due = yield* sql<{ readonly id: string }>`
        SELECT id::text AS id FROM people.items
        WHERE state = 'open' AND reminded_at IS NULL AND remind_at <= clock_timestamp()
        ORDER BY remind_at LIMIT ${ROUND}::int`
      for (const { id } of due) {
        const note = Effect.gen(function* () {
          const [open] = yield* sql`
            UPDATE people.items SET reminded_at = now()
            WHERE id = ${id}::uuid AND state = 'open' AND reminded_at IS NULL RETURNING id`
          if (open === undefined) return
          yield* records.note(id, "reminded")
          yield* items.audit("service", "item.reminded", id, {})
        })
        yield* inSeat(id, note)
      }
    }),

    /** The events whose persons are not known yet, in their order. */
    raised: Effect.flatMap(
      sql`
        SELECT e.id::text AS id, e.item::text AS item, e.event, s.scenario_ref
        FROM people.notice_events e JOIN people.items i ON i.id = e.item
        JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat
        WHERE e.expanded_at IS NULL ORDER BY e.id LIMIT ${ROUND}::int`,
      decodeAll(Event)
    ),

    /** Stores the notices of an event, once. */
    expand: ({ event, id, item }: RaisedEvent, noticesOf: NoticesOf) =>
      Effect.gen(function* () {
        const [found] = yield* sql`
          UPDATE people.notice_events SET expanded_at = now() WHERE id = ${id}::bigint AND expanded_at IS NULL
          RETURNING id`
        if (found === undefined) return
        if (event === "opened") yield* setReminder(item)
        const concern = yield* whoIsAsked(item, event)
        if (concern === undefined) return
        yield* Effect.forEach(noticesOf(concern), insert, { discard: true })
      }).pipe(sql.withTransaction)
  }
})

/** Inserts a notice once; a digest replaces it for a person with too many open questions. */
const makeInsert = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const items = yield* ItemRows
  const digestAbove = yield* DigestAbove

  return Effect.fnUntraced(function* ({ channel, event, failure, id, isPersonal, item, person }: Notice) {
    const isDigestible = failure === undefined && event !== "closed" && !isPersonal
    const isDigested = isDigestible && (yield* openOf(sql, person)) >= digestAbove
    const state = failure !== undefined ? "failed" : isDigested ? "digested" : "pending"
    yield* sql`
      INSERT INTO people.notices (id, item, event, person, channel, state, reason, ended_at)
      VALUES (${id}, ${item}::uuid, ${event}, ${person}, ${channel}, ${state}, ${failure ?? null}::text,
        CASE WHEN ${state !== "pending"}::boolean THEN now() END)
      ON CONFLICT (id) DO NOTHING`
    if (failure !== undefined) {
      yield* items.audit("service", "notice.failed", item, { person, channel, event, reason: failure })
    }
    if (!isDigested) return
    const digest = digestOf(person, yield* items.now)
    yield* sql`
      INSERT INTO people.notices (id, event, person, channel, state, due_at)
      VALUES (${digest.id}, 'digest', ${person}, ${channel}, 'pending',
        to_timestamp(${digest.dueAtUnixMs}::float8 / 1000))
      ON CONFLICT (id) DO NOTHING`
  })
})

/** Who may answer an item, and who was notified of it before: by mail, where the event is its end. */
const makeWhoIsAsked = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const assignees = yield* AssigneeRows
  const delegations = yield* DelegationRows

  return Effect.fnUntraced(function* (item: string, event: string) {
    const at = yield* items.seatOf(item)
    const seat = at && (yield* seats.find(at.sessionId, at.seat))
    if (at === undefined || seat === undefined) return undefined
    const added = yield* assignees.of(item)
    const assigned: Assigned = {
      assign: [...seat.rules.assign, ...added.flatMap(({ assignee }) => assignee ?? [])],
      distinctFrom: seat.rules.distinctFrom,
      requester: seat.requester,
      answeredBy: yield* items.answeredBy(at.sessionId, at.seat)
    }
    const asked = yield* sql<{ readonly person: string }>`
      SELECT DISTINCT person FROM people.notices
      WHERE item = ${item}::uuid AND event IN (${askingEvents(sql)})
        AND CASE WHEN ${event === "closed"}::boolean THEN state = 'sent' ELSE state <> 'failed' END`
    const [answer] = yield* sql<{ readonly person: string | null }>`
      SELECT person FROM people.answers WHERE item = ${item}::uuid`
    const concern: Concern = {
      assigned,
      asked: new Set(asked.map(({ person }) => person)),
      answeredBy: answer?.person ?? undefined,
      delegations: yield* delegations.bearingOn(assigned.assign, seat.scenarioRef),
      moment: { scenarioRef: seat.scenarioRef, unixMs: yield* items.now }
    }
    return concern
  })
})

/**
 * Why no way can deliver an open question to a person; undefined where one has or still can, and where that is noted
 * already. A way that is not set up delivers nothing; without any, nothing is to be reported.
 */
const makeUnreachedReason = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient

  return Effect.fnUntraced(function* (id: string, { mail, slack }: Ways) {
    if (!mail && !slack) return undefined
    const asking = askingEvents(sql)
    const added = sql`(SELECT count(*)::int4 FROM people.item_assignees a WHERE a.item = i.id)`
    const isInSlack = sql`
      (NOT EXISTS (SELECT 1 FROM people.slack_items l WHERE l.item = i.id AND l.assignees >= ${added})
        OR EXISTS (SELECT 1 FROM people.slack_messages m WHERE m.item = i.id AND (m.ts IS NOT NULL OR m.ended_at IS NULL)))`
    const [open] = yield* sql`
      SELECT id FROM people.items i WHERE id = ${id}::uuid AND state = 'open' AND undelivered_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM people.notice_events e WHERE e.item = i.id AND e.expanded_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM people.notices n WHERE n.item = i.id AND n.event IN (${asking})
          AND n.state IN ('pending', 'sent', 'digested'))
        AND NOT (${slack}::boolean AND ${isInSlack})`
    if (open === undefined) return undefined
    const failed = yield* sql<{ readonly person: string; readonly reason: string | null }>`
      SELECT DISTINCT person, reason FROM people.notices
      WHERE item = ${id}::uuid AND event IN (${asking})
      UNION SELECT person, 'Slack: ' || ended_reason FROM people.slack_messages WHERE item = ${id}::uuid
      ORDER BY person, reason LIMIT ${MAX_SHOWN}::int`
    if (failed.length > 0) return failed.map((one) => `${one.person}: ${one.reason ?? "not sent"}`).join("; ")
    const lacks = [...(mail ? ["email"] : []), ...(slack ? ["slack"] : [])].join(" and no ")
    return `people.yaml has no ${lacks} of a person who may answer`
  })
})
