import * as PgClient from "@effect/sql-pg/PgClient"
import { AnswerProof, Basis, type ItemChange, ItemState, mayBecome, type StoredItem } from "@runplane/domain"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { RecordRows } from "./RecordRows.ts"
import { StoredContent } from "./StoredContent.ts"

/** The item with everything that its proposal's hash covers. */
export interface NewItem {
  readonly sessionId: string
  readonly seat: string
  readonly subject: number
  readonly payload: Uint8Array
  readonly payloadType: string
  readonly replaces: string | undefined
  readonly follows: string | undefined
  /** The hash and its members, for a nonce. */
  readonly hashed: (nonce: string) => { readonly proposalHash: string; readonly members: string }
}

const Row = Schema.Struct({
  id: Schema.String,
  subject: Schema.Int,
  state: ItemState,
  reason: Schema.NullOr(Schema.String),
  proposal_hash: Schema.String,
  basis_ordinal: Schema.NullOr(Schema.Int),
  opened_ms: Schema.NullOr(Schema.Finite),
  deadline_ms: Schema.NullOr(Schema.Finite),
  escalated: Schema.fromJsonString(Schema.Array(Schema.Int)),
  person: Schema.NullOr(Schema.String),
  on_behalf_of: Schema.NullOr(Schema.String),
  proof: Schema.NullOr(AnswerProof),
  content: Schema.NullOr(Schema.fromJsonString(StoredContent)),
  answered_hash: Schema.NullOr(Schema.String),
  basis: Schema.NullOr(Schema.fromJsonString(Basis)),
  message_id: Schema.NullOr(Schema.String),
  payload_sha256: Schema.NullOr(Schema.String),
  answered_ms: Schema.NullOr(Schema.Finite)
})

/** An item with its answer. */
export interface ItemRow extends StoredItem {
  readonly reason: string | undefined
  readonly proposalHash: string
  readonly openedAtUnixMs: number | undefined
  readonly escalated: ReadonlyArray<number>
  readonly given:
    | {
        readonly person: string | undefined
        readonly onBehalfOf: string | undefined
        /** What proves that the person gave it; of an act of the deadline it says nothing. */
        readonly proof: AnswerProof
        readonly content: StoredContent
        readonly proposalHash: string
        readonly answeredAtUnixMs: number
      }
    | undefined
}

const itemOf = (row: typeof Row.Type): ItemRow => {
  const { answered_hash, answered_ms, basis, content, message_id, payload_sha256 } = row
  const isAnswered = content !== null && message_id !== null && payload_sha256 !== null && basis !== null
  return {
    id: row.id,
    subject: row.subject,
    state: row.state,
    reason: row.reason ?? undefined,
    proposalHash: row.proposal_hash,
    basisOrdinal: row.basis_ordinal ?? undefined,
    openedAtUnixMs: row.opened_ms ?? undefined,
    deadlineUnixMs: row.deadline_ms ?? undefined,
    escalated: row.escalated,
    answer: isAnswered ? { act: content.act, messageId: message_id, payloadSha256: payload_sha256, basis } : undefined,
    given:
      content === null
        ? undefined
        : {
            person: row.person ?? undefined,
            onBehalfOf: row.on_behalf_of ?? undefined,
            proof: row.proof ?? "none",
            content,
            proposalHash: answered_hash ?? "",
            answeredAtUnixMs: answered_ms ?? 0
          }
  }
}

const decodeRow = Schema.decodeUnknownEffect(Row)

/** The rows of items. All changes are made while the seat is locked. */
export class ItemRows extends Context.Service<ItemRows, Effect.Success<typeof make>>()("runplane/launcher/ItemRows") {
  static readonly layer = Layer.effect(
    ItemRows,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([SecureRandom.layerWebCrypto, RecordRows.layer]))
}

const NONCE_BYTES = 32

/** Characters of a text in the audit. */
const MAX_AUDIT_TEXT = 1_000

/** PostgreSQL stores neither U+0000 nor half of a surrogate pair. */
const bounded = (text: string): string => text.slice(0, MAX_AUDIT_TEXT).toWellFormed().replaceAll("\0", "\ufffd")

