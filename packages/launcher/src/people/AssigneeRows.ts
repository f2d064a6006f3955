import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Row = Schema.Struct({
  assignee: Schema.NullOr(Schema.String),
  added_by: Schema.String,
  reason: Schema.String,
  step: Schema.NullOr(Schema.Int),
  at: Schema.String
})

/** An entry about who may answer an item, beside those of its scenario. */
export interface AddedAssignee {
  /** `person:` or `group:` and an id; undefined for an item that was returned to those who are assigned already. */
  readonly assignee: string | undefined
  readonly addedBy: string
  readonly reason: string
  /** The step of the escalation that added it, by its index; undefined for a return. */
  readonly step?: number | undefined
  /** ISO 8601. */
  readonly at: string
}

const decodeRow = Schema.decodeUnknownEffect(Row)

/** Who may answer items beside those of their scenarios. Rows are added while the seat is locked. */
export class AssigneeRows extends Context.Service<AssigneeRows, Effect.Success<typeof make>>()(
  "runplane/launcher/AssigneeRows"
) {
  static readonly layer = Layer.effect(
    AssigneeRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient

  return {
    /** The entries of an item, the oldest first. */
    of: (item: string) =>
      sql`
        SELECT assignee, added_by, reason, step, to_char(added_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
        FROM people.item_assignees WHERE item = ${item}::uuid ORDER BY id`.pipe(
        Effect.flatMap((rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeRow(row)))),
        Effect.map((rows) =>
          rows.map(
            ({ added_by, assignee, at, reason, step }): AddedAssignee => ({
              assignee: assignee ?? undefined,
              addedBy: added_by,
              reason,
              step: step ?? undefined,
              at
            })
          )
        )
      ),

    /**
     * Adds an entry; a person or group that is added already stays as it was added first. Those who follow the item get
     * it, by the new transaction of its row.
     */
    add: (item: string, { addedBy, assignee, reason, step }: Omit<AddedAssignee, "at">) =>
      Effect.andThen(
        sql`INSERT INTO people.item_assignees (item, assignee, added_by, reason, step)
            VALUES (${item}::uuid, ${assignee ?? null}::text, ${addedBy}, ${reason}, ${step ?? null}::int)
            ON CONFLICT (item, assignee) WHERE assignee IS NOT NULL DO NOTHING`,
        sql`UPDATE people.items SET changed_tx = pg_current_xact_id() WHERE id = ${item}::uuid`
      )
  }
})
