import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type CanonicalEvent,
  type CountedMark,
  decodeEventText,
  makePeriods,
  type RunMemory,
  runSliced
} from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { readEndOfLog } from "../../event-log/consume/EndOfLog.ts"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { describeSqlError, isContention, isOutage, isTimeout } from "../../platform/postgres/SqlFailures.ts"
import { makeAlertClock } from "./AlertClock.ts"
import { type RuleRow, ruleColumns, storedRule } from "./AlertRows.ts"
import { makeAlertStep, type StepInput } from "./AlertStep.ts"
import { makeAlertStores } from "./AlertStore.ts"
import { releaseSettled } from "./budgets/Reservations.ts"
import { makeChangedRules } from "./ChangedRules.ts"
import { isRecounted, readCounted, takeClaims } from "./ClaimedRuns.ts"
import { makeFiringWriter } from "./FiringWriter.ts"
import { type Matches, makeRuleMatches } from "./RuleMatches.ts"
import { makeRunAmounts } from "./RunAmounts.ts"
import type { ActiveRule } from "./StepEntries.ts"

/** Events, and marks, of one step. */
export const STEP_EVENTS = 1_000

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
      const matchRuns = yield* makeRuleMatches
      const writer = yield* makeFiringWriter
      const alertClock = yield* makeAlertClock
      const changes = yield* makeChangedRules(writer)
      const amounts = yield* makeRunAmounts(writer, changes)
      const keptMs = yield* callsKeptMs
      const stores = yield* makeAlertStores({ alertClock, amounts, changes, keptMs, writer })
      const takeStep = yield* makeAlertStep({ periods: makePeriods(), keptMs }, (slices) =>
        Effect.sync(() => runSliced(slices))
      )

      /** Keeps a rule out of the evaluation until it changes. */
      const failRule = Effect.fnUntraced(function* (id: string, error: string) {
        const [failed] = yield* sql`
          WITH failed AS (UPDATE alert_rules SET error = ${error} WHERE id = ${id} AND error IS NULL RETURNING id)
          UPDATE alert_cursor SET rules_version = rules_version + 1 WHERE EXISTS (SELECT FROM failed)
          RETURNING rules_version`
        if (failed !== undefined) yield* Effect.logError(`the alert rule ${id} cannot be evaluated: ${error}`)
      })

      let known: { readonly version: bigint; readonly rules: ReadonlyArray<ActiveRule> } | undefined
      const activeRules = Effect.fnUntraced(function* (version: bigint) {
        if (known?.version === version) return known.rules
        const rows = yield* sql<RuleRow>`
          SELECT ${ruleColumns(sql)} FROM alert_rules
          WHERE enabled AND error IS NULL AND backfill_seq IS NULL ORDER BY id`
        const rules: Array<ActiveRule> = []
        for (const row of rows) {
          const rule = storedRule(row)
          if (Result.isFailure(rule)) yield* failRule(row.id, rule.failure)
          else rules.push({ rule: rule.success, fromSeq: Number(row.from_seq) })
        }
        known = { version, rules }
        return rules
      })

      const readLog = (after: number) =>
        Effect.map(readEndOfLog(sql, after, STEP_EVENTS), ({ events, isEnd, upTo }) => ({
          events: events.flatMap(({ json }) => eventOf(json)),
          ...{ isEnd, upTo }
        }))

      const readMarks = sql<MarkRow>`
        SELECT id, run_id::text AS run_id, name, at, value, n, telemetry FROM alert_marks ORDER BY id LIMIT ${STEP_EVENTS}`

      /** The matches of the runs; a rule whose search fails is kept out. */
      const matchesOf = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>, rules: ReadonlyArray<ActiveRule>) {
        const found = yield* matchRuns(
          runIds,
          rules.flatMap(({ rule }) => (rule.match === "" ? [] : [rule.match]))
        )
        for (const { rule } of rules) {
          const failure = found.failures.get(rule.match)
          if (failure !== undefined) yield* failRule(rule.id, `match: ${failure}`)
        }
        return found
      })

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
          yield* failRule(active.rule.id, reasonOf(exit.cause))
        }
      })

      /** Processes that fold older events for a new rule begin with its first event: the memories are only here. */
      const backfills = new Map<string, Map<string, RunMemory>>()
      const backfill = Effect.fnUntraced(function* (cursor: number, now: number) {
        const [row] = yield* sql<RuleRow>`
          SELECT ${ruleColumns(sql)} FROM alert_rules
          WHERE enabled AND error IS NULL AND backfill_seq IS NOT NULL ORDER BY id LIMIT 1`
        if (row === undefined) return backfills.clear()
        const rule = storedRule(row)
        if (Result.isFailure(rule)) return yield* failRule(row.id, rule.failure)
        const name = `${row.id} ${row.updated_at.getTime()}`
        const memories = backfills.get(name) ?? new Map<string, RunMemory>()
        const isNew = !backfills.has(name)
        backfills.set(name, memories)
        const from = isNew ? Number(row.from_seq) : Number(row.backfill_seq)
        const read = yield* readLog(from)
        const upTo = Math.min(read.upTo, cursor)
        const events = read.events.filter(({ seq }) => seq <= upTo)
        const rules = [{ rule: rule.success, fromSeq: Number(row.from_seq) }]
        const found = yield* matchesOf([...new Set(events.map(({ runId }) => runId))], rules)
        if (found.failures.size > 0) return
        yield* Effect.gen(function* () {
          const [locked] = yield* sql<{ readonly seq: bigint }>`SELECT seq FROM alert_cursor FOR UPDATE`
          const [same] = yield* sql`
            SELECT FROM alert_rules WHERE id = ${row.id} AND backfill_seq = ${row.backfill_seq} FOR UPDATE`
          if (same === undefined) return
          if (isNew) {
            yield* sql`DELETE FROM alert_counters WHERE rule_id = ${row.id}`
            yield* sql`DELETE FROM alert_amounts WHERE rule_id = ${row.id}`
            yield* sql`DELETE FROM alert_paces WHERE rule_id = ${row.id}`
          }
          const silentSeq = Number(row.silent_seq)
          yield* takeStep(stores.backfill(memories, silentSeq, now), { events, marks: [], rules, found, now })
          const isDone = Number(locked?.seq ?? 0) === upTo && upTo >= silentSeq
          yield* sql`
            UPDATE alert_rules SET backfill_seq = ${isDone ? null : BigInt(upTo)}::bigint,
                                   from_seq = ${isDone ? BigInt(upTo) : row.from_seq}
            WHERE id = ${row.id}`
          if (isDone) yield* sql`UPDATE alert_cursor SET rules_version = rules_version + 1`
        }).pipe(sql.withTransaction)
      })

      /**
       * Counts runs again that were claimed since (docs/reference/alerts.md#claimed-runs): with the properties of the
       * claim, and without what was counted of them before. In the transaction of a step.
       */
      const recount = Effect.fnUntraced(function* (active: ReadonlyArray<ActiveRule>, now: number) {
        const claimed = yield* takeClaims(sql)
        const rules = active.flatMap(({ fromSeq, rule }) =>
          // The events before a rule that counts older ones were counted with the rule.
          isRecounted(rule) ? [{ rule, fromSeq: rule.backfill === true ? 0 : fromSeq }] : []
        )
        if (claimed.length === 0 || rules.length === 0) return
        const found = yield* matchesOf(
          claimed.map(({ run_id }) => run_id),
          rules
        )
        const all = new Map(rules.map(({ rule }) => [rule.id, rule]))
        for (const run of claimed) {
          const memories = new Map<string, RunMemory>()
          const count = Effect.gen(function* () {
            for (let after = Number(run.after); ; ) {
              const read = yield* readCounted(sql, run, after)
              const last = read.at(-1)
              if (last === undefined) return
              after = Number(last.seq)
              const events = read.flatMap(({ event }) => eventOf(event))
              yield* takeStep(stores.recount(memories, now), { events, marks: [], rules, found, now })
            }
          })
          yield* amounts.replace(run.run_id, all, count, now)
        }
      })

      const step = Effect.gen(function* () {
        const [cursor] = yield* sql<CursorRow & { readonly is_idle: boolean }>`
          SELECT seq, rules_version, NOT EXISTS (SELECT FROM alert_rules WHERE enabled)
                 AND NOT EXISTS (SELECT FROM alert_firings WHERE resolved_at IS NULL)
                 AND NOT EXISTS (SELECT FROM alert_deleted_runs)
                 AND NOT EXISTS (SELECT FROM webhooks WHERE made_for_rules) AS is_idle FROM alert_cursor`
        if (cursor === undefined || cursor.is_idle) return undefined
        const now = yield* clock.now
        const rules = yield* activeRules(cursor.rules_version)
        const from = Number(cursor.seq)
        yield* backfill(from, now)
        const { events, isEnd, upTo } = yield* readLog(from)
        const marks = yield* readMarks
        const runIds = new Set<string>([...events.map(({ runId }) => runId), ...marks.map(({ run_id }) => run_id)])
        const found: Matches =
          runIds.size === 0 ? { runs: new Map(), failures: new Map() } : yield* matchesOf([...runIds], rules)
        const commit = Effect.gen(function* () {
          const [locked] = yield* sql<CursorRow>`SELECT seq, rules_version FROM alert_cursor FOR UPDATE`
          if (Number(locked?.seq) !== from || locked?.rules_version !== cursor.rules_version) return false
          const taken = yield* sql<{ readonly id: bigint }>`
            DELETE FROM alert_marks WHERE id = ANY(${marks.map(({ id }) => id)}::bigint[]) RETURNING id`
          const left = new Set(taken.map(({ id }) => id))
          const fresh = marks.filter(({ id }) => left.has(id)).map(countedMark)
          yield* amounts.takeOut(new Map(rules.map(({ rule }) => [rule.id, rule])), now)
          yield* recount(rules, now)
          yield* takeStep(stores.live(now), { events, marks: fresh, rules, found, now })
          yield* alertClock.end(writer, now)
          if (upTo > from) yield* sql`UPDATE alert_cursor SET seq = ${BigInt(upTo)}`
          // What these runs have spent is counted now.
          if (runIds.size > 0) yield* releaseSettled(sql, [...runIds])
          return true
        }).pipe(sql.withTransaction)
        const isMoved = yield* Effect.catchCause(commit, (cause) =>
          Effect.andThen(
            isolate({ events, marks: marks.map(countedMark), rules, found, now }, cause),
            Effect.failCause(cause)
          )
        )
        outbox.wake()
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

const eventOf = (text: string): ReadonlyArray<CanonicalEvent> =>
  Result.match(decodeEventText(text), {
    onSuccess: (event) => [event],
    onFailure: () => []
  })
