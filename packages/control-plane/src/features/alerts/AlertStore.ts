import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AlertRule,
  type CounterRow,
  type Deadline,
  isoTime,
  isRollingWindow,
  type KnownFiring,
  minutesOf,
  noMemory,
  type RunMemory
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import type { makeAlertClock } from "./AlertClock.ts"
import { type EventsByRun, type NeededCounter, remembered, type StepResult, type StepStore } from "./AlertStep.ts"
import { makePaces } from "./budgets/Paces.ts"
import type { makeChangedRules } from "./ChangedRules.ts"
import { isStored, type makeFiringWriter } from "./FiringWriter.ts"
import { makeRuleMatches } from "./RuleMatches.ts"
import type { makeRunAmounts } from "./RunAmounts.ts"
import { makeSilences } from "./Silences.ts"

/** The rows of the evaluator. */
const makeRows = Effect.map(PgClient.PgClient, (sql) => {
  /** The counters, with the earlier minutes of rolling windows, and the firings that may not repeat. */
  const load = Effect.fnUntraced(function* (needed: ReadonlyArray<NeededCounter>) {
    const ranges = new Map<string, Range>()
    for (const { firesIn, key, period: counted, rule } of needed) {
      const isRolling = isRollingWindow(rule.window)
      const period = isRolling ? (firesIn ?? counted) : counted
      const name = JSON.stringify([rule.id, key, isRolling ? "" : period.key])
      const minutes = isRollingWindow(rule.window) ? minutesOf(rule.window) : 0
      const first = isRolling ? minuteKey(period.end - minutes * 60_000) : period.key
      const found = ranges.get(name)
      if (found === undefined) {
        const range = { rule_id: rule.id, key, first, fired: period.key, last: period.key, is_rolling: isRolling }
        ranges.set(name, range)
      } else {
        if (first < found.first) found.first = first
        if (period.key < found.fired) found.fired = period.key
        if (period.key > found.last) found.last = period.key
      }
    }
    const rows = [...ranges.values()]
    if (rows.length === 0) return { counters: [], firings: [] }
    const counters = yield* sql<StoredCounter>`
      SELECT c.rule_id, c.key, c.label, c.period, c.part, c.value, c.n, c.ends_at
      FROM ${unnestRows(sql, rows, RANGE)} AS w
      JOIN alert_counters c ON c.rule_id = w.rule_id AND c.key = w.key AND c.period >= w.first
        AND (w.is_rolling OR c.period = w.last)`
    const firings = yield* sql<StoredFiring>`
      SELECT DISTINCT f.id::text AS id, f.rule_id, f.key, f.period, f.level, f.resolved_at IS NULL AS is_open
      FROM ${unnestRows(sql, rows, RANGE)} AS w
      JOIN alert_firings f ON f.rule_id = w.rule_id AND f.key = w.key
        AND (f.period BETWEEN w.fired AND w.last OR f.resolved_at IS NULL AND w.is_rolling)`
    return { counters: counters.map(toCounter), firings: firings.map(toKnown) }
  })

  const saveCounters = (rows: ReadonlyArray<CounterRow>) =>
    rows.length === 0
      ? Effect.void
      : Effect.asVoid(sql`
          INSERT INTO alert_counters (rule_id, key, label, period, part, value, n, ends_at)
          SELECT * FROM ${unnestRows(sql, rows.map(ofCounter), COUNTER)} AS new
          ON CONFLICT (rule_id, key, period, part)
          DO UPDATE SET value = excluded.value, n = excluded.n, ends_at = excluded.ends_at`)

  const loadMemories = (runIds: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly run_id: string; readonly memory: RunMemory }>`
        SELECT run_id::text AS run_id, memory FROM alert_memories WHERE run_id = ANY(${runIds}::text[]::uuid[])`,
      (rows) => new Map(rows.map(({ memory, run_id }) => [run_id, memory]))
    )

  const saveMemories = (memories: ReadonlyMap<string, RunMemory>, at: string) => {
    const rows = Array.from(memories, ([run_id, memory]) => ({
      run_id,
      memory: JSON.stringify(memory),
      updated_at: at
    }))
    return rows.length === 0
      ? Effect.void
      : Effect.asVoid(sql`
          INSERT INTO alert_memories (run_id, memory, updated_at)
          SELECT new.run_id, new.memory, new.updated_at FROM ${unnestRows(sql, rows, MEMORY)} AS new
          WHERE EXISTS (SELECT FROM runs r WHERE r.id = new.run_id)
          ON CONFLICT (run_id) DO UPDATE SET memory = excluded.memory, updated_at = excluded.updated_at`)
  }

  const saveDeadlines = Effect.fnUntraced(function* (given: ReadonlyArray<Deadline>) {
    const deadlines = given.map(({ dueAt, ruleId, runId }) => ({
      ...{ rule_id: ruleId, run_id: runId },
      due_at: dueAt === undefined ? null : isoTime(dueAt)
    }))
    const gone = deadlines.filter(({ due_at }) => due_at === null)
    const due = deadlines.filter(({ due_at }) => due_at !== null)
    if (gone.length > 0) {
      yield* sql`
        DELETE FROM alert_deadlines d USING ${unnestRows(sql, gone, DEADLINE)} AS gone
        WHERE d.rule_id = gone.rule_id AND d.run_id = gone.run_id`
    }
    if (due.length === 0) return
    yield* sql`
      INSERT INTO alert_deadlines (rule_id, run_id, due_at)
      SELECT new.rule_id, new.run_id, new.due_at FROM ${unnestRows(sql, due, DEADLINE)} AS new
      WHERE EXISTS (SELECT FROM runs r WHERE r.id = new.run_id)
      ON CONFLICT (rule_id, run_id) DO UPDATE SET due_at = excluded.due_at`
  })

  return { load, saveCounters, loadMemories, saveMemories, saveDeadlines }
})

