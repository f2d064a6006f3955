import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AlertAction,
  type AlertFiring,
  isApart,
  isCalendarWindow,
  isoTime,
  isoTimeOrNull,
  type KeyedRun,
  type KnownFiring,
  type NewFiring,
  nextNotice,
  stopsRun
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { Ids } from "../../platform/Ids.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { AlertNotices } from "./AlertNotices.ts"
import { actionsOf, type FiringRow, firingColumns, toFiring } from "./AlertRows.ts"

/** How new firings are stored. */
export interface FiringContext {
  /** The runs whose events reached the levels. */
  readonly runs: ReadonlyMap<string, KeyedRun>
  /** When the last silence of a run ends, Unix milliseconds; undefined without one. */
  readonly silencedUntil: (runId: string | undefined) => number | undefined
  /** Firings of events up to this position have neither a notification nor a command. */
  readonly silentSeq: number
  /** Unix milliseconds. */
  readonly now: number
}

/** The end of a stored firing. */
export interface EndedFiring {
  readonly id: string
  readonly by: "value" | "period" | "run" | "rule"
  /** Unix milliseconds. */
  readonly at: number
}

/** A firing as it is served, when it begins. */
export const newFiring = (
  id: string,
  { at, key, label, level, period, rule, runId, seq, telemetrySource, value }: NewFiring,
  run: KeyedRun | undefined
): AlertFiring => ({
  id,
  ruleId: rule.id,
  ruleName: rule.name,
  measure: rule.measure,
  per: rule.per,
  window: rule.window,
  key: label,
  period: period.key,
  ...(isCalendarWindow(rule.window) && { periodEndsAt: isoTime(period.end) }),
  level,
  at: rule.levels[level]?.at ?? 0,
  severity: rule.levels[level]?.severity ?? "info",
  value,
  ...(runId !== undefined && { runId }),
  ...(run?.scenarioRef !== undefined && { scenarioRef: run.scenarioRef }),
  ...(seq !== undefined && { seq }),
  ...telemetryOf(rule.levels[level]?.actions ?? [], isApart(key), telemetrySource ?? run?.telemetrySource),
  status: "open",
  startsAt: isoTime(at),
  silenced: false
})

/** The source of the telemetry that reached the level, and the actions that are not executed for it. */
const telemetryOf = (
  actions: ReadonlyArray<AlertAction>,
  isApart: boolean,
  source: string | undefined
): Pick<AlertFiring, "telemetry"> => {
  if (!isApart && source === undefined) return {}
  const withheld = !isApart
    ? []
    : (["suspend", "cancel"] as const).filter((type) => actions.some((action) => action.type === type))
  return {
    telemetry: {
      mode: isApart ? "count" : "act",
      ...(source !== undefined && { source }),
      ...(withheld.length > 0 && { withheld })
    }
  }
}

/** What a level does: telemetry that is counted apart stops no run. */
const actionsAt = ({ key, level, rule }: NewFiring): ReadonlyArray<AlertAction> => {
  const actions = rule.levels[level]?.actions ?? []
  return isApart(key) ? actions.filter((action) => !stopsRun(action)) : actions
}

/** Actions that change a run; they are executed after the commit. */
export const isCommand = ({ type }: AlertAction): boolean => type !== "webhook"

