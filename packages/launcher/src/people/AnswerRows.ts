import * as PgClient from "@effect/sql-pg/PgClient"
import { type AnswerProof, Basis, ItemState, type PasskeyRecord } from "@runplane/domain"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ItemRows } from "./ItemRows.ts"
import { RecordRows } from "./RecordRows.ts"
import type { StoredContent } from "./StoredContent.ts"

/** An answer that is to be stored with its message. */
export interface NewAnswer {
  readonly item: string
  readonly origin: "person" | "deadline" | "agent" | "failure"
  readonly person: string | undefined
  /** The delegation that gives the right. */
  readonly delegation?: { readonly id: string; readonly by: string } | undefined
  readonly proof: AnswerProof
  /** How a passkey has signed it. */
  readonly passkey?: PasskeyRecord | undefined
  readonly channel: string
  /** Whether the person could read the votes of others elsewhere; assumed where that is not known. */
  readonly couldHaveSeen?: boolean | undefined
  readonly content: StoredContent
  readonly proposalHash: string
  readonly basis: Basis
  readonly messageType: string
  readonly payload: Uint8Array
  readonly payloadSha256: string
}

/** A message that is not settled: the outbox of a seat. */
export interface DueAnswer {
  readonly item: string
  readonly state: ItemState
  readonly messageId: string
  readonly messageType: string
  readonly payload: Uint8Array
  readonly payloadSha256: string
  readonly basis: Basis
  readonly sends: number
  /** Milliseconds until it is due; not positive for one that is. */
  readonly dueInMs: number
}

const Due = Schema.Struct({
  item: Schema.String,
  state: ItemState,
  message_id: Schema.String,
  message_type: Schema.String,
  payload: Schema.String,
  payload_sha256: Schema.String,
  basis: Schema.fromJsonString(Basis),
  sends: Schema.Int,
  due_ms: Schema.Finite
})
const decodeDue = Schema.decodeUnknownEffect(Due)

const dueOf = (row: typeof Due.Type): DueAnswer => ({
  item: row.item,
  state: row.state,
  messageId: row.message_id,
  messageType: row.message_type,
  payload: Result.getOrThrow(Hex.decode(row.payload)),
  payloadSha256: row.payload_sha256,
  basis: row.basis,
  sends: row.sends,
  dueInMs: row.due_ms
})

/**
 * The rows of answers, one for each item that has one. They are the outbox too: a row is due until it is settled. All
 * changes of a state are made while the seat is locked.
 */
