import type * as PgClient from "@effect/sql-pg/PgClient"
import { isFinal } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../common/Json.ts"
import { type TaskState, USED_STATES } from "./TaskWire.ts"

const Row = Schema.Struct({
  id: Schema.String,
  caller: Schema.String,
  requester: Schema.NullOr(Schema.String),
  context_id: Schema.String,
  message_id: Schema.String,
  content_sha256: Schema.String,
  skill: Schema.NullOr(Schema.String),
  scenario_ref: Schema.NullOr(Schema.String),
  template: Schema.NullOr(Schema.String),
  inputs: Schema.NullOr(Schema.fromJsonString(Schema.JsonObject)),
  state: Schema.Literals(USED_STATES),
  reason: Schema.NullOr(Schema.String),
  created_ms: Schema.Finite,
  state_ms: Schema.Finite,
  launched_ms: Schema.NullOr(Schema.Finite)
})

/** A task as the database has it. Its state is the one that was last read. */
export interface TaskRow {
  readonly id: string
  readonly caller: string
  readonly requester: string | undefined
  readonly contextId: string
  /** The first message of the task. */
  readonly messageId: string
  /** Of the latest message. */
  readonly contentSha256: string
  readonly skill: string | undefined
  readonly scenarioRef: string | undefined
  readonly template: string | undefined
  /** Of a launch that has not ended. */
  readonly inputs: JsonObject | undefined
  readonly state: TaskState
  readonly reason: string | undefined
  readonly createdAtUnixMs: number
  readonly stateAtUnixMs: number
  readonly launchedAtUnixMs: number | undefined
}

const taskOf = (row: typeof Row.Type): TaskRow => ({
  id: row.id,
  caller: row.caller,
  requester: row.requester ?? undefined,
  contextId: row.context_id,
  messageId: row.message_id,
  contentSha256: row.content_sha256,
  skill: row.skill ?? undefined,
  scenarioRef: row.scenario_ref ?? undefined,
  template: row.template ?? undefined,
  inputs: row.inputs ?? undefined,
  state: row.state,
  reason: row.reason ?? undefined,
  createdAtUnixMs: row.created_ms,
  stateAtUnixMs: row.state_ms,
  launchedAtUnixMs: row.launched_ms ?? undefined
})

/** What a message makes of its task. */
export interface TaskPlan {
  readonly state: TaskState
  readonly skill: string | undefined
  readonly scenarioRef: string | undefined
  readonly template: string | undefined
  readonly inputs: JsonObject | undefined
  readonly reason: string | undefined
}

export interface TaskOrigin {
  readonly id: string
  readonly caller: string
  readonly requester: string | undefined
  readonly contextId: string
}

interface MessageKey {
  readonly caller: string
  readonly messageId: string
  readonly contentSha256: string
}

const MessageRow = Schema.Struct({ task: Schema.String, content_sha256: Schema.String })
const Total = Schema.Struct({ total: Schema.Int })
const Question = Schema.Struct({
  seat: Schema.String,
  assign: Schema.fromJsonString(Schema.Array(Schema.String)),
  deadline_ms: Schema.NullOr(Schema.Finite)
})

/** An open question to a seat of a session. */
export interface OpenQuestion {
  readonly seat: string
  /** `person:` or `group:` and an id. */
  readonly assigned: ReadonlyArray<string>
  readonly deadlineUnixMs: number | undefined
}

export interface TaskFilter {
  readonly caller: string
  readonly contextId: string | undefined
  readonly state: TaskState | undefined
  readonly changedAfter: number | undefined
}

const decodeRow = Schema.decodeUnknownEffect(Row)
const decodeTotal = Schema.decodeUnknownEffect(Total)
const decodeQuestion = Schema.decodeUnknownEffect(Question)
const decodeMessage = Schema.decodeUnknownEffect(MessageRow)

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Characters of a reason. */
const MAX_REASON = 2_000

/** PostgreSQL stores neither U+0000 nor half of a surrogate pair. */
const stored = (text: string | undefined): string | null =>
  text === undefined ? null : text.slice(0, MAX_REASON).toWellFormed().replaceAll("\0", "\ufffd")

