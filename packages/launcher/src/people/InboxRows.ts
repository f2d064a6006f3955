import * as PgClient from "@effect/sql-pg/PgClient"
import { HashedMembers } from "@runplane/api"
import { assignableNames, type Delegation, ItemState, type Person } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** A position in a list of items: the time and the id of its last one. */
export interface ItemCursor {
  readonly at: string
  readonly id: string
}

/** A person with the delegations that it has received. */
export interface Reader {
  readonly person: Person
  readonly delegations: ReadonlyArray<Delegation>
}

/** The names of a person, each with the pack and the scenarios in which they count; absent: in all. */
const namesOf = ({ delegations, person }: Reader) => {
  const namesFor = (
    { groups, id, packGroups }: Pick<Person, "id" | "groups" | "packGroups">,
    scenarios?: ReadonlyArray<string>
  ) => [
    { names: assignableNames({ id, groups }), scenarios },
    ...[...(packGroups ?? [])].map(([pack, own]) => ({ pack, names: own.map((group) => `group:${group}`), scenarios }))
  ]
  return [...namesFor(person), ...delegations.flatMap(({ by, scenarios }) => namesFor(by, scenarios))]
}

/** Whose items are read: those that the person is assigned to, or all. */
export type InboxScope = "own" | "all"

export interface InboxQuery {
  /** `own` unless said. */
  readonly scope?: InboxScope | undefined
  readonly states: ReadonlyArray<ItemState>
  readonly seat: string | undefined
  readonly after: ItemCursor | undefined
  readonly limit: number
}

const Row = Schema.Struct({
  id: Schema.String,
  session_id: Schema.String,
  seat: Schema.String,
  scenario_ref: Schema.String,
  mode_name: Schema.String,
  state: ItemState,
  reason: Schema.NullOr(Schema.String),
  proposal_hash: Schema.String,
  payload: Schema.String,
  payload_type: Schema.String,
  hashed: Schema.fromJsonString(HashedMembers),
  subject: Schema.Int,
  created_at: Schema.String,
  opened_at: Schema.NullOr(Schema.String),
  deadline_at: Schema.NullOr(Schema.String),
  seen_at: Schema.NullOr(Schema.String),
  closed_at: Schema.NullOr(Schema.String),
  replaces: Schema.NullOr(Schema.String),
  follows: Schema.NullOr(Schema.String),
  new_item: Schema.NullOr(Schema.String)
})
/** An item with its session, as the inbox reads it. Times are ISO-8601, the payload is base64. */
export type InboxRow = typeof Row.Type

const decodeRow = Schema.decodeUnknownEffect(Row)

const decodeChanged = Schema.decodeUnknownEffect(Schema.Struct({ ...Row.fields, is_opened: Schema.Boolean }))

/** Rows that a snapshot does not show as they are now. The comparison with its `xmin` is for the index. */
export const isAfter = (sql: PgClient.PgClient, column: string, cursor: string) => {
  const snapshot = sql`${cursor}::text::pg_snapshot`
  return sql`${sql.literal(column)} >= pg_snapshot_xmin(${snapshot})
    AND NOT pg_visible_in_snapshot(${sql.literal(column)}, ${snapshot})`
}

