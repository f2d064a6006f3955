import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Row = Schema.Struct({
  id: Schema.String,
  at: Schema.String,
  actor: Schema.String,
  action: Schema.String,
  item: Schema.NullOr(Schema.String),
  session_id: Schema.NullOr(Schema.String),
  seat: Schema.NullOr(Schema.String),
  detail: Schema.fromJsonString(Schema.JsonObject)
})
export type PeopleAuditRow = typeof Row.Type

export interface PeopleAuditQuery {
  readonly item: string | undefined
  readonly actor: string | undefined
  /** The id of the last entry of the page before. */
  readonly before: string | undefined
  readonly limit: number
}

const decodeRow = Schema.decodeUnknownEffect(Row)

/** The audit of questions and answers, for auditors. */
export class PeopleAudit extends Context.Service<PeopleAudit, Effect.Success<typeof make>>()(
  "runplane/launcher/PeopleAudit"
) {
  static readonly layer = Layer.effect(
    PeopleAudit,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return {
    /** A page of entries, the newest first. */
    page: ({ actor, before, item, limit }: PeopleAuditQuery) =>
      Effect.flatMap(
        sql`
          SELECT a.id::text AS id, to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, a.actor,
            a.action, a.item::text AS item, i.session_id, i.seat, a.detail::text AS detail
          FROM people.audit a LEFT JOIN people.items i ON i.id = a.item
          WHERE (${item ?? null}::uuid IS NULL OR a.item = ${item ?? null}::uuid)
            AND (${actor ?? null}::text IS NULL OR a.actor = ${actor ?? null}::text)
            AND (${before ?? null}::bigint IS NULL OR a.id < ${before ?? null}::bigint)
          ORDER BY a.id DESC LIMIT ${limit}::int`,
        (rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeRow(row)))
      )
  }
})
