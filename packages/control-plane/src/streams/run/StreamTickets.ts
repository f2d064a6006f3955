import * as PgClient from "@effect/sql-pg/PgClient"
import { type Actor, actorTypes, roles } from "@runplane/api"
import { isoTime, isUuid, type RunId } from "@runplane/domain"
import { Tickets } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { isoNow } from "../../platform/IsoNow.ts"

/** Lifetime of a ticket, milliseconds. */
export const TICKET_MS = 60_000

const TICKET_BYTES = 32

/** The form of a ticket; the database is not queried for other texts. */
const TICKET = /^[\w-]{43}$/

const Holder = Schema.Struct({
  actorId: Schema.String,
  actorType: Schema.Literals(actorTypes),
  role: Schema.Literals(roles),
  name: Schema.optionalKey(Schema.String)
})

export interface IssuedTicket {
  readonly ticket: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

/**
 * Tickets replace the API key when a stream opens: for one run, for a minute, once (docs/reference/http.md#tickets).
 * The database stores them, so that a process accepts the tickets of the others.
 */
export class StreamTickets extends Context.Service<
  StreamTickets,
  {
    readonly issue: (runId: RunId, actor: Actor) => Effect.Effect<IssuedTicket, SqlError>
    /** The actor of a ticket; undefined when the ticket is for another run, has expired or was used. */
    readonly find: (ticket: string, runId: string) => Effect.Effect<Actor | undefined, SqlError>
    /** As `find`, and deletes the ticket. */
    readonly redeem: (ticket: string, runId: string) => Effect.Effect<Actor | undefined, SqlError>
  }
>()("runplane/control-plane/StreamTickets") {
  static readonly layer = Layer.effect(
    StreamTickets,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const digest = yield* Digest.Digest
      const hashOf = (ticket: string) =>
        Effect.map(digest.digest(Digest.sha256, new TextEncoder().encode(ticket)), Hex.encode)

      const issue = Effect.fn("StreamTickets.issue")(function* (runId: RunId, actor: Actor) {
        const now = yield* Clock.currentTimeMillis
        const ticket = Base64Url.encode(yield* random.randomBytes(TICKET_BYTES))
        const expiresAt = now + TICKET_MS
        const hash = yield* Effect.orDie(hashOf(ticket))
        yield* sql`DELETE FROM stream_tickets WHERE expires_at <= ${isoTime(now)}::timestamptz`
        yield* sql`
          INSERT INTO stream_tickets (hash, run_id, actor, actor_name, actor_type, role, expires_at)
          VALUES (decode(${hash}, 'hex'), ${runId}::uuid, ${actor.actorId}, ${actor.name ?? null}, ${actor.actorType},
                  ${actor.role}, ${isoTime(expiresAt)}::timestamptz)`
        return { ticket, expiresAt }
      })

      const holder = sql`
        json_strip_nulls(json_build_object('actorId', actor, 'actorType', actor_type, 'name', actor_name,
                                           'role', role)) AS holder`

      const holderOf = Effect.fnUntraced(function* (
        ticket: string,
        runId: string,
        read: (valid: Fragment) => Effect.Effect<ReadonlyArray<{ readonly holder: unknown }>, SqlError>
      ) {
        if (!TICKET.test(ticket) || !isUuid(runId)) return undefined
        const hash = yield* Effect.orDie(hashOf(ticket))
        const now = yield* isoNow
        const [row] = yield* read(
          sql`hash = decode(${hash}, 'hex') AND run_id = ${runId}::uuid AND expires_at > ${now}::timestamptz`
        )
        return row === undefined ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Holder)(row.holder))
      })
      const find = Effect.fn("StreamTickets.find")((ticket: string, runId: string) =>
        holderOf(ticket, runId, (valid) => sql`SELECT ${holder} FROM stream_tickets WHERE ${valid}`)
      )
      const redeem = Effect.fn("StreamTickets.redeem")((ticket: string, runId: string) =>
        holderOf(ticket, runId, (valid) => sql`DELETE FROM stream_tickets WHERE ${valid} RETURNING ${holder}`)
      )
      return StreamTickets.of({ issue, find, redeem })
    })
  ).pipe(Layer.provide([SecureRandom.layerWebCrypto, Digest.layerWebCrypto]))

  /** The tickets for the authentication before the handlers, which returns 503 while the database is unavailable. */
  static readonly layerGuard = Layer.effect(
    Tickets,
    Effect.map(StreamTickets, ({ find, redeem }) => ({
      find: (ticket: string, runId: string) => answeredOr(find(ticket, runId)),
      redeem: (ticket: string, runId: string) => answeredOr(redeem(ticket, runId))
    }))
  )
}

/** The holder of a ticket, or a failure with the answer that an outage gets. */
const answeredOr = (holder: Effect.Effect<Actor | undefined, SqlError>) =>
  Effect.flatMap(orUnavailable(holder), (found) =>
    found === undefined || "actorId" in found ? Effect.succeed(found) : Effect.fail(found)
  )
