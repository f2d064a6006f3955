import * as PgClient from "@effect/sql-pg/PgClient"
import { Basis, type TurnFailure, TurnPhase, type TurnUsage } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Row = Schema.Struct({
  item: Schema.String,
  basis: Schema.fromJsonString(Basis),
  phase: TurnPhase,
  task_id: Schema.NullOr(Schema.String),
  repaired_task_id: Schema.NullOr(Schema.String),
  sends: Schema.Int,
  is_received: Schema.Boolean
})
const decodeRow = Schema.decodeUnknownEffect(Row)

/** A turn as far as it has come: what a restarted service goes on from. */
export interface TurnRow {
  readonly item: string
  readonly basis: Basis
  readonly phase: TurnPhase
  /** The task of the phase; undefined until the agent has answered one. */
  readonly taskId: string | undefined
  /** The task before a repair. */
  readonly repairedTaskId: string | undefined
  /** How often the message of the phase was sent. */
  readonly sends: number
  /** Whether the agent has the message of the phase. */
  readonly isReceived: boolean
}

const turnOf = (row: typeof Row.Type): TurnRow => ({
  item: row.item,
  basis: row.basis,
  phase: row.phase,
  taskId: row.task_id ?? undefined,
  repairedTaskId: row.repaired_task_id ?? undefined,
  sends: row.sends,
  isReceived: row.is_received
})

/** The rows of turns, one for each item of an agent that speaks A2A. */
export class TurnRows extends Context.Service<TurnRows, Effect.Success<typeof make>>()("runplane/launcher/TurnRows") {
  static readonly layer = Layer.effect(
    TurnRows,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const columns = sql.literal(
    "t.item::text AS item, t.basis::text AS basis, t.phase, t.task_id, t.repaired_task_id, t.sends, t.is_received"
  )
  const read = (rows: ReadonlyArray<unknown>) =>
    Effect.orDie(Effect.forEach(rows, (row) => Effect.map(decodeRow(row), turnOf)))
  const add = (item: string, basis: Basis) =>
    sql`INSERT INTO people.turns (item, basis) VALUES (${item}::uuid, ${JSON.stringify(basis)}::text::jsonb)
        ON CONFLICT DO NOTHING`
  const find = Effect.fnUntraced(function* (item: string) {
    const [row] = yield* read(yield* sql`SELECT ${columns} FROM people.turns t WHERE t.item = ${item}::uuid`)
    return row ?? (yield* Effect.die(new Error(`item ${item} has no turn`)))
  })

  return {
    /** The turn of an item; a new one rests on what the session is now. */
    begin: (item: string, basis: Basis) => Effect.andThen(add(item, basis), find(item)),

    find,

    /** The message of the phase is about to be sent; every send but the first is counted. */
    noteSend: (item: string) =>
      sql`UPDATE people.turns SET sends = sends + 1, resent = resent + CASE WHEN sends > 0 THEN 1 ELSE 0 END
          WHERE item = ${item}::uuid`,

    /** The token of the next notices, by its hash. */
    noteToken: (item: string, sha256: string) =>
      sql`UPDATE people.turns SET notice_sha256 = ${sha256} WHERE item = ${item}::uuid`,

    /** Whether a token and a task are those of the turn of an open item; any task fits before one is known. */
    takesNotice: (item: string, sha256: string, taskId: string) =>
      Effect.map(
        sql`SELECT FROM people.turns t JOIN people.items i ON i.id = t.item
            WHERE t.item = ${item}::uuid AND t.notice_sha256 = ${sha256} AND i.state = 'open'
              AND coalesce(t.task_id, ${taskId}) = ${taskId}`,
        (rows) => rows.length > 0
      ),

    /** The agent has the message of the phase, with the task that it made of it. */
    noteReceived: (item: string, taskId: string | undefined) =>
      Effect.asVoid(
        sql`UPDATE people.turns SET is_received = true, task_id = coalesce(${taskId ?? null}::text, task_id)
            WHERE item = ${item}::uuid`
      ),

    /** What the agent states that the task of a phase has used; more input goes on with the first task. */
    noteUsage: ({ item, phase }: TurnRow, usage: TurnUsage) =>
      sql`UPDATE people.turns
          SET usage = usage || jsonb_build_object(${phase === "repair" ? "repair" : "first"}::text,
            ${JSON.stringify(usage)}::text::jsonb)
          WHERE item = ${item}::uuid`,

    /** The agent does not know the task any more: its message is sent again. */
    forgetTask: (item: string) =>
      sql`UPDATE people.turns SET is_received = false, task_id = NULL WHERE item = ${item}::uuid`,

    /** The next phase: more input goes on with the task, a repair gets a new one. */
    enter: (item: string, phase: "input" | "repair") =>
      sql`UPDATE people.turns SET phase = ${phase}, sends = 0, is_received = false,
            repaired_task_id = CASE WHEN ${phase} = 'repair' THEN task_id END,
            task_id = CASE WHEN ${phase} = 'input' THEN task_id END
          WHERE item = ${item}::uuid`,

    /** Why the turn has failed; the first reason stays. */
    fail: (item: string, basis: Basis, why: TurnFailure, reason: string) =>
      Effect.andThen(
        add(item, basis),
        sql`UPDATE people.turns SET failure = ${why}, failure_reason = ${reason}
            WHERE item = ${item}::uuid AND failure IS NULL`
      ),

    /** The task needs no cancellation. */
    release: (item: string) =>
      sql`UPDATE people.turns SET released_at = now() WHERE item = ${item}::uuid AND released_at IS NULL`,

    /** Turns of a seat whose item is not open any more, with a task that may go on. */
    unreleased: (sessionId: string, seat: string) =>
      Effect.flatMap(
        sql`SELECT ${columns} FROM people.turns t JOIN people.items i ON i.id = t.item
            WHERE t.released_at IS NULL AND i.session_id = ${sessionId} AND i.seat = ${seat} AND i.state <> 'open'`,
        read
      )
  }
})
