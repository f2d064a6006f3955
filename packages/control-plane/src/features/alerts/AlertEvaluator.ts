import * as PgClient from "@effect/sql-pg/PgClient"
import { describeSqlError, isContention, isOutage, isTimeout } from "@runplane/database"
import { type CountedMark, makePeriods, runSliced } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { makeAlertClock } from "./AlertClock.ts"
import { makeAlertStep, type StepInput } from "./AlertStep.ts"
import { makeAlertStores } from "./AlertStore.ts"
import { releaseSettled } from "./budgets/Reservations.ts"
import { makeChangedRules } from "./ChangedRules.ts"
import { makeActiveRules } from "./evaluator/ActiveRules.ts"
import { makeBackfills } from "./evaluator/Backfills.ts"
import { makeRecounts } from "./evaluator/Recounts.ts"
import { readLog, STEP_EVENTS } from "./evaluator/Steps.ts"
import { makeFiringWriter } from "./FiringWriter.ts"
import type { Matches } from "./RuleMatches.ts"
import { makeRunAmounts } from "./RunAmounts.ts"

/** What a step has done. */
export interface Stepped {
  /** The position in the log after it. */
  readonly upTo: number
  readonly isEnd: boolean
  /** Between the last event that was read and now; 0 at the end of the log. Milliseconds. */
  readonly lagMs: number
}

/**
 * Evaluates all rules over the log (docs/reference/alerts.md#exactly-once). A step is one transaction: counters,
 * firings, deadlines, notifications, commands and the cursor commit together. The transaction locks the cursor and
 * compares it with the position that it has read from, so two processes that evaluate at the same time write each event
 * once.
 */
export class AlertEvaluator extends Context.Service<
  AlertEvaluator,
  {
    /** Undefined without rules, and after another process has moved the cursor. */
    readonly step: Effect.Effect<Stepped | undefined, SqlError>
  }