export class AnswerRows extends Context.Service<AnswerRows, Effect.Success<typeof make>>()(
  "runplane/launcher/AnswerRows"
) {
  static readonly layer = Layer.effect(
    AnswerRows,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([SecureRandom.layerWebCrypto, RecordRows.layer]))
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const random = yield* SecureRandom.SecureRandom
  const { audit, become } = yield* ItemRows
  const records = yield* RecordRows

  const settle = (item: string) =>
    sql`UPDATE people.answers SET settled_at = now() WHERE item = ${item}::uuid AND settled_at IS NULL`

  return {
    /** Stores the answer of an item, which has none. The unique key of the row refuses a second one. */
    add: Effect.fnUntraced(function* (answer: NewAnswer) {
      const {
        basis,
        channel,
        content,
        couldHaveSeen = true,
        item,
        messageType,
        origin,
        payload,
        payloadSha256
      } = answer
      const { delegation, passkey, person, proof } = answer
      const messageId = yield* random.uuidV4()
      yield* become(item, "answered")
      yield* sql`
        INSERT INTO people.answers (item, origin, person, proof, channel, content, proposal_hash, basis, message_id,
          message_type, payload, payload_sha256, could_have_seen, passkey, delegation, on_behalf_of)
        VALUES (${item}::uuid, ${origin}, ${person ?? null}::text, ${proof}, ${channel},
          ${JSON.stringify(content)}::text::jsonb, ${answer.proposalHash}, ${JSON.stringify(basis)}::text::jsonb,
          ${messageId}, ${messageType}, decode(${Hex.encode(payload)}::text, 'hex'), ${payloadSha256},
          ${couldHaveSeen}::boolean, ${passkey === undefined ? null : JSON.stringify(passkey)}::text::jsonb,
          ${delegation?.id ?? null}::uuid, ${delegation?.by ?? null}::text)`
      yield* audit(person ?? origin, "item.answered", item, {
        ...{ act: content.act, channel, proof },
        ...(delegation !== undefined && { delegation: delegation.id, onBehalfOf: delegation.by })
      })
    }),

    /** The answers that a person has given in the last minute. */
    inLastMinute: (person: string) =>
      sql<{ readonly answers: number }>`
        SELECT count(*)::int4 AS answers FROM people.answers
        WHERE person = ${person} AND answered_at > now() - interval '1 minute'`.pipe(
        Effect.map(([row]) => row?.answers ?? 0)
      ),

    /** The own message is on record; `unseen` are the messages after the basis, and before it. */
    accept: Effect.fnUntraced(function* (
      item: string,
      ordinal: number,
      unseen: ReadonlyArray<{ readonly ordinal: number; readonly type: string }>
    ) {
      yield* become(item, "accepted")
      const ordinals = JSON.stringify(unseen.map((one) => one.ordinal))
      yield* sql`
        UPDATE people.answers SET accepted_ordinal = ${ordinal}::int, unseen = ${ordinals}::text::jsonb
        WHERE item = ${item}::uuid`
      yield* settle(item)
      yield* records.noteAnswer(item, ordinal, unseen)
      yield* records.noteClosed(item)
      yield* audit("service", "item.accepted", item, { ordinal, unseen: unseen.length })
    }),

    /** The message of the answer is looked up elsewhere: for how long already, milliseconds. */
    seek: (item: string) =>
      sql<{ readonly ms: number }>`
        UPDATE people.answers SET sought_at = coalesce(sought_at, clock_timestamp()) WHERE item = ${item}::uuid
        RETURNING (extract(epoch FROM clock_timestamp() - sought_at) * 1000)::float8 AS ms`.pipe(
        Effect.map(([row]) => row?.ms ?? 0)
      ),

    /** The runtime knows another message by the id of the answer: it gets a new one. */
    renewId: Effect.fnUntraced(function* (item: string, ordinal: number) {
      const messageId = yield* random.uuidV4()
      yield* sql`
        UPDATE people.answers SET message_id = ${messageId}, sends = 0, due_at = now() WHERE item = ${item}::uuid`
      yield* audit("service", "item.id-taken", item, { ordinal })
    }),

    /** The messages of a seat that are not settled, the first due first. */
    due: (sessionId: string, seat: string) =>
      sql`
        SELECT a.item::text AS item, i.state, a.message_id, a.message_type, encode(a.payload, 'hex') AS payload,
          a.payload_sha256, a.basis::text AS basis, a.sends,
          (extract(epoch FROM a.due_at - clock_timestamp()) * 1000)::float8 AS due_ms
        FROM people.answers a JOIN people.items i ON i.id = a.item
        WHERE i.session_id = ${sessionId} AND i.seat = ${seat} AND a.settled_at IS NULL ORDER BY a.due_at`.pipe(
        Effect.flatMap((rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeDue(row)))),
        Effect.map((found) => found.map(dueOf))
      ),

    /** A try was made: the message is due again after the pause, unless it is settled before. */
    postpone: (item: string, pauseMs: number) =>
      sql`UPDATE people.answers SET sends = sends + 1,
            due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
          WHERE item = ${item}::uuid AND settled_at IS NULL`,

    /** The runtime has acknowledged the message; it is accepted once it is read, which may have been before. */
    sent: (item: string) =>
      Effect.asVoid(sql`UPDATE people.items SET state = 'sent' WHERE id = ${item}::uuid AND state = 'answered'`),

    /** The message is not in the session, and will not be. Nothing, when it was read meanwhile. */
    fail: Effect.fnUntraced(function* (item: string, state: "refused" | "unknown", reason: string) {
      const [open] = yield* sql`
        SELECT FROM people.answers WHERE item = ${item}::uuid AND settled_at IS NULL FOR UPDATE`
      if (open === undefined) return
      yield* become(item, state, reason)
      yield* settle(item)
      yield* records.noteClosed(item)
      yield* audit("service", `item.${state}`, item, { reason })
    })
  }
})