/** The items of a person: those whose seat names the person or a group of it. */
export class InboxRows extends Context.Service<InboxRows, Effect.Success<typeof make>>()(
  "runplane/launcher/InboxRows"
) {
  static readonly layer = Layer.effect(
    InboxRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const iso = (column: string, name: string) =>
    sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ${name}`)
  const columns = sql`
    i.id::text AS id, i.session_id, i.seat, s.scenario_ref, s.mode_name, i.state, i.reason, i.proposal_hash,
    replace(encode(i.payload, 'base64'), E'\\n', '') AS payload, i.payload_type, i.hashed::text AS hashed, i.subject,
    ${iso("i.created_at", "created_at")}, ${iso("i.opened_at", "opened_at")}, ${iso("i.deadline_at", "deadline_at")},
    ${iso("i.seen_at", "seen_at")}, ${iso("i.closed_at", "closed_at")}, i.replaces::text AS replaces,
    i.follows::text AS follows,
    coalesce((SELECT n.id::text FROM people.items n WHERE n.replaces = i.id LIMIT 1),
      (SELECT n.id::text FROM people.items n WHERE n.follows = i.id LIMIT 1)) AS new_item`
  // Turns of agents are not questions to people. An item whose text is erased is not in the inbox: the audit has what
  // became of it.
  const joined = sql`
    people.items i JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat AND s.erased_at IS NULL
      AND s.agent IS NULL`
  /** The items that a person is assigned to, by its groups, by those that its packs give it, and as a delegate. */
  const assignedTo = (reader: Reader) => {
    if (reader.person.isLocal === true) return sql`true`
    return sql`EXISTS (
      SELECT 1 FROM (
        SELECT jsonb_array_elements_text(p.value->'names') AS name
        FROM jsonb_array_elements(${JSON.stringify(namesOf(reader))}::text::jsonb) AS p(value)
        WHERE (p.value->'pack' IS NULL OR p.value->>'pack' = split_part(s.scenario_ref, '/', 1))
          AND (p.value->'scenarios' IS NULL OR p.value->'scenarios' ? s.scenario_ref
            OR p.value->'scenarios' ? split_part(s.scenario_ref, '@', 1))
      ) AS n
      WHERE s.rules->'assign' ? n.name
        OR EXISTS (SELECT 1 FROM people.item_assignees a WHERE a.item = i.id AND a.assignee = n.name))`
  }
  // As text of the statement: the planner then reads open items by their index, whatever else is in the table.
  const statesOf = (states: ReadonlyArray<ItemState>) =>
    sql.literal(states.length === 0 ? "NULL" : states.map((state) => `'${state}'`).join(", "))
  const readableBy = (reader: Reader, scope: InboxScope) => (scope === "all" ? sql`true` : assignedTo(reader))
  const read = (rows: ReadonlyArray<unknown>) => Effect.orDie(Effect.forEach(rows, (row) => decodeRow(row)))

  return {
    /** The items of a person that have changed since a cursor, or whose session is longer, the first changed first. */
    changedSince: (reader: Reader, cursor: string, most: number) =>
      sql`
        SELECT ${columns},
          coalesce(NOT pg_visible_in_snapshot(i.opened_tx, ${cursor}::text::pg_snapshot), false) AS is_opened
        FROM ${joined}
        WHERE ${assignedTo(reader)} AND i.id IN (
          SELECT i.id FROM people.items i WHERE ${isAfter(sql, "i.changed_tx", cursor)}
          UNION ALL
          SELECT i.id FROM people.seats s JOIN people.items i ON i.session_id = s.session_id AND i.seat = s.seat
          WHERE ${isAfter(sql, "s.changed_tx", cursor)} AND i.closed_at IS NULL)
        ORDER BY i.changed_tx, i.created_at, i.id LIMIT ${most}::int`.pipe(
        Effect.flatMap((found) => Effect.orDie(Effect.forEach(found, (row) => decodeChanged(row)))),
        Effect.map((found) => found.map(({ is_opened: isOpened, ...row }) => ({ isOpened, row })))
      ),

    /** A page of the items of a person, or of all people, the oldest first. */
    list: (reader: Reader, { after, limit, scope = "own", seat, states }: InboxQuery) =>
      Effect.flatMap(
        sql`
          SELECT ${columns} FROM ${joined}
          WHERE ${readableBy(reader, scope)} AND i.state IN (${statesOf(states)})
            AND (${seat ?? null}::text IS NULL OR i.seat = ${seat ?? null}::text)
            AND (${after?.at ?? null}::text IS NULL
              OR (i.created_at, i.id) > (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::uuid))
          ORDER BY i.created_at, i.id LIMIT ${limit}::int`,
        read
      ),

    /** The ids of the open items that a person is assigned to. */
    openOf: (reader: Reader) =>
      Effect.map(
        sql<{ readonly id: string }>`
          SELECT i.id::text AS id FROM ${joined} WHERE i.state = 'open' AND ${assignedTo(reader)}`,
        (rows) => rows.map(({ id }) => id)
      ),

    /** An item that the person may read; undefined for every other one. */
    find: (reader: Reader, scope: InboxScope, id: string) =>
      sql`SELECT ${columns} FROM ${joined} WHERE i.id = ${id}::uuid AND ${readableBy(reader, scope)}`.pipe(
        Effect.flatMap(read),
        Effect.map(([row]) => row)
      ),

    /** The position of an item in lists; undefined for an unknown one. */
    positionOf: (id: string) =>
      sql<ItemCursor>`SELECT id::text AS id, ${iso("i.created_at", "at")} FROM people.items i WHERE i.id = ${id}::uuid`.pipe(
        Effect.map(([row]) => row)
      ),

    /**
     * Whether another seat of the session, whose rules withhold the votes of others, still waits for an answer that the
     * person may give: until then the votes are withheld from it in all items of the session.
     */
    isAwaited: (reader: Reader, { id, sessionId, seat }: { id: string; sessionId: string; seat: string }) =>
      sql`
        SELECT 1 FROM ${joined}
        WHERE i.session_id = ${sessionId} AND i.id <> ${id}::uuid AND i.seat <> ${seat}
          AND i.state IN ('waiting', 'open')
          AND s.rules->>'reveal' IS DISTINCT FROM 'before' AND ${assignedTo(reader)} LIMIT 1`.pipe(
        Effect.map((rows) => rows.length > 0)
      ),

    /** Notes when an assigned person has first seen an open item, and who it was. */
    noteSeen: (id: string, person: string) =>
      sql`
        WITH seen AS (
          UPDATE people.items SET seen_at = now() WHERE id = ${id}::uuid AND seen_at IS NULL AND state = 'open'
          RETURNING id
        )
        INSERT INTO people.audit (actor, action, item, detail) SELECT ${person}, 'item.seen', id, '{}' FROM seen`
  }
})
