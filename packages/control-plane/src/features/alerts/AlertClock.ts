import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AlertRule,
  type DueRun,
  isoTime,
  isoTimeOrNull,
  isRollingWindow,
  minuteOf,
  type NoticeState,
  nextNotice,
  periodOf,
  type RunMemory,
  type RunStatus
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { AlertNotices, type DueNotice } from "./AlertNotices.ts"
import { actionsOf, type FiringRow, firingColumns, toFiring } from "./AlertRows.ts"
import { makePaces } from "./budgets/Paces.ts"
import { releaseSettled } from "./budgets/Reservations.ts"
import type { EndedFiring, makeFiringWriter } from "./FiringWriter.ts"
import { evaluatorCaller, makeUnusedWebhooks } from "./RuleWebhooks.ts"
import { makeSilences } from "./Silences.ts"

/** Deadlines, repetitions and ends that one step handles; the next one continues. */
const AT_ONCE = 500
/** Counters and memories that one statement removes. */
const REMOVED_AT_ONCE = 5_000
const MEMORY_DAYS = 31

/** What time alone changes: deadlines, rolling windows, ends and repetitions. For use in the transaction of a step. */
export const makeAlertClock = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const notices = yield* AlertNotices
  const paces = yield* makePaces
  const silences = yield* makeSilences
  const removeUnused = yield* makeUnusedWebhooks
  let rolledMinute = 0
  let cleanedMinute = 0

  /** Runs whose deadline is over, as their heads are now. */
  const due = Effect.fnUntraced(function* (rules: ReadonlyMap<string, AlertRule>, now: number) {
    const rows = yield* sql<DueRow>`
      SELECT d.rule_id, d.run_id::text AS run_id, r.status, coalesce(h.last_ts, r.created_at) AS last_ts, m.memory
      FROM alert_deadlines d JOIN runs r ON r.id = d.run_id JOIN run_heads h ON h.run_id = d.run_id
      LEFT JOIN alert_memories m ON m.run_id = d.run_id
      WHERE d.due_at <= ${isoTime(now)}::timestamptz ORDER BY d.due_at LIMIT ${AT_ONCE}`
    return rows.flatMap((row): ReadonlyArray<DueRun> => {
      const rule = rules.get(row.rule_id)
      if (rule === undefined) return []
      const period = { key: row.run_id, start: 0, end: now + MEMORY_DAYS * 86_400_000 }
      const memory = row.memory ?? undefined
      return [{ rule, runId: row.run_id, period, status: row.status, lastAt: row.last_ts.getTime(), memory }]
    })
  })

  /** Open firings of rolling windows, once a minute: their values fall without events. */
  const rolling = Effect.fnUntraced(function* (rules: ReadonlyMap<string, AlertRule>, now: number) {
    if (minuteOf(now) === rolledMinute) return []
    rolledMinute = minuteOf(now)
    const rows = yield* sql<{ readonly rule_id: string; readonly key: string }>`
      SELECT DISTINCT rule_id, key FROM alert_firings WHERE resolved_at IS NULL AND period_ends_at IS NULL
        AND rule_id = ANY(${[...rules.values()].filter(isRolling).map(({ id }) => id)}::text[])`
    return rows.flatMap(({ key, rule_id }) => {
      const rule = rules.get(rule_id)
      return rule === undefined ? [] : [{ rule, key, period: periodOf(rule.window, rule.zone, now) }]
    })
  })

  /** Sends the notifications of open firings that are due and that no silence suppresses. */
  const notify = Effect.fnUntraced(function* (now: number) {
    const at = isoTime(now)
    const rows = yield* sql<NoticeRow>`
      SELECT f.id::text AS id, f.run_id::text AS run_id, coalesce(f.is_notified, NOT f.silenced) AS is_notified,
             f.silenced, f.acknowledged_at IS NOT NULL AS is_acknowledged, f.check_at, f.repeat_at, f.resend_at,
             (SELECT (u.rule ->> 'repeatEveryMs')::float8 FROM alert_rules u WHERE u.id = f.rule_id) AS repeat_every_ms
      FROM alert_firings f
      WHERE f.resolved_at IS NULL AND (
        f.check_at <= ${at}::timestamptz
        OR NOT f.silenced AND (
          f.repeat_at <= ${at}::timestamptz AND f.acknowledged_at IS NULL OR f.resend_at <= ${at}::timestamptz
        )
      ) ORDER BY least(f.check_at, f.repeat_at, f.resend_at), f.id LIMIT ${AT_ONCE} FOR UPDATE OF f`
    if (rows.length === 0) return
    const silencedUntil = yield* silences.readSilences(
      rows.flatMap(({ run_id }) => run_id ?? []),
      now
    )
    const next = rows.map((row) => ({ row, ...nextNotice(stateOf(row), silencedUntil(row.run_id ?? undefined), now) }))
    const changed = next.map(({ row: { id }, state }) => ({
      id,
      is_notified: state.isNotified,
      silenced: state.isSilenced,
      check_at: isoTimeOrNull(state.checkAt),
      repeat_at: isoTimeOrNull(state.repeatAt),
      resend_at: isoTimeOrNull(state.resendAt)
    }))
    const saved = yield* sql<FiringRow>`
      UPDATE alert_firings f
      SET is_notified = next.is_notified, silenced = next.silenced, check_at = next.check_at,
          repeat_at = next.repeat_at, resend_at = next.resend_at
      FROM ${unnestRows(sql, changed, NOTICE)} AS next WHERE f.id = next.id RETURNING ${firingColumns(sql)}`
    const firings = new Map(saved.map((row) => [row.id, row]))
    yield* notices.send(
      next.flatMap(({ notice, row: { id } }): ReadonlyArray<DueNotice> => {
        const row = firings.get(id)
        if (notice === undefined || row === undefined) return []
        const due = { firing: toFiring(row), actions: actionsOf(row) }
        if (notice === "resent") return [{ event: "alert.repeated", ...due, only: "alertmanager" }]
        // The audit log has the firing since its beginning.
        return [
          notice === "fired" ? { event: "alert.fired", ...due, isAudited: false } : { event: "alert.repeated", ...due }
        ]
      }),
      at
    )
  })

  /** Ends what its period, its run or its rule has ended, and sends the notifications that are due. */
  const end = Effect.fnUntraced(function* (writer: Effect.Success<typeof makeFiringWriter>, now: number) {
    const at = isoTime(now)
    const over = yield* sql<{ readonly id: string; readonly by: EndedFiring["by"]; readonly at: Date }>`
      SELECT f.id::text AS id,
             CASE WHEN f.period_ends_at <= ${at}::timestamptz THEN 'period' WHEN u.enabled THEN 'run' ELSE 'rule' END AS by,
             CASE WHEN f.period_ends_at <= ${at}::timestamptz THEN f.period_ends_at
                  WHEN u.enabled THEN coalesce(r.ended_at, ${at}::timestamptz) ELSE ${at}::timestamptz END AS at
      FROM alert_firings f LEFT JOIN alert_rules u ON u.id = f.rule_id LEFT JOIN runs r ON r.id = f.run_id
      WHERE f.resolved_at IS NULL AND (
        f.period_ends_at <= ${at}::timestamptz OR u.enabled IS NOT TRUE
        OR (f.period = f.run_id::text AND ${hasStatus(sql, "ended", "r")})
      ) ORDER BY f.starts_at LIMIT ${AT_ONCE}`
    yield* writer.end(
      over.map((one) => ({ ...one, at: one.at.getTime() })),
      now
    )
    yield* notify(now)
    if (minuteOf(now) === cleanedMinute) return
    cleanedMinute = minuteOf(now)
    yield* sql`
      DELETE FROM alert_counters WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM alert_counters WHERE ends_at < ${at}::timestamptz - interval '1 hour' LIMIT ${REMOVED_AT_ONCE}))`
    yield* sql`
      DELETE FROM alert_amounts WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM alert_amounts WHERE ends_at < ${at}::timestamptz - interval '1 hour' LIMIT ${REMOVED_AT_ONCE}))`
    yield* paces.forgetOld(now, REMOVED_AT_ONCE)
    yield* releaseSettled(sql)
    yield* sql`
      DELETE FROM alert_memories WHERE run_id = ANY(ARRAY(
        SELECT run_id FROM alert_memories WHERE updated_at < ${isoTime(now - MEMORY_DAYS * 86_400_000)}::timestamptz
        LIMIT ${REMOVED_AT_ONCE}))`
    yield* sql`DELETE FROM alert_silences WHERE until < ${at}::timestamptz`
    yield* removeUnused(evaluatorCaller, at)
  })

  return { due, rolling, end }
})

const isRolling = ({ window }: AlertRule): boolean => isRollingWindow(window)

/** The notifications of an open firing. */
interface NoticeRow {
  readonly id: string
  readonly run_id: string | null
  readonly is_notified: boolean
  readonly silenced: boolean
  readonly is_acknowledged: boolean
  readonly check_at: Date | null
  readonly repeat_at: Date | null
  readonly resend_at: Date | null
  readonly repeat_every_ms: number | null
}

const stateOf = (row: NoticeRow): NoticeState => ({
  isNotified: row.is_notified,
  isSilenced: row.silenced,
  isAcknowledged: row.is_acknowledged,
  checkAt: row.check_at?.getTime(),
  repeatAt: row.repeat_at?.getTime(),
  repeatEveryMs: row.repeat_every_ms ?? undefined,
  resendAt: row.resend_at?.getTime()
})

const NOTICE = {
  id: "uuid",
  is_notified: "bool",
  silenced: "bool",
  check_at: "timestamptz",
  repeat_at: "timestamptz",
  resend_at: "timestamptz"
} as const

interface DueRow {
  readonly rule_id: string
  readonly run_id: string
  readonly status: RunStatus
  readonly last_ts: Date
  readonly memory: RunMemory | null
}
