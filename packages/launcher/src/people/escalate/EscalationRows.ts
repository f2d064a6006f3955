import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Row = Schema.Struct({
  step: Schema.Int,
  assignees: Schema.fromJsonString(Schema.Array(Schema.String)),
  cause: Schema.Literals(["time", "delegation"]),
  reach: Schema.Literals(["persons", "unknown", "none"]),
  why: Schema.NullOr(Schema.String),
  at: Schema.String
})
const decodeRow = Schema.decodeUnknownEffect(Row)

/** A step of an escalation that was made. */
export interface MadeStep {
  /** Its index in the rule. */
  readonly step: number
  readonly to: ReadonlyArray<string>
  readonly cause: "time" | "delegation"
  readonly reach: "persons" | "unknown" | "none"
  /** Why no person is known to be reached. */
  readonly why: string | undefined
  /** ISO 8601. */
  readonly at: string
}

/** The steps that were made, each once. */
export class EscalationRows extends Context.Service<EscalationRows, Effect.Success<typeof make>>()(
  "runplane/launcher/EscalationRows"
) {
  static readonly layer = Layer.effect(
    EscalationRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient

  return {
    /** Adds a step; false when it was made before. */
    add: ({ cause, item, reach, step, to, why }: Omit<MadeStep, "at"> & { readonly item: string }) =>
      sql`
        INSERT INTO people.escalations (item, step, assignees, cause, reach, why)
        VALUES (${item}::uuid, ${step}::int, ${JSON.stringify(to)}::text::jsonb, ${cause}, ${reach}, ${why ?? null}::text)
        ON CONFLICT DO NOTHING RETURNING step`.pipe(Effect.map((rows) => rows.length === 1)),

    /** The steps of an item, the first one first. */
    of: (item: string) =>
      sql`
        SELECT step, assignees::text AS assignees, cause, reach, why,
          to_char(made_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
        FROM people.escalations WHERE item = ${item}::uuid ORDER BY made_at, step`.pipe(
        Effect.flatMap((rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeRow(row)))),
        Effect.map((rows) =>
          rows.map(({ assignees, why, ...row }): MadeStep => ({ ...row, to: assignees, why: why ?? undefined }))
        )
      )
  }
})