const boundedTexts = (detail: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name, typeof value === "string" ? bounded(value) : value])
  )

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const random = yield* SecureRandom.SecureRandom
  const records = yield* RecordRows
  const ms = (column: string) => sql.literal(`(extract(epoch FROM ${column}) * 1000)::float8`)
  const columns = sql`
    i.id::text AS id, i.subject, i.state, i.reason, i.proposal_hash, i.basis_ordinal, ${ms("i.opened_at")} AS opened_ms,
    ${ms("i.deadline_at")} AS deadline_ms,
    coalesce((SELECT jsonb_agg(e.step ORDER BY e.made_at, e.step) FROM people.escalations e WHERE e.item = i.id),
      '[]')::text AS escalated,
    a.person, a.on_behalf_of, a.proof, a.content::text AS content, a.proposal_hash AS answered_hash,
    a.basis::text AS basis, a.message_id, a.payload_sha256, ${ms("a.answered_at")} AS answered_ms`
  const joined = sql`people.items i LEFT JOIN people.answers a ON a.item = i.id`
  const read = (rows: ReadonlyArray<unknown>) =>
    Effect.orDie(Effect.forEach(rows, (row) => Effect.map(decodeRow(row), itemOf)))

  /** An entry of the audit, of an item or of none. Its texts are bounded. */
  const audit = (actor: string, action: string, item: string | undefined, detail: Readonly<Record<string, unknown>>) =>
    sql`INSERT INTO people.audit (actor, action, item, detail)
        VALUES (${bounded(actor)}, ${action}, ${item ?? null}::uuid, ${JSON.stringify(boundedTexts(detail))}::text::jsonb)`

  /** The nonce of a subject, the same for all its items. */
  const nonceOf = Effect.fnUntraced(function* (sessionId: string, ordinal: number) {
    const made = Hex.encode(yield* random.randomBytes(NONCE_BYTES))
    yield* sql`INSERT INTO people.subjects (session_id, ordinal, nonce)
               VALUES (${sessionId}, ${ordinal}::int, decode(${made}::text, 'hex')) ON CONFLICT DO NOTHING`
    const [row] = yield* sql<{ readonly nonce: string }>`
      SELECT encode(nonce, 'hex') AS nonce FROM people.subjects
      WHERE session_id = ${sessionId} AND ordinal = ${ordinal}::int`
    return row?.nonce ?? made
  })

  /** Moves an item to a state that its state allows. A race that it lost is a defect: the seat was not locked. */
  const become = Effect.fnUntraced(function* (id: string, state: ItemState, reason?: string) {
    const [row] = yield* sql<{ readonly state: ItemState }>`
      SELECT state FROM people.items WHERE id = ${id}::uuid FOR UPDATE`
    if (row === undefined || !mayBecome(row.state, state)) {
      return yield* Effect.die(new Error(`item ${id} cannot go from ${row?.state} to ${state}`))
    }
    const isClosed = state !== "open" && state !== "answered" && state !== "sent"
    yield* sql`
      UPDATE people.items SET state = ${state}, reason = coalesce(${reason ?? null}::text, reason),
        closed_at = CASE WHEN ${isClosed}::boolean THEN now() END
      WHERE id = ${id}::uuid`
  })

  return {
    become,
    audit,

    /** The items of a seat, the oldest first. */
    ofSeat: (sessionId: string, seat: string) =>
      Effect.flatMap(
        sql`SELECT ${columns} FROM ${joined} WHERE i.session_id = ${sessionId} AND i.seat = ${seat}
            ORDER BY i.created_at, i.id`,
        read
      ),

    byId: (id: string) =>
      sql`SELECT ${columns} FROM ${joined} WHERE i.id = ${id}::uuid`.pipe(
        Effect.flatMap(read),
        Effect.map(([row]) => row)
      ),

    /** The seat of an item; undefined for an unknown id. */
    seatOf: (id: string) =>
      sql<{ readonly session_id: string; readonly seat: string }>`
        SELECT session_id, seat FROM people.items WHERE id = ${id}::uuid`.pipe(
        Effect.map(([row]) => row && { sessionId: row.session_id, seat: row.seat })
      ),

    /** The persons who have answered for the other seats of a session, and those for whom they did, by seat. */
    answeredBy: (sessionId: string, seat: string) =>
      sql<{ readonly seat: string; readonly person: string }>`
        SELECT DISTINCT i.seat, p.person FROM people.items i JOIN people.answers a ON a.item = i.id
        CROSS JOIN LATERAL (VALUES (a.person), (a.on_behalf_of)) AS p(person)
        WHERE i.session_id = ${sessionId} AND i.seat <> ${seat} AND p.person IS NOT NULL`.pipe(
        Effect.map((rows) => {
          const bySeat = new Map<string, ReadonlyArray<string>>()
          for (const row of rows) bySeat.set(row.seat, [...(bySeat.get(row.seat) ?? []), row.person])
          return bySeat
        })
      ),

    create: Effect.fnUntraced(function* (item: NewItem) {
      const nonce = yield* nonceOf(item.sessionId, item.subject)
      const { members, proposalHash } = item.hashed(nonce)
      const id = yield* random.uuidV4()
      yield* sql`
        INSERT INTO people.items (id, session_id, seat, subject, state, hashed, proposal_hash, payload, payload_type,
          replaces, follows, created_at)
        VALUES (${id}::uuid, ${item.sessionId}, ${item.seat}, ${item.subject}::int, 'waiting', ${members}::text::jsonb,
          ${proposalHash}, decode(${Hex.encode(item.payload)}::text, 'hex'), ${item.payloadType},
          ${item.replaces ?? null}::uuid, ${item.follows ?? null}::uuid, clock_timestamp())`
      yield* audit("service", "item.created", id, { subject: item.subject, proposalHash })
    }),

    open: Effect.fnUntraced(function* ({ basisOrdinal, deadlineUnixMs, id }: Extract<ItemChange, { _tag: "open" }>) {
      yield* become(id, "open")
      yield* sql`
        UPDATE people.items SET opened_at = now(), basis_ordinal = ${basisOrdinal}::int,
          deadline_at = to_timestamp(${deadlineUnixMs ?? null}::float8 / 1000)
        WHERE id = ${id}::uuid`
      yield* records.noteOpened(id)
      yield* audit("service", "item.opened", id, { basisOrdinal })
    }),

    close: Effect.fnUntraced(function* ({ hasActed, id, reason, state }: Extract<ItemChange, { _tag: "close" }>) {
      yield* become(id, state, reason)
      yield* records.noteClosed(id, hasActed)
      yield* audit("service", `item.${state}`, id, { reason })
    }),

    /** The time of the database, Unix milliseconds: deadlines follow it. */
    now: sql<{ readonly now: number }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`.pipe(
      Effect.map(([row]) => row?.now ?? 0)
    )
  }
})
