import * as PgClient from "@effect/sql-pg/PgClient"
import type { Delegation, Person } from "@runplane/domain"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Persons } from "./Persons.ts"

/** A delegation as it is stored. */
export interface DelegationRow extends Delegation {
  readonly reason: string
  readonly createdAtUnixMs: number
}

const Row = Schema.Struct({
  id: Schema.String,
  by_person: Schema.String,
  to_person: Schema.String,
  by_groups: Schema.fromJsonString(Schema.Array(Schema.String)),
  scenarios: Schema.NullOr(Schema.fromJsonString(Schema.Array(Schema.String))),
  reason: Schema.String,
  from_ms: Schema.Finite,
  until_ms: Schema.Finite,
  created_ms: Schema.Finite,
  revoked_ms: Schema.NullOr(Schema.Finite)
})
const decodeRow = Schema.decodeUnknownEffect(Row)

/** What is stored of a new delegation. */
export type AddedDelegation = Pick<DelegationRow, "to" | "fromUnixMs" | "untilUnixMs" | "scenarios" | "reason"> & {
  readonly by: Pick<Person, "id" | "groups">
}

const PERSON = "person:"
const GROUP = "group:"

/** The rows of delegations. Their times are compared by the clock of the database. */
export class DelegationRows extends Context.Service<DelegationRows, Effect.Success<typeof make>>()(
  "runplane/launcher/DelegationRows"
) {
  static readonly layer = Layer.effect(
    DelegationRows,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const toDelegation = Effect.fnUntraced(function* (persons: Persons["Service"], unknown: unknown) {
  const row = yield* Effect.orDie(decodeRow(unknown))
  const found: DelegationRow = {
    id: row.id,
    by: { id: row.by_person, groups: row.by_groups, packGroups: yield* persons.packGroupsOf(row.by_person) },
    to: row.to_person,
    fromUnixMs: row.from_ms,
    untilUnixMs: row.until_ms,
    scenarios: row.scenarios ?? undefined,
    revokedAtUnixMs: row.revoked_ms ?? undefined,
    reason: row.reason,
    createdAtUnixMs: row.created_ms
  }
  return found
})

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const random = yield* SecureRandom.SecureRandom
  const persons = yield* Persons
  const ms = (column: string, name: string) => sql.literal(`(extract(epoch FROM ${column}) * 1000)::float8 AS ${name}`)
  const columns = sql`
    id::text AS id, by_person, to_person, by_groups::text AS by_groups, scenarios::text AS scenarios, reason,
    ${ms("from_at", "from_ms")}, ${ms("until_at", "until_ms")}, ${ms("created_at", "created_ms")},
    ${ms("revoked_at", "revoked_ms")}`
  const isActive = sql`revoked_at IS NULL AND from_at <= clock_timestamp() AND until_at > clock_timestamp()`

  const read = (rows: ReadonlyArray<unknown>) => Effect.forEach(rows, (row) => toDelegation(persons, row))

  return {
    add: Effect.fnUntraced(function* (delegation: AddedDelegation) {
      const { by, fromUnixMs, reason, scenarios, to, untilUnixMs } = delegation
      const id = yield* random.uuidV4()
      const rows = yield* sql`
        INSERT INTO people.delegations (id, by_person, to_person, by_groups, scenarios, reason, from_at, until_at)
        VALUES (${id}::uuid, ${by.id}, ${to}, ${JSON.stringify(by.groups)}::text::jsonb,
          ${scenarios === undefined ? null : JSON.stringify(scenarios)}::text::jsonb, ${reason},
          to_timestamp(${fromUnixMs}::float8 / 1000), to_timestamp(${untilUnixMs}::float8 / 1000))
        RETURNING ${columns}`
      const [added] = yield* read(rows)
      return added ?? (yield* Effect.die(new Error(`delegation ${id} was not stored`)))
    }),

    /** Revokes a delegation of a person; undefined when it has none of this id that is not over. */
    revoke: (id: string, by: string) =>
      sql`
        UPDATE people.delegations SET revoked_at = clock_timestamp()
        WHERE id = ${id}::uuid AND by_person = ${by} AND revoked_at IS NULL AND until_at > clock_timestamp()
        RETURNING ${columns}`.pipe(
        Effect.flatMap(read),
        Effect.map(([row]) => row)
      ),

    byId: (id: string) =>
      sql`SELECT ${columns} FROM people.delegations WHERE id = ${id}::uuid`.pipe(
        Effect.flatMap(read),
        Effect.map(([row]) => row)
      ),

    /** The delegations that a person has given and received, the newest first, the latest ones. */
    ofPerson: (person: string, limit: number) =>
      Effect.all({
        given: Effect.flatMap(
          sql`SELECT ${columns} FROM people.delegations WHERE by_person = ${person}
              ORDER BY created_at DESC, id DESC LIMIT ${limit}::int`,
          read
        ),
        received: Effect.flatMap(
          sql`SELECT ${columns} FROM people.delegations WHERE to_person = ${person}
              ORDER BY until_at DESC, id DESC LIMIT ${limit}::int`,
          read
        )
      }),

    /** How many delegations of a person are not over. Its additions take turns. */
    openOf: (person: string) =>
      Effect.andThen(
        sql`SELECT pg_advisory_xact_lock(${ADDING_LOCK}, hashtext(${person}))`,
        sql<{ readonly open: number }>`
          SELECT count(*)::int4 AS open FROM people.delegations
          WHERE by_person = ${person} AND revoked_at IS NULL AND until_at > clock_timestamp()`.pipe(
          Effect.map(([row]) => row?.open ?? 0)
        )
      ),

    /** The delegations to a person that are in effect now. */
    receivedBy: (person: string) =>
      Effect.flatMap(
        sql`SELECT ${columns} FROM people.delegations WHERE to_person = ${person} AND ${isActive} ORDER BY created_at, id`,
        read
      ),

    /** The same for a transaction that uses one: a revocation waits for its end. */
    lockedFor: (person: string) =>
      Effect.flatMap(
        sql`
          SELECT ${columns} FROM people.delegations WHERE to_person = ${person} AND ${isActive}
          ORDER BY created_at, id FOR SHARE`,
        read
      ),

    /** The delegations in effect of persons with these names, or with groups of these names. */
    bearingOn: Effect.fnUntraced(function* (names: ReadonlyArray<string>, scenarioRef: string) {
      const groups = names.filter((name) => name.startsWith(GROUP)).map((name) => name.slice(GROUP.length))
      const { persons: listed } = yield* persons.known(scenarioRef)
      const ids = [
        ...names.filter((name) => name.startsWith(PERSON)).map((name) => name.slice(PERSON.length)),
        ...listed.filter((one) => one.groups.some((group) => groups.includes(group))).map(({ id }) => id)
      ]
      const [unversioned = ""] = scenarioRef.split("@")
      const rows = yield* sql`
        SELECT ${columns} FROM people.delegations
        WHERE ${isActive} AND (scenarios IS NULL OR scenarios ? ${scenarioRef} OR scenarios ? ${unversioned})
          AND (${JSON.stringify(ids)}::text::jsonb ? by_person
            OR EXISTS (SELECT FROM jsonb_array_elements_text(by_groups) AS g(name)
              WHERE ${JSON.stringify(groups)}::text::jsonb ? g.name))
        ORDER BY created_at, id`
      return yield* read(rows)
    }),

    /** Marks the delegations that took effect, and returns those which end later. Each is returned once. */
    begun: (limit: number) =>
      Effect.flatMap(
        sql`
          ${beginnings(sql, limit)}
          SELECT ${columns} FROM begun WHERE until_at > clock_timestamp() ORDER BY from_at, id`,
        read
      ),

    /** Erases the reasons of delegations that have been over for so many days. Returns how many. */
    expire: (days: number) =>
      sql`
        UPDATE people.delegations SET reason = '', erased_at = now()
        WHERE erased_at IS NULL AND least(until_at, revoked_at) < now() - ${days}::int * interval '1 day'
        RETURNING id`.pipe(Effect.map((rows) => rows.length))
  }
})

/** The delegations that took effect and were not marked, in the table `begun`. */
const beginnings = (sql: PgClient.PgClient, limit: number) => sql`
  WITH begun AS (
    UPDATE people.delegations SET noticed_at = clock_timestamp() WHERE id IN (
      SELECT id FROM people.delegations
      WHERE noticed_at IS NULL AND revoked_at IS NULL AND from_at <= clock_timestamp()
      ORDER BY from_at, id LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
    RETURNING *)`

/** Additions of one person take turns, so that two of them do not share the last free one. */
const ADDING_LOCK = 7_266_433
