import * as PgClient from "@effect/sql-pg/PgClient"
import type { SuspensionAct } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Row = Schema.Struct({
  n: Schema.Int,
  kind: Schema.Literals(["suspend", "resume"]),
  actor: Schema.Literals(["service", "other"]),
  expires_ms: Schema.Finite,
  intent_ms: Schema.Finite,
  is_called: Schema.Boolean,
  outcome: Schema.NullOr(Schema.Literals(["done", "refused", "not-made"])),
  reason: Schema.NullOr(Schema.String)
})
const decodeRow = Schema.decodeUnknownEffect(Row)

const actOf = (row: typeof Row.Type): SuspensionAct => ({
  n: row.n,
  kind: row.kind,
  by: row.actor,
  expiresAtUnixMs: row.expires_ms,
  atUnixMs: row.intent_ms,
  isCalled: row.is_called,
  outcome: row.outcome ?? undefined,
  reason: row.reason ?? undefined
})

/** The rows of suspensions. A row is added while the seats of its session are locked. */
export class SuspensionRows extends Context.Service<SuspensionRows, Effect.Success<typeof make>>()(
  "runplane/launcher/SuspensionRows"
) {
  static readonly layer = Layer.effect(
    SuspensionRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return {
    /** The acts of a session, the first one first. */
    of: (sessionId: string) =>
      Effect.flatMap(
        sql`
          SELECT n, kind, actor, expires_ms, (extract(epoch FROM intent_at) * 1000)::float8 AS intent_ms,
            called_at IS NOT NULL AS is_called, outcome, reason
          FROM people.suspensions WHERE session_id = ${sessionId} ORDER BY n`,
        (rows) => Effect.orDie(Effect.forEach(rows, (row) => Effect.map(decodeRow(row), actOf)))
      ),

    /** What the service is about to do. */
    intend: (sessionId: string, n: number, kind: SuspensionAct["kind"], expiresAtUnixMs: number) =>
      Effect.asVoid(sql`
        INSERT INTO people.suspensions (session_id, n, kind, actor, expires_ms)
        VALUES (${sessionId}, ${n}::int, ${kind}, 'service', ${expiresAtUnixMs}::float8)`),

    /** What another party has done. */
    observe: (sessionId: string, n: number, kind: SuspensionAct["kind"], expiresAtUnixMs: number) =>
      Effect.asVoid(sql`
        INSERT INTO people.suspensions (session_id, n, kind, actor, expires_ms, called_at, outcome, settled_at)
        VALUES (${sessionId}, ${n}::int, ${kind}, 'other', ${expiresAtUnixMs}::float8, clock_timestamp(), 'done',
          clock_timestamp())`),

    /** The call follows at once: from here on it may have been made. */
    called: (sessionId: string, n: number) =>
      Effect.asVoid(sql`
        UPDATE people.suspensions SET called_at = clock_timestamp() WHERE session_id = ${sessionId} AND n = ${n}::int`),

    settle: (
      sessionId: string,
      n: number,
      outcome: NonNullable<SuspensionAct["outcome"]>,
      reason: string | undefined
    ) =>
      Effect.asVoid(sql`
        UPDATE people.suspensions
        SET outcome = ${outcome}, reason = ${reason ?? null}::text, settled_at = clock_timestamp()
        WHERE session_id = ${sessionId} AND n = ${n}::int AND outcome IS NULL`)
  }
})