/** Stores firings, their notifications and their commands: all for use inside the transaction of a step. */
export const makeFiringWriter = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const ids = yield* Ids
  const notices = yield* AlertNotices

  /** Returns the ids of the stored firings; a level that has fired already is skipped. */
  const open = Effect.fnUntraced(function* (firings: ReadonlyArray<NewFiring>, context: FiringContext) {
    const stored = new Map<NewFiring, string>()
    if (firings.length === 0) return stored
    const { now, runs, silencedUntil, silentSeq } = context
    const newIds = yield* ids.uuids(firings.length)
    const made = firings.map((one, number) => {
      const { rule } = one
      const isOld = one.seq !== undefined && one.seq <= silentSeq
      const actions = isOld ? [] : actionsAt(one)
      const first = nextNotice(
        {
          ...{ isNotified: false, isSilenced: false, isAcknowledged: false, checkAt: undefined, repeatAt: undefined },
          repeatEveryMs: rule.repeatEveryMs,
          resendAt: isForAlertmanager(actions) ? now : undefined
        },
        silencedUntil(one.runId),
        now
      ).state
      const state = isOld ? { ...first, isNotified: false, checkAt: undefined, repeatAt: undefined } : first
      const silenced = isOld || state.isSilenced
      const firing = { ...newFiring(newIds[number] ?? "", one, runs.get(one.runId ?? "")), silenced }
      return { one, firing, actions, isOld, state }
    })
    const rows = made.map(({ actions, firing, one: { key, rule }, state }) => ({
      id: firing.id,
      rule_id: rule.id,
      key,
      period: firing.period,
      level: firing.level,
      severity: firing.severity,
      firing: JSON.stringify(firing),
      actions: JSON.stringify(actions),
      run_id: runs.has(firing.runId ?? "") ? (firing.runId ?? null) : null,
      starts_at: firing.startsAt,
      period_ends_at: firing.periodEndsAt ?? null,
      silenced: firing.silenced,
      is_notified: state.isNotified,
      check_at: isoTimeOrNull(state.checkAt),
      repeat_at: isoTimeOrNull(state.repeatAt),
      resend_at: isoTimeOrNull(state.resendAt)
    }))
    const inserted = new Set(
      (yield* sql<{ readonly id: string }>`
        INSERT INTO alert_firings (${sql.literal(Object.keys(FIRING).join(", "))})
        SELECT * FROM ${unnestRows(sql, rows, FIRING)} AS new
        ON CONFLICT (rule_id, key, period, level) DO NOTHING RETURNING id::text AS id`).map(({ id }) => id)
    )
    const begun = made.filter(({ firing }) => inserted.has(firing.id))
    for (const { firing, one } of begun) stored.set(one, firing.id)
    const notified = begun.filter(({ isOld }) => !isOld)
    const at = isoTime(now)
    yield* notices.send(
      notified.map(({ actions, firing, state }) => ({
        ...{ event: "alert.fired", firing, actions },
        isDelivered: state.isNotified
      })),
      at
    )
    const commands = notified.flatMap(({ actions, firing: { id, runId } }) =>
      actions.flatMap((action, number) =>
        isCommand(action) && runId !== undefined
          ? [{ firing_id: id, action: number, run_id: runId, command: JSON.stringify(action), created_at: at }]
          : []
      )
    )
    if (commands.length > 0) {
      const commandIds = yield* ids.uuids(commands.length)
      const withIds = commands.map((command, number) => ({ id: commandIds[number] ?? "", ...command }))
      yield* sql`
        INSERT INTO alert_commands (id, firing_id, action, run_id, command, created_at, next_attempt_at)
        SELECT new.*, new.created_at FROM ${unnestRows(sql, withIds, COMMAND)} AS new`
    }
    return stored
  })

  /** Ends open firings, each once, and notifies of it. */
  const end = Effect.fnUntraced(function* (ended: ReadonlyArray<EndedFiring>, now: number) {
    if (ended.length === 0) return
    const rows = ended.map(({ at, by, id }) => ({ id, by, at: isoTime(at) }))
    const resolved = yield* sql<FiringRow>`
      UPDATE alert_firings f SET resolved_at = greatest(f.starts_at, ended.at), resolved_by = ended.by, repeat_at = NULL,
                                 resend_at = NULL, check_at = NULL
      FROM ${unnestRows(sql, rows, ENDED)} AS ended
      WHERE f.id = ended.id AND f.resolved_at IS NULL RETURNING ${firingColumns(sql)}`
    yield* notices.send(
      // A receiver that has the firing receives its end also in a silence: otherwise it would show it for ever.
      resolved.map((row) => ({
        ...{ event: "alert.resolved", firing: toFiring(row), actions: actionsOf(row) },
        isDelivered: row.is_notified
      })),
      isoTime(now)
    )
  })

  return { open, end }
})

const isForAlertmanager = (actions: ReadonlyArray<AlertAction>): boolean =>
  actions.some((action) => action.type === "webhook" && action.format === "alertmanager")

export const isStored = (firing: KnownFiring | NewFiring): firing is KnownFiring => "id" in firing

const FIRING = {
  id: "uuid",
  rule_id: "text",
  key: "text",
  period: "text",
  level: "int",
  severity: "text",
  firing: "json",
  actions: "json",
  run_id: "uuid",
  starts_at: "timestamptz",
  period_ends_at: "timestamptz",
  silenced: "bool",
  is_notified: "bool",
  check_at: "timestamptz",
  repeat_at: "timestamptz",
  resend_at: "timestamptz"
} as const
const COMMAND = {
  id: "uuid",
  firing_id: "uuid",
  action: "int",
  run_id: "uuid",
  command: "json",
  created_at: "timestamptz"
} as const
const ENDED = { id: "uuid", by: "text", at: "timestamptz" } as const