/** The stores of steps in the database: all for use inside the transaction of a step. */
export const makeAlertStores = Effect.fnUntraced(function* ({
  alertClock,
  amounts,
  changes,
  keptMs,
  writer
}: StoreParts) {
  const sql = yield* PgClient.PgClient
  const rows = yield* makeRows
  const matchRuns = yield* makeRuleMatches
  const silences = yield* makeSilences
  const paces = yield* makePaces

  /** A run that was running before it is first read gets its start from its record. */
  const memoriesOf = Effect.fnUntraced(function* (byRun: EventsByRun) {
    const memories = yield* rows.loadMemories([...byRun.keys()])
    const unknown = [...byRun].flatMap(([id, [first]]) => (memories.has(id) || first?.index === 1 ? [] : [id]))
    for (const id of byRun.keys()) if (!memories.has(id)) memories.set(id, noMemory())
    if (unknown.length > 0) {
      const started = yield* sql<{ readonly id: string; readonly started_at: Date | null }>`
        SELECT id::text AS id, started_at FROM runs WHERE id = ANY(${unknown}::text[]::uuid[])`
      for (const { id, started_at } of started) {
        if (started_at !== null) memories.set(id, { ...noMemory(), state: "running", startedAt: started_at.getTime() })
      }
    }
    return memories
  })

  const clockAt = (now: number) => (rules: ReadonlyMap<string, AlertRule>) =>
    Effect.all({
      due: alertClock.due(rules, now),
      rolling: alertClock.rolling(rules, now),
      changed: changes.due(rules, now)
    })

  /** `isPaced`: the entries are new spending, and not a second count of it. */
  const saveAt = (now: number, silentSeq: number, { isKept, isPaced }: { isKept: boolean; isPaced: boolean }) =>
    Effect.fnUntraced(function* ({ counters, deadlines, entries, firings, memories, resolutions, runs }: StepResult) {
      yield* rows.saveCounters(counters)
      yield* amounts.save(entries, keptMs)
      if (isPaced) yield* paces.save(entries, now)
      if (isKept && memories !== undefined) yield* rows.saveMemories(memories, isoTime(now))
      yield* rows.saveDeadlines(deadlines)
      // The clock and changes of rules fire for runs without an event in this step.
      const unread = firings.flatMap(({ runId }) => (runId === undefined || runs.has(runId) ? [] : [runId]))
      const all = unread.length === 0 ? runs : new Map([...runs, ...(yield* matchRuns(unread, [])).runs])
      const silencedUntil = yield* silences.readSilences([...new Set(firings.flatMap(({ runId }) => runId ?? []))], now)
      const opened = yield* writer.open(firings, { runs: all, silencedUntil, now, silentSeq })
      const ended = resolutions.flatMap(({ at, firing }) => {
        const id = isStored(firing) ? firing.id : opened.get(firing)
        return id === undefined ? [] : [{ id, by: "value" as const, at }]
      })
      yield* writer.end(ended, now)
    })

  return {
    live: (now: number): StepStore => ({
      ...{ memories: memoriesOf, clock: clockAt(now), load: rows.load },
      save: saveAt(now, 0, { isKept: true, isPaced: true })
    }),
    /** Of the fold of older events: their runs are remembered in the process, and `silentSeq` ends the silent ones. */
    backfill: (memories: Map<string, RunMemory>, silentSeq: number, now: number): StepStore => ({
      ...{ memories: remembered(memories), load: rows.load },
      save: saveAt(now, silentSeq, { isKept: false, isPaced: true })
    }),
    /** Of the second count of a run that was claimed. */
    recount: (memories: Map<string, RunMemory>, now: number): StepStore => ({
      ...{ memories: remembered(memories), load: rows.load },
      save: saveAt(now, 0, { isKept: false, isPaced: false })
    })
  }
})

