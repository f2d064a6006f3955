import * as PgClient from "@effect/sql-pg/PgClient"
import {
  A2A_TURN,
  AnswerProof,
  Basis,
  type EscalationRecord,
  ItemState,
  MAX_UNSEEN,
  PasskeyRecord,
  PEOPLE_ANSWER,
  PEOPLE_ITEM,
  PEOPLE_QUESTION,
  PeopleAnswer,
  PeopleItem,
  PeopleQuestion
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import type { QuestionRow } from "./questions/QuestionRows.ts"
import { StoredContent } from "./StoredContent.ts"
import { encodeTurn, TurnColumns, turnKey, turnRecordOf } from "./turns/TurnRecords.ts"

/** A record that the control plane does not have yet. */
export interface DueRecord {
  readonly id: string
  readonly sessionId: string
  readonly idempotencyKey: string
  readonly kind: typeof PEOPLE_ITEM | typeof PEOPLE_ANSWER | typeof PEOPLE_QUESTION | typeof A2A_TURN
  readonly label: string
  readonly content: Schema.JsonObject
  readonly tries: number
  readonly ageMs: number
}

const NONCE_BYTES = 32

const Row = Schema.Struct({
  id: Schema.String,
  session_id: Schema.String,
  seat: Schema.String,
  scenario_ref: Schema.String,
  reveal: Schema.Literals(["after", "before"]),
  state: ItemState,
  reason: Schema.NullOr(Schema.String),
  proposal_hash: Schema.String,
  opened_at: Schema.NullOr(Schema.String),
  deadline_at: Schema.NullOr(Schema.String),
  seen_at: Schema.NullOr(Schema.String),
  closed_at: Schema.NullOr(Schema.String),
  origin: Schema.NullOr(Schema.Literals(["person", "deadline", "agent", "failure"])),
  turn: Schema.NullOr(Schema.fromJsonString(TurnColumns)),
  person: Schema.NullOr(Schema.String),
  on_behalf_of: Schema.NullOr(Schema.String),
  escalations: Schema.fromJsonString(
    Schema.Array(Schema.Struct({ step: Schema.Int, at: Schema.String, to: Schema.Array(Schema.String) }))
  ),
  proof: Schema.NullOr(AnswerProof),
  channel: Schema.NullOr(Schema.String),
  content: Schema.NullOr(Schema.fromJsonString(StoredContent)),
  basis: Schema.NullOr(Schema.fromJsonString(Basis)),
  message_id: Schema.NullOr(Schema.String),
  payload_sha256: Schema.NullOr(Schema.String),
  answered_at: Schema.NullOr(Schema.String),
  could_have_seen: Schema.NullOr(Schema.Boolean),
  passkey: Schema.NullOr(Schema.fromJsonString(PasskeyRecord))
})
const decodeRow = Schema.decodeUnknownEffect(Row)

const Due = Schema.Struct({
  id: Schema.String,
  session_id: Schema.String,
  idempotency_key: Schema.String,
  kind: Schema.Literals([PEOPLE_ITEM, PEOPLE_ANSWER, PEOPLE_QUESTION, A2A_TURN]),
  label: Schema.String,
  content: Schema.fromJsonString(Schema.JsonObject),
  tries: Schema.Int,
  age_ms: Schema.Finite
})
const decodeDue = Schema.decodeUnknownEffect(Due)

const dueOf = ({ age_ms, idempotency_key, session_id, ...row }: typeof Due.Type): DueRecord => ({
  ...row,
  sessionId: session_id,
  idempotencyKey: idempotency_key,
  ageMs: age_ms
})

const encodeItem = Schema.encodeEffect(Schema.fromJsonString(PeopleItem))
const encodeQuestion = Schema.encodeEffect(Schema.fromJsonString(PeopleQuestion))
const encodeAnswer = Schema.encodeEffect(Schema.fromJsonString(PeopleAnswer))

/**
 * The outbox of the control plane's log: what becomes of items is noted in the transaction that changes them, and
 * posted after it. Its content is fixed with the row, so that a repeated post is the same.
 */
export class RecordRows extends Context.Service<RecordRows, Effect.Success<typeof make>>()(
  "runplane/launcher/RecordRows"
) {
  static readonly layer = Layer.effect(
    RecordRows,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const random = yield* SecureRandom.SecureRandom
  /** Rows may be due: sliding, because one wake is enough for all of them. */
  const wakes = yield* Queue.sliding<void>(1)
  const noticeWakes = yield* Queue.sliding<void>(1)
  const nonce = Effect.map(random.randomBytes(NONCE_BYTES), Hex.encode)

  const read = contentReader(sql)

  /** An event of which persons are to be notified. */
  const raise = (item: string, event: Fragment) =>
    sql`INSERT INTO people.notice_events (item, event) VALUES (${item}::uuid, ${event})`

  const insert = Effect.fnUntraced(function* (
    { id, session_id }: typeof Row.Type,
    { content, key, kind, label }: Record<"content" | "key" | "label", string> & Pick<DueRecord, "kind">
  ) {
    yield* sql`
      INSERT INTO people.records (session_id, item, idempotency_key, kind, label, content)
      VALUES (${session_id}, ${id}::uuid, ${key}, ${kind}, ${label}, ${content}::text::json)`
    if (kind === PEOPLE_ITEM) yield* raise(id, sql`${content}::text::json ->> 'event'`)
  })

  /** A turn of an agent is over: `ordinal` is that of the message of its act. */
  const noteTurn = Effect.fnUntraced(function* (row: Content, ordinal?: number) {
    const content = turnRecordOf(row, yield* nonce, ordinal)
    if (content === undefined) return
    yield* insert(row, {
      key: turnKey(row.id),
      kind: A2A_TURN,
      label: `Turn of ${row.seat}`,
      content: yield* Effect.orDie(encodeTurn(content))
    })
  })

  const noteItem = Effect.fnUntraced(function* (item: string, event: PeopleItem["event"], hasActed: boolean) {
    const row = yield* read(item)
    // The record of an accepted act is that of its answer.
    if (row.turn !== null) return event === "closed" && row.state !== "accepted" ? yield* noteTurn(row) : undefined
    const content = itemContent(row, event, hasActed, yield* nonce)
    // A question that was never asked is not recorded.
    if (content === undefined) return
    yield* insert(row, {
      key: `${PEOPLE_ITEM}:${item}:${event}`,
      kind: PEOPLE_ITEM,
      label: `Question to ${row.seat}, ${event}`,
      content: yield* Effect.orDie(encodeItem(content))
    })
  })

  return {
    /** Waits until records may be due. */
    woken: Queue.take(wakes),
    /** Waits until persons may have to be notified. */
    noticesWoken: Queue.take(noticeWakes),
    /** Records, and events for notices, were committed. */
    wake: Effect.andThen(Queue.offer(wakes, undefined), Effect.asVoid(Queue.offer(noticeWakes, undefined))),

    /** An item is open, in the transaction of its change. */
    noteOpened: (item: string) => noteItem(item, "opened", false),

    /** A person gave it to others, who are notified: no event for the control plane. */
    noteReturned: (item: string) => raise(item, sql`'returned'`),

    /** Its persons are reminded; or no notice of it reached a person. */
    note: (item: string, event: "reminded" | "undelivered") => noteItem(item, event, false),

    /** An item is closed. `hasActed`: the seat has a ballot that is not an answer to it. */
    noteClosed: (item: string, hasActed = false) => noteItem(item, "closed", hasActed),

    /** A step of an escalation is made, or reaches no person. Each of the two is noted once for a step. */
    noteEscalation: Effect.fnUntraced(function* (
      item: string,
      event: "escalated" | "unreachable",
      escalation: EscalationRecord
    ) {
      const row = yield* read(item)
      const content = itemContent(row, event, false, yield* nonce)
      if (content === undefined) return yield* Effect.die(new Error(`item ${item} is not open`))
      const step = escalation.step ?? "none"
      yield* insert(row, {
        key: `${PEOPLE_ITEM}:${item}:${event}:${step}`,
        kind: PEOPLE_ITEM,
        label: `Question to ${row.seat}, ${event}`,
        content: yield* Effect.orDie(encodeItem({ ...content, escalation }))
      })
    }),

    /** The message of an answer is on record: `unseen` came after the basis of the person, and before it. */
    noteAnswer: Effect.fnUntraced(function* (
      item: string,
      ordinal: number,
      unseen: ReadonlyArray<{ readonly ordinal: number; readonly type: string }>
    ) {
      const row = yield* read(item)
      if (row.turn !== null) return yield* noteTurn(row, ordinal)
      const content = answerContent(row, ordinal, unseen.slice(0, MAX_UNSEEN), yield* nonce)
      if (content === undefined) return yield* Effect.die(new Error(`item ${item} has no answer`))
      yield* insert(row, {
        key: `${PEOPLE_ANSWER}:${item}`,
        kind: PEOPLE_ANSWER,
        label: `Answer of ${row.seat}`,
        content: yield* Effect.orDie(encodeAnswer(content))
      })
    }),

    /** A person has sent a question to the agents, in the transaction that stores it. */
    noteQuestion: Effect.fnUntraced(function* (item: string, { at, by, id, text }: QuestionRow) {
      const row = yield* read(item)
      const content = { v: 1, item, seat: row.seat, person: by, text, askedAt: at, nonce: yield* nonce } as const
      yield* insert(row, {
        key: `${PEOPLE_QUESTION}:${item}:${id}`,
        kind: PEOPLE_QUESTION,
        label: `Question of a person about an item of ${row.seat}`,
        content: yield* Effect.orDie(encodeQuestion(content))
      })
    }),

    ...dueRecords(sql)
  }
})

/** The records that the control plane does not have yet. */
const dueRecords = (sql: PgClient.PgClient) => ({
  /** The records that are due, the first due first. */
  due: (limit: number) =>
    sql`
      SELECT id::text AS id, session_id, idempotency_key, kind, label, content::text AS content, tries,
        (extract(epoch FROM clock_timestamp() - created_at) * 1000)::float8 AS age_ms
      FROM people.records WHERE ended_at IS NULL AND due_at <= clock_timestamp() ORDER BY due_at, id
      LIMIT ${limit}::int`.pipe(
      Effect.flatMap((rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeDue(row)))),
      Effect.map((rows) => rows.map(dueOf))
    ),

  /** When the next record is due, milliseconds; undefined without any. */
  nextDueMs: sql<{ readonly ms: number }>`
    SELECT (extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS ms
    FROM people.records WHERE ended_at IS NULL ORDER BY due_at LIMIT 1`.pipe(Effect.map(([row]) => row?.ms)),

  /** A try begins: the record is due again after the pause, unless it is ended before. */
  postpone: (id: string, pauseMs: number) =>
    sql`UPDATE people.records SET tries = tries + 1,
          due_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond'
        WHERE id = ${id}::bigint AND ended_at IS NULL`,

  /** The control plane has the record; with a reason, it never will. */
  end: (id: string, reason?: string) =>
    sql`UPDATE people.records SET ended_at = now(), ended_reason = ${reason ?? null}::text
        WHERE id = ${id}::bigint AND ended_at IS NULL`
})