/** The rows of tasks. A row that does not fit its Schema is a defect of the program. */
export const makeTaskRows = (sql: PgClient.PgClient) => {
  const ms = (column: string) => sql.literal(`(extract(epoch FROM ${column}) * 1000)::float8`)
  const columns = sql`
    id::text AS id, caller, requester, context_id, message_id, content_sha256, skill, scenario_ref, template,
    inputs, state, reason, ${ms("created_at")} AS created_ms, ${ms("state_at")} AS state_ms,
    ${ms("launched_at")} AS launched_ms`
  const read = (rows: ReadonlyArray<unknown>) =>
    Effect.orDie(Effect.forEach(rows, (row) => Effect.map(decodeRow(row), taskOf)))
  const time = (unixMs: number | undefined) => sql`to_timestamp(${unixMs ?? null}::float8 / 1000)`
  const json = (value: JsonObject | undefined) => sql`${value === undefined ? null : JSON.stringify(value)}::text`

  /** No other text is the id of a task. */
  const ofCaller = (id: string, caller: string, lock = sql``) =>
    UUID.test(id)
      ? sql`SELECT ${columns} FROM people.a2a_tasks WHERE id = ${id}::uuid AND caller = ${caller} ${lock}`.pipe(
          Effect.flatMap(read),
          Effect.map(([row]) => row)
        )
      : Effect.succeed(undefined)

  const messageOf = Effect.fnUntraced(function* (caller: string, messageId: string) {
    const [row] = yield* sql`
      SELECT task::text AS task, content_sha256 FROM people.a2a_messages
      WHERE caller = ${caller} AND message_id = ${messageId}`
    if (row === undefined) return undefined
    const { content_sha256, task } = yield* Effect.orDie(decodeMessage(row))
    return { task, contentSha256: content_sha256 }
  })

  const matching = ({ caller, changedAfter, contextId, state }: TaskFilter) => sql`
    caller = ${caller}
    AND (${contextId ?? null}::text IS NULL OR context_id = ${contextId ?? null}::text)
    AND (${state ?? null}::text IS NULL OR state = ${state ?? null}::text)
    AND (${changedAfter ?? null}::float8 IS NULL OR state_at >= ${time(changedAfter)})`

  return {
    find: (id: string, caller: string) => ofCaller(id, caller),

    /** An earlier message of the caller with this id. */
    message: ({ caller, messageId }: MessageKey) => messageOf(caller, messageId),

    /** Notes the id of a message. The earlier message with this id; undefined when there is none. */
    addMessage: Effect.fnUntraced(function* ({ caller, contentSha256, messageId }: MessageKey, task: string) {
      const added = yield* sql`
        INSERT INTO people.a2a_messages (caller, message_id, task, content_sha256)
        VALUES (${caller}, ${messageId}, ${task}::uuid, ${contentSha256})
        ON CONFLICT DO NOTHING RETURNING task`
      if (added.length > 0) return undefined
      return yield* messageOf(caller, messageId)
    }),

    /** Adds a task; false when there is one with its id. */
    add: (
      { caller, contextId, id, requester }: TaskOrigin,
      { contentSha256, messageId }: MessageKey,
      { inputs, reason, scenarioRef, skill, state, template }: TaskPlan
    ) =>
      Effect.map(
        sql`
          INSERT INTO people.a2a_tasks (id, caller, requester, context_id, message_id, content_sha256, skill,
            scenario_ref, template, inputs, state, reason)
          VALUES (${id}::uuid, ${caller}, ${requester ?? null}::text, ${contextId}, ${messageId}, ${contentSha256},
            ${skill ?? null}::text, ${scenarioRef ?? null}::text, ${template ?? null}::text, ${json(inputs)}, ${state},
            ${stored(reason)}::text)
          ON CONFLICT DO NOTHING RETURNING id`,
        (rows) => rows.length > 0
      ),

    /** Locks a task of a caller for a transaction. */
    lock: (id: string, caller: string) => ofCaller(id, caller, sql`FOR UPDATE`),

    /** Continues a task with another message. */
    plan: (id: string, contentSha256: string, { inputs, reason, scenarioRef, skill, state, template }: TaskPlan) =>
      sql`
        UPDATE people.a2a_tasks SET content_sha256 = ${contentSha256}, skill = ${skill ?? null}::text,
          scenario_ref = ${scenarioRef ?? null}::text, template = ${template ?? null}::text, inputs = ${json(inputs)},
          state = ${state}, reason = ${stored(reason)}::text, state_at = now()
        WHERE id = ${id}::uuid`,

    /** The launch has ended; with a reason, in failure. */
    launched: (id: string, reason: string | undefined) =>
      sql`
        UPDATE people.a2a_tasks SET launched_at = now(), inputs = NULL, reason = ${stored(reason)}::text,
          state = CASE WHEN ${stored(reason)}::text IS NULL THEN state ELSE 'TASK_STATE_FAILED' END,
          state_at = CASE WHEN ${stored(reason)}::text IS NULL THEN state_at ELSE now() END
        WHERE id = ${id}::uuid AND launched_at IS NULL`,

    /** Launches that have not ended, the oldest first. */
    due: Effect.flatMap(
      sql`
        SELECT ${columns} FROM people.a2a_tasks
        WHERE launched_at IS NULL AND scenario_ref IS NOT NULL ORDER BY created_at, id`,
      read
    ),

    /** The state that was read. A final one stays. */
    note: (row: Pick<TaskRow, "id" | "state">, state: TaskState, atUnixMs: number, reason?: string) =>
      row.state === state || isFinal(row.state)
        ? Effect.void
        : Effect.asVoid(sql`
            UPDATE people.a2a_tasks SET state = ${state}, state_at = ${time(atUnixMs)}, reason = ${stored(reason)}::text
            WHERE id = ${row.id}::uuid AND state = ${row.state}`),

    remove: (id: string) => sql`DELETE FROM people.a2a_tasks WHERE id = ${id}::uuid`,

    /** Tasks of a caller whose runs may have changed, the oldest first. */
    open: (caller: string, limit: number) =>
      Effect.flatMap(
        sql`
          SELECT ${columns} FROM people.a2a_tasks
          WHERE caller = ${caller} AND state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')
          ORDER BY created_at, id LIMIT ${limit}::int`,
        read
      ),

    /** A page of a caller's tasks, the latest first, behind the task `after`. */
    page: (filter: TaskFilter, after: string | undefined, limit: number) =>
      Effect.flatMap(
        sql`
          SELECT ${columns} FROM people.a2a_tasks
          WHERE ${matching(filter)} AND (${after ?? null}::text IS NULL OR (created_at, id) <
            (SELECT a.created_at, a.id FROM people.a2a_tasks a WHERE a.id = ${after ?? null}::uuid
              AND a.caller = ${filter.caller}))
          ORDER BY created_at DESC, id DESC LIMIT ${limit}::int`,
        read
      ),

    count: (filter: TaskFilter) =>
      sql`SELECT count(*)::int AS total FROM people.a2a_tasks WHERE ${matching(filter)}`.pipe(
        Effect.flatMap(([row]) => Effect.orDie(decodeTotal(row))),
        Effect.map(({ total }) => total)
      ),

    /** Deletes tasks that have waited for inputs for longer than that. Their number. */
    expire: (ms: number) =>
      Effect.map(
        sql`
          DELETE FROM people.a2a_tasks
          WHERE scenario_ref IS NULL AND state_at < now() - ${ms}::float8 * interval '1 millisecond' RETURNING id`,
        (rows) => rows.length
      ),

    /** Ended tasks, in the order of their ids, behind `after`. */
    ended: (after: string | undefined, limit: number) =>
      Effect.flatMap(
        sql`
          SELECT ${columns} FROM people.a2a_tasks
          WHERE launched_at IS NOT NULL AND (${after ?? null}::uuid IS NULL OR id > ${after ?? null}::uuid)
          ORDER BY id LIMIT ${limit}::int`,
        read
      ),

    /** The questions of a session that are open. */
    questions: (sessionId: string) =>
      sql`
        SELECT i.seat, s.rules ->> 'assign' AS assign, ${ms("i.deadline_at")} AS deadline_ms
        FROM people.items i JOIN people.seats s ON s.session_id = i.session_id AND s.seat = i.seat
        WHERE i.session_id = ${sessionId} AND i.state = 'open' ORDER BY i.opened_at, i.id`.pipe(
        Effect.flatMap((rows) => Effect.orDie(Effect.forEach(rows, (row) => decodeQuestion(row)))),
        Effect.map((rows) =>
          rows.map(
            ({ assign, deadline_ms, seat }): OpenQuestion => ({
              seat,
              assigned: assign,
              deadlineUnixMs: deadline_ms ?? undefined
            })
          )
        )
      ),

    inTransaction: sql.withTransaction
  }
}

export type TaskRows = ReturnType<typeof makeTaskRows>