interface StoreParts {
  readonly alertClock: Effect.Success<typeof makeAlertClock>
  readonly amounts: Effect.Success<ReturnType<typeof makeRunAmounts>>
  readonly changes: Effect.Success<ReturnType<typeof makeChangedRules>>
  readonly keptMs: number
  readonly writer: Effect.Success<typeof makeFiringWriter>
}

/** The key of the period of a rolling window: its last minute. */
const minuteKey = (at: number): string => `${isoTime(at).slice(0, 16)}Z`

interface Range {
  readonly rule_id: string
  readonly key: string
  /** The first period whose counters are read, and the first and the last one in which a level can fire. */
  first: string
  fired: string
  last: string
  readonly is_rolling: boolean
}

const RANGE = { rule_id: "text", key: "text", first: "text", fired: "text", last: "text", is_rolling: "bool" } as const
const COUNTER = {
  rule_id: "text",
  key: "text",
  label: "text",
  period: "text",
  part: "text",
  value: "float8",
  n: "bigint",
  ends_at: "timestamptz"
} as const
const MEMORY = { run_id: "uuid", memory: "json", updated_at: "timestamptz" } as const
const DEADLINE = { rule_id: "text", run_id: "uuid", due_at: "timestamptz" } as const

interface StoredCounter {
  readonly rule_id: string
  readonly key: string
  readonly label: string | null
  readonly period: string
  readonly part: string
  readonly value: number
  readonly n: bigint
  readonly ends_at: Date
}

interface StoredFiring {
  readonly id: string
  readonly rule_id: string
  readonly key: string
  readonly period: string
  readonly level: number
  readonly is_open: boolean
}

const toCounter = (row: StoredCounter): CounterRow => ({
  ruleId: row.rule_id,
  key: row.key,
  label: row.label ?? row.key,
  period: row.period,
  part: row.part,
  value: row.value,
  n: Number(row.n),
  endsAt: row.ends_at.getTime()
})

const ofCounter = (row: CounterRow) => ({
  rule_id: row.ruleId,
  key: row.key,
  label: row.label === row.key ? null : row.label,
  period: row.period,
  part: row.part,
  value: row.value,
  n: row.n,
  ends_at: isoTime(row.endsAt)
})

const toKnown = (row: StoredFiring): KnownFiring => ({
  id: row.id,
  ruleId: row.rule_id,
  key: row.key,
  period: row.period,
  level: row.level,
  isOpen: row.is_open
})
