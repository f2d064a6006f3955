import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type CanonicalEvent,
  decodeEventText,
  hasDeadline,
  makePeriods,
  makeRuleEvaluator,
  measureOf,
  noMemory,
  type RunMemory
} from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { READ_BYTES } from "../../platform/postgres/BoundedRows.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { describeSqlError, isContention, isOutage, isTimeout } from "../../platform/postgres/SqlFailures.ts"
import { releaseSettled } from "../../runs/Reservations.ts"
import { makeAlertClock } from "./AlertClock.ts"
import { type RuleRow, ruleColumns, storedRule } from "./AlertRows.ts"
import { makeAlertStore, type NeededCounter } from "./AlertStore.ts"
import { makeChangedRules } from "./ChangedRules.ts"
import { isRecounted, readCounted, takeClaims } from "./ClaimedRuns.ts"
import { isStored, makeFiringWriter } from "./FiringWriter.ts"
import { type Matches, makeRuleMatches } from "./RuleMatches.ts"
import { makeRunAmounts } from "./RunAmounts.ts"
import { makeSilences } from "./Silences.ts"
import { type ActiveRule, type MarkRow, makeStepEntries } from "./StepEntries.ts"

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
      const store = yield* makeAlertStore
      const writer = yield* makeFiringWriter
      const alertClock = yield* makeAlertClock
      const changes = yield* makeChangedRules(writer)
      const amounts = yield* makeRunAmounts(writer, changes)
      const silences = yield* makeSilences
      const periods = makePeriods()
      const keptMs = yield* callsKeptMs
      const entriesFor = yield* makeStepEntries({ periods, keptMs })

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

      const readLog = Effect.fnUntraced(function* (after: number) {
        const rows = yield* sql<LogRow>`
          SELECT mark, seq, event, bytes FROM end_of_log(${BigInt(after)}, ${STEP_EVENTS}, ${BigInt(READ_BYTES)})`
        const events = rows.flatMap(({ event }) => (event === null ? [] : eventOf(event)))
        const last = rows.at(-1)
        const isCut = rows.length >= STEP_EVENTS || Number(last?.bytes ?? 0) >= READ_BYTES
        const upTo = isCut ? Number(last?.seq ?? after) : Math.max(after, Number(last?.mark ?? after))
        return { events, upTo, isEnd: !isCut }
      })

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

      /** The memories of runs; a run that was running before it is first read gets its start from its record. */
      const memoriesOf = Effect.fnUntraced(function* (byRun: ReadonlyMap<string, ReadonlyArray<CanonicalEvent>>) {
        const memories = yield* store.loadMemories([...byRun.keys()])
        const unknown = [...byRun].flatMap(([id, [first]]) => (memories.has(id) || first?.index === 1 ? [] : [id]))
        for (const id of byRun.keys()) if (!memories.has(id)) memories.set(id, noMemory())
        if (unknown.length > 0) {
          const rows = yield* sql<{ readonly id: string; readonly started_at: Date | null }>`
            SELECT id::text AS id, started_at FROM runs WHERE id = ANY(${unknown}::text[]::uuid[])`
          for (const { id, started_at } of rows) {
            if (started_at !== null)
              memories.set(id, { ...noMemory(), state: "running", startedAt: started_at.getTime() })
          }
        }
        return memories
      })

      interface Input {
        readonly events: ReadonlyArray<CanonicalEvent>
        readonly marks: ReadonlyArray<MarkRow>
        readonly rules: ReadonlyArray<ActiveRule>
        readonly found: Matches
        readonly now: number
        /** Of the fold of older events for one rule. */
        readonly backfill: { readonly memories: Map<string, RunMemory>; readonly silentSeq: number } | undefined
      }

      /** Folds events and marks into the rows of the rules, and what the clock demands. In a transaction. */
      const fold = Effect.fnUntraced(function* ({ backfill, events, found, marks, now, rules }: Input) {
        const isBackfill = backfill !== undefined
        const backfilled = backfill?.memories
        const byRun = Map.groupBy(events, ({ runId }) => runId as string)
        const isRemembering = rules.some(({ rule }) => measureOf(rule.measure).needsMemory)
        const memories = !isRemembering ? new Map<string, RunMemory>() : (backfilled ?? (yield* memoriesOf(byRun)))
        if (backfilled !== undefined) for (const id of byRun.keys()) if (!memories.has(id)) memories.set(id, noMemory())
        const { entries, rulesOf } = yield* entriesFor(events, marks, rules, found, memories)
        const all = new Map(rules.map(({ rule }) => [rule.id, rule]))
        const due = isBackfill ? [] : yield* alertClock.due(all, now)
        const rolling = isBackfill ? [] : yield* alertClock.rolling(all, now)
        const changed = isBackfill ? [] : yield* changes.due(all, now)
        const watched = isBackfill
          ? []
          : [...byRun.keys()].flatMap((runId) =>
              (rulesOf.get(runId) ?? []).flatMap(({ rule }) =>
                hasDeadline(rule) ? [{ rule, runId, period: periods(rule, runId, now) }] : []
              )
            )
        const needed: ReadonlyArray<NeededCounter> = [
          ...entries,
          ...rolling,
          ...changed,
          ...due.map(({ period, rule, runId: key }) => ({ rule, key, period })),
          ...watched.map(({ period, rule, runId: key }) => ({ rule, key, period }))
        ]
        const { counters, firings } = yield* store.load(needed)
        const evaluator = makeRuleEvaluator(all, counters, firings, keptMs)
        for (const entry of entries) evaluator.take(entry)
        for (const { key, rule } of rolling) evaluator.roll(rule, key, now)
        for (const { key, period, rule } of changed) evaluator.recheck(rule, key, period, now)
        const again = alertClock.compare(due, evaluator, now)
        const result = evaluator.result()
        yield* store.saveCounters(result.counters)
        yield* amounts.save(entries, keptMs)
        if (isRemembering && backfilled === undefined) yield* store.saveMemories(memories, new Date(now).toISOString())
        const deadlines = alertClock.deadlines(watched, memories, evaluator)
        // The deadlines of runs with new events replace those that were due.
        const replaced = new Set(deadlines.map(({ rule_id, run_id }) => `${rule_id} ${run_id}`))
        yield* store.saveDeadlines([
          ...deadlines,
          ...again.filter(({ rule_id, run_id }) => !replaced.has(`${rule_id} ${run_id}`))
        ])
        const unread = result.firings.flatMap(({ runId }) =>
          runId === undefined || found.runs.has(runId) ? [] : [runId]
        )
        // The clock and changes of rules fire for runs without an event in this step.
        const runs = unread.length === 0 ? found.runs : new Map([...found.runs, ...(yield* matchRuns(unread, [])).runs])
        const silencedUntil = yield* silences.readSilences(
          [...new Set(result.firings.flatMap(({ runId }) => runId ?? []))],
          now
        )
        const opened = yield* writer.open(result.firings, {
          ...{ runs, silencedUntil, now },
          silentSeq: backfill?.silentSeq ?? 0
        })
        const ended = result.resolutions.flatMap(({ at, firing }) => {
          const id = isStored(firing) ? firing.id : opened.get(firing)
          return id === undefined ? [] : [{ id, by: "value" as const, at }]
        })
        yield* writer.end(ended, now)
      })

      /**
       * After a step that failed: tries each rule by itself, in a transaction that is rolled back, and keeps those out
       * that fail. The next step has the others.
       */
      const isolate = Effect.fnUntraced(function* (input: Input, cause: Cause.Cause<SqlError>) {
        if (Cause.hasInterrupts(cause) || isTemporary(cause)) return
        for (const active of input.rules) {
          const attempt = sql.withTransaction(
            Effect.andThen(fold({ ...input, rules: [active] }), Effect.fail("rolled back" as const))
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
          }
          const silentSeq = Number(row.silent_seq)
          yield* fold({ events, marks: [], rules, found, now, backfill: { memories, silentSeq } })
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
              yield* fold({ events, marks: [], rules, found, now, backfill: { memories, silentSeq: 0 } })
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
          const fresh = marks.filter(({ id }) => left.has(id))
          yield* amounts.takeOut(new Map(rules.map(({ rule }) => [rule.id, rule])), now)
          yield* recount(rules, now)
          yield* fold({ events, marks: fresh, rules, found, now, backfill: undefined })
          yield* alertClock.end(writer, now)
          if (upTo > from) yield* sql`UPDATE alert_cursor SET seq = ${BigInt(upTo)}`
          // What these runs have spent is counted now.
          if (runIds.size > 0) yield* releaseSettled(sql, [...runIds])
          return true
        }).pipe(sql.withTransaction)
        const isMoved = yield* Effect.catchCause(commit, (cause) =>
          Effect.andThen(
            isolate({ events, marks, rules, found, now, backfill: undefined }, cause),
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

interface CursorRow {
  readonly seq: bigint
  readonly rules_version: bigint
}

interface LogRow {
  readonly mark: bigint
  readonly seq: bigint | null
  readonly event: string | null
  readonly bytes: bigint | null
}

const eventOf = (text: string): ReadonlyArray<CanonicalEvent> =>
  Result.match(decodeEventText(text), {
    onSuccess: (event) => [event],
    onFailure: () => []
  })
