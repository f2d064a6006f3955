import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Row = Schema.Struct({ id: Schema.String, by: Schema.String, at: Schema.String, text: Schema.String })
/** A question of a person to the agents. The time is ISO 8601. */
export type QuestionRow = typeof Row.Type

const decodeRow = Schema.decodeUnknownEffect(Row)

/** The questions of people to the agents of a session. Rows are added while the seat is locked. */
export class QuestionRows extends Context.Service<QuestionRows, Effect.Success<typeof make>>()(
  "runplane/launcher/QuestionRows"
) {
  static readonly layer = Layer.effect(
    QuestionRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const columns = sql.literal(
    `id::text AS id, person AS by, text, to_char(asked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at`
  )
  const read = (rows: ReadonlyArray<unknown>) => Effect.orDie(Effect.forEach(rows, (row) => decodeRow(row)))

  return {
    /** The questions about an item, the oldest first. */
    of: (item: string) =>
      Effect.flatMap(sql`SELECT ${columns} FROM people.questions WHERE item = ${item}::uuid ORDER BY id`, read),

    /** Adds a question; those who follow the item get it, by the new transaction of its row. */
    add: Effect.fnUntraced(function* (item: string, person: string, text: string) {
      const rows = yield* sql`
        INSERT INTO people.questions (item, person, text) VALUES (${item}::uuid, ${person}, ${text})
        RETURNING ${columns}`
      yield* sql`UPDATE people.items SET changed_tx = pg_current_xact_id() WHERE id = ${item}::uuid`
      const [row] = yield* read(rows)
      return row === undefined ? yield* Effect.die(new Error(`the question about ${item} is not stored`)) : row
    }),

    /** The questions that a person has sent in the last minute. */
    inLastMinute: (person: string) =>
      sql<{ readonly questions: number }>`
        SELECT count(*)::int4 AS questions FROM people.questions
        WHERE person = ${person} AND asked_at > now() - interval '1 minute'`.pipe(
        Effect.map(([row]) => row?.questions ?? 0)
      )
  }
})