/** Reads all that a record can say of an item. */
const contentReader = (sql: PgClient.PgClient) => {
  const iso = (column: string, name: string) =>
    sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${name}`)
  return (item: string) =>
    Effect.flatMap(
      sql`
        SELECT i.id::text AS id, i.session_id, i.seat, s.scenario_ref, coalesce(s.rules ->> 'reveal', 'after') AS reveal,
          i.state, i.reason, i.proposal_hash, ${iso("i.opened_at", "opened_at")}, ${iso("i.deadline_at", "deadline_at")},
          ${iso("i.seen_at", "seen_at")}, ${iso("i.closed_at", "closed_at")}, a.origin, a.person, a.proof, a.channel,
          a.on_behalf_of,
          coalesce((SELECT jsonb_agg(jsonb_build_object('step', e.step + 1, 'to', e.assignees, 'at',
              to_char(e.made_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY e.made_at, e.step)
            FROM people.escalations e WHERE e.item = i.id), '[]')::text AS escalations,
          CASE WHEN s.agent IS NOT NULL THEN jsonb_build_object('agentRef', s.agent->>'agentRef',
            'cardSha256', s.agent->>'cardSha256', 'taskId', t.task_id, 'resent', coalesce(t.resent, 0),
            'failure', t.failure, 'failureReason', t.failure_reason, 'usage', coalesce((
              SELECT jsonb_agg(u.value ORDER BY u.key) FROM jsonb_each(t.usage) u), '[]'))::text END AS turn,
          a.content::text AS content, a.basis::text AS basis, a.message_id, a.payload_sha256,
          ${iso("a.answered_at", "answered_at")}, a.could_have_seen, a.passkey::text AS passkey
        FROM people.items i JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat
        LEFT JOIN people.answers a ON a.item = i.id LEFT JOIN people.turns t ON t.item = i.id
        WHERE i.id = ${item}::uuid`,
      ([row]) =>
        row === undefined ? Effect.die(new Error(`item ${item} does not exist`)) : Effect.orDie(decodeRow(row))
    )
}

/** Characters of a reason in a record. */
const MAX_REASON = 4_000

type Content = typeof Row.Type

/** What became of a question; undefined for one that was never asked. */
const itemContent = (
  row: Content,
  event: PeopleItem["event"],
  hasActed: boolean,
  nonce: string
): PeopleItem | undefined => {
  const { closed_at, deadline_at, id, opened_at, origin, person, reason, scenario_ref, seat, state } = row
  if (opened_at === null) return undefined
  const isEnd = state === "expired" || (state === "withdrawn" && !hasActed)
  return {
    v: 1,
    item: id,
    event,
    seat,
    scenario: scenario_ref,
    state,
    unanswered: event === "closed" && (isEnd || origin === "deadline"),
    ...(reason !== null && { reason: reason.slice(0, MAX_REASON).toWellFormed() }),
    proposalHash: row.proposal_hash,
    ...(person !== null && { person }),
    openedAt: opened_at,
    ...(closed_at !== null && { closedAt: closed_at }),
    ...(deadline_at !== null && { deadline: deadline_at }),
    nonce
  }
}

/** The answer of an item, whose message is on record; undefined for an item without one. */
const answerContent = (
  row: Content,
  ordinal: number,
  unseen: PeopleAnswer["unseen"],
  nonce: string
): PeopleAnswer | undefined => {
  const { answered_at, basis, channel, content, deadline_at, message_id, opened_at, origin, payload_sha256 } = row
  const { escalations, id, on_behalf_of, passkey, person, proof, reveal, seat, seen_at } = row
  const isWhole = content !== null && basis !== null && message_id !== null && payload_sha256 !== null
  if (!isWhole || answered_at === null || channel === null) return undefined
  if (origin !== "person" && origin !== "deadline") return undefined
  const { act, confidence, recommendation, severity } = content
  return {
    v: 1,
    item: id,
    seat,
    origin,
    ...(person !== null && { person }),
    ...(on_behalf_of !== null && { onBehalfOf: on_behalf_of }),
    ...(escalations.length > 0 && { escalations }),
    ...(origin === "person" && proof !== null && { proof }),
    act,
    ...(recommendation !== undefined && { recommendation }),
    ...(confidence !== undefined && { confidence }),
    ...(severity !== undefined && { severity }),
    messageId: message_id,
    ordinal,
    payloadSha256: payload_sha256,
    proposalHash: row.proposal_hash,
    basis,
    unseen,
    askedAt: opened_at ?? answered_at,
    ...(seen_at !== null && { seenAt: seen_at }),
    answeredAt: answered_at,
    ...(deadline_at !== null && { deadline: deadline_at }),
    channel,
    revealed: reveal,
    couldHaveSeen: origin === "person" && (reveal === "before" || row.could_have_seen === true),
    ...(passkey !== null && { passkey }),
    nonce
  }
}