>()("runplane/control-plane/AlertEvaluator") {
  static readonly layer = Layer.effect(
    AlertEvaluator,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* DatabaseClock
      const outbox = yield* Outbox
      const writer = yield* makeFiringWriter
      const alertClock = yield* makeAlertClock
      const changes = yield* makeChangedRules(writer)
      const amounts = yield* makeRunAmounts(writer, changes)
      const keptMs = yield* callsKeptMs
      const rules = yield* makeActiveRules
      const stores = yield* makeAlertStores({ alertClock, amounts, changes, keptMs, writer })
      const takeStep = yield* makeAlertStep({ periods: makePeriods(), keptMs }, (slices) =>
        Effect.sync(() => runSliced(slices))
      )
      const parts = { rules, stores, takeStep }
      const backfill = yield* makeBackfills(parts)
      const recount = yield* makeRecounts({ ...parts, amounts })

      /**
       * After a step that failed: tries each rule by itself, in a transaction that is rolled back, and keeps those out
       * that fail. The next step has the others.
       */
      const isolate = Effect.fnUntraced(function* (input: StepInput, cause: Cause.Cause<SqlError>) {
        if (Cause.hasInterrupts(cause) || isTemporary(cause)) return
        for (const active of input.rules) {
          const attempt = sql.withTransaction(
            Effect.andThen(
              takeStep(stores.live(input.now), { ...input, rules: [active] }),
              Effect.fail("rolled back" as const)
            )
          )
          const exit = yield* Effect.exit(attempt)
          if (Exit.isSuccess(exit) || Cause.squash(exit.cause) === "rolled back") continue
          yield* rules.fail(active.rule.id, reasonOf(exit.cause))
        }
      })

      const readMarks = sql<MarkRow>`
        SELECT id, run_id::text AS run_id, name, at, value, n, telemetry FROM alert_marks ORDER BY id LIMIT ${STEP_EVENTS}`

      /** What the next step counts, read before its transaction. */
      const readStep = Effect.fnUntraced(function* (cursor: CursorRow, now: number) {
        const active = yield* rules.ofVersion(cursor.rules_version)
        const from = Number(cursor.seq)
        yield* backfill(from, now)
        const { events, isEnd, upTo } = yield* readLog(sql, from)
        const marks = yield* readMarks
        const runIds = new Set<string>([...events.map(({ runId }) => runId), ...marks.map(({ run_id }) => run_id)])
        const found: Matches =
          runIds.size === 0 ? { runs: new Map(), failures: new Map() } : yield* rules.matchesOf([...runIds], active)
        return { cursor, events, isEnd, upTo, marks, runIds, rules: active, found, now }
      })

      /** Returns false when another process has moved the cursor, or the rules have changed. */
      const commit = Effect.fnUntraced(function* (read: Effect.Success<ReturnType<typeof readStep>>) {
        const { cursor, events, found, marks, now, rules: active, runIds, upTo } = read
        const [locked] = yield* sql<CursorRow>`SELECT seq, rules_version FROM alert_cursor FOR UPDATE`
        if (locked?.seq !== cursor.seq || locked.rules_version !== cursor.rules_version) return false
        const taken = yield* sql<{ readonly id: bigint }>`
          DELETE FROM alert_marks WHERE id = ANY(${marks.map(({ id }) => id)}::bigint[]) RETURNING id`
        const left = new Set(taken.map(({ id }) => id))
        const fresh = marks.filter(({ id }) => left.has(id)).map(countedMark)
        yield* amounts.takeOut(new Map(active.map(({ rule }) => [rule.id, rule])), now)
        yield* recount(active, now)
        yield* takeStep(stores.live(now), { events, marks: fresh, rules: active, found, now })
        yield* alertClock.end(writer, now)
        if (upTo > Number(cursor.seq)) yield* sql`UPDATE alert_cursor SET seq = ${BigInt(upTo)}`
        // What these runs have spent is counted now.
        if (runIds.size > 0) yield* releaseSettled(sql, [...runIds])
        return true
      }, sql.withTransaction)

      const step = Effect.gen(function* () {
        const [cursor] = yield* sql<CursorRow & { readonly is_idle: boolean }>`
          SELECT seq, rules_version, NOT EXISTS (SELECT FROM alert_rules WHERE enabled)
                 AND NOT EXISTS (SELECT FROM alert_firings WHERE resolved_at IS NULL)
                 AND NOT EXISTS (SELECT FROM alert_deleted_runs)
                 AND NOT EXISTS (SELECT FROM webhooks WHERE made_for_rules) AS is_idle FROM alert_cursor`
        if (cursor === undefined || cursor.is_idle) return undefined
        const read = yield* readStep(cursor, yield* clock.now)
        const isMoved = yield* Effect.catchCause(commit(read), (cause) =>
          Effect.andThen(isolate({ ...read, marks: read.marks.map(countedMark) }, cause), Effect.failCause(cause))
        )
        outbox.wake()
        const { events, isEnd, now, upTo } = read
        const last = events.at(-1)
        return isMoved
          ? { upTo, isEnd, lagMs: isEnd || last === undefined ? 0 : Math.max(0, now - Date.parse(last.ts)) }
          : undefined
      }).pipe(Effect.withTracerEnabled(false))
      return AlertEvaluator.of({ step })
    })
  )
}

const isTemporary = (cause: Cause.Cause<SqlError>): boolean => {
  const error = Cause.squash(cause)
  return isSqlError(error) && (isOutage(error) || isContention(error) || isTimeout(error))
}

const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return isSqlError(error) ? describeSqlError(error) : String(error)
}

/** A mark that is not counted yet. */
interface MarkRow {
  readonly id: bigint
  readonly run_id: string
  readonly name: string
  readonly at: Date
  readonly value: number
  readonly n: number
  /** Source of the telemetry that stated it. */
  readonly telemetry: string | null
}

const countedMark = ({ at, n, name, run_id, telemetry, value }: MarkRow): CountedMark => ({
  ...{ runId: run_id, name, at: at.getTime(), value, n },
  telemetrySource: telemetry ?? undefined
})

interface CursorRow {
  readonly seq: bigint
  readonly rules_version: bigint
}
