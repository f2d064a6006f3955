import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ItemRows } from "./ItemRows.ts"

/** Why the texts of a session are not erased. */
export class ErasureRefused extends Data.TaggedError("ErasureRefused")<{
  readonly why:
    | { readonly _tag: "no-session" }
    /** The session goes on: its answers still rest on the texts. */
    | { readonly _tag: "not-over"; readonly seats: ReadonlyArray<string> }
    /** The control plane does not have these records yet: they would be lost. */
    | { readonly _tag: "not-posted"; readonly records: number }
}> {}

/** How many rows of a session have lost their texts. */
export interface ErasedRows {
  readonly seats: number
  readonly items: number
  readonly answers: number
  readonly nonces: number
  readonly records: number
  readonly returns: number
  readonly questions: number
  readonly delegations: number
}

/** Sessions of which one transaction of retention erases the texts. */
const PER_ROUND = 100

const SeatsOf = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ seat: Schema.String, is_over: Schema.Boolean, is_erased: Schema.Boolean }))
)

/**
 * Erases texts of sessions that are over: payloads with their hashes and nonces, reasons, and the records that the
 * control plane has. The rows stay, with ids, times, states and acts, so that they are counted and audited.
 */
export class PeopleErasures extends Context.Service<PeopleErasures, Effect.Success<typeof make>>()(
  "runplane/launcher/PeopleErasures"
) {
  static readonly layer = Layer.effect(
    PeopleErasures,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { audit } = yield* ItemRows

  const refuse = (why: ErasureRefused["why"]) => Effect.fail(new ErasureRefused({ why }))

  const eraseRows = Effect.fnUntraced(function* (sessionId: string) {
    const ofSession = sql`IN (SELECT id FROM people.items WHERE session_id = ${sessionId})`
    // Each hash below, without its nonce, would let a short text be guessed.
    const answers = yield* sql`
      UPDATE people.answers SET content = jsonb_set(content, '{reason}', '""'), payload = '', payload_sha256 = '',
        basis = jsonb_set(basis, '{sha256}', '""'), passkey = NULL
      WHERE item ${ofSession} RETURNING item`
    const items = yield* sql`
      UPDATE people.items SET payload = '',
        hashed = hashed #- '{subject,payloadSha256}' #- '{subject,nonce}',
        reason = CASE WHEN state IN ('refused', 'unknown') THEN NULL ELSE reason END
      WHERE session_id = ${sessionId} RETURNING id`
    const nonces = yield* sql`DELETE FROM people.subjects WHERE session_id = ${sessionId} RETURNING ordinal`
    yield* sql`DELETE FROM people.passkey_challenges WHERE item ${ofSession}`
    const records = yield* sql`DELETE FROM people.records WHERE session_id = ${sessionId} RETURNING id`
    yield* sql`DELETE FROM people.links WHERE item ${ofSession}`
    yield* sql`DELETE FROM people.slack_messages WHERE item ${ofSession}`
    const returns = yield* sql`
      UPDATE people.item_assignees SET reason = '' WHERE item ${ofSession} AND reason <> '' RETURNING id`
    const questions = yield* sql`
      UPDATE people.questions SET text = '' WHERE item ${ofSession} AND text <> '' RETURNING id`
    // The right of a delegation does not depend on its reason, so one that goes on loses it too.
    const delegations = yield* sql`
      UPDATE people.delegations SET reason = '', erased_at = now()
      WHERE erased_at IS NULL AND id IN (SELECT delegation FROM people.answers WHERE item ${ofSession}) RETURNING id`
    yield* sql`UPDATE people.audit SET detail = detail - 'reason' WHERE item ${ofSession} AND detail ? 'reason'`
    const seats = yield* sql`
      UPDATE people.seats SET erased_at = now() WHERE session_id = ${sessionId} AND erased_at IS NULL RETURNING seat`
    const erased: ErasedRows = {
      seats: seats.length,
      items: items.length,
      answers: answers.length,
      nonces: nonces.length,
      records: records.length,
      returns: returns.length,
      questions: questions.length,
      delegations: delegations.length
    }
    return erased
  })

  const eraseNow = Effect.fnUntraced(function* (sessionId: string, actor: string, reason: string) {
    const seats = yield* Effect.flatMap(
      sql`
        SELECT seat, ended_at IS NOT NULL AS is_over, erased_at IS NOT NULL AS is_erased
        FROM people.seats WHERE session_id = ${sessionId} ORDER BY seat FOR UPDATE`,
      (rows) => Effect.orDie(SeatsOf(rows))
    )
    if (seats.length === 0) return yield* refuse({ _tag: "no-session" })
    const open = seats.filter((one) => !one.is_over).map(({ seat }) => seat)
    if (open.length > 0) return yield* refuse({ _tag: "not-over", seats: open })
    if (seats.every((one) => one.is_erased)) return NONE
    const waiting = yield* sql`SELECT id FROM people.records WHERE session_id = ${sessionId} AND ended_at IS NULL`
    if (waiting.length > 0) return yield* refuse({ _tag: "not-posted", records: waiting.length })
    const erased = yield* eraseRows(sessionId)
    yield* audit(actor, "people.erase", undefined, { sessionId, reason, ...erased })
    return erased
  })

  const erase = Effect.fn("PeopleErasures.erase")((sessionId: string, actor: string, reason: string) =>
    sql.withTransaction(eraseNow(sessionId, actor, reason))
  )

  return {
    /** Erases the texts of a session. Those of one that is erased are erased already: nothing is counted. */
    erase,

    /**
     * Erases the texts of sessions that ended before so many days, and the rows of passkeys that were deleted before.
     * Returns how many sessions, and whether more may be due.
     */
    expire: Effect.fn("PeopleErasures.expire")(function* (days: number) {
      // The records of answers have the public keys that their verification needs.
      yield* sql`DELETE FROM people.passkeys WHERE revoked_at < now() - ${days}::int * interval '1 day'`
      yield* sql`DELETE FROM people.passkey_challenges WHERE expires_at <= clock_timestamp()`
      const due = yield* sql<{ readonly session_id: string }>`
        SELECT s.session_id FROM people.seats s
        WHERE s.erased_at IS NULL AND s.ended_at IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM people.seats o WHERE o.session_id = s.session_id AND o.ended_at IS NULL)
          AND NOT EXISTS (SELECT 1 FROM people.records r WHERE r.session_id = s.session_id AND r.ended_at IS NULL)
        GROUP BY s.session_id
        HAVING max(s.ended_at) < now() - ${days}::int * interval '1 day'
        ORDER BY max(s.ended_at) LIMIT ${PER_ROUND}::int`
      for (const { session_id } of due) {
        // Another process may have been quicker, or a record may have come meanwhile: the next round finds it.
        yield* Effect.catchTag(
          erase(session_id, "retention", `${days} days after its end`),
          "ErasureRefused",
          () => Effect.void
        )
      }
      return { sessions: due.length, isMore: due.length === PER_ROUND }
    })
  }
})

const NONE: ErasedRows = {
  ...{ seats: 0, items: 0, answers: 0, nonces: 0, records: 0, returns: 0, questions: 0, delegations: 0 }
}
