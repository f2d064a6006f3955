import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AlertRuleState,
  alertRuleExists,
  alertRuleNotFound,
  type BadRequest,
  badRequest,
  type ChangedAlertRule,
  type Conflict,
  MAX_ALERT_RULES,
  type NewAlertRule,
  type NotFound,
  tooManyOf
} from "@runplane/api"
import {
  type AlertRule,
  isCalendarWindow,
  isoTime,
  isoTimeOrNull,
  isRollingWindow,
  needsRecheck,
  periodOf,
  ruleProblem
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { hasStatus } from "../../event-log/runs/RunColumns.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { type RuleRow, ruleColumns, ruleState, storedRule, withStoredKeys } from "./AlertRows.ts"
import { makeChangedRules } from "./ChangedRules.ts"
import { makeFiringWriter } from "./FiringWriter.ts"
import { makeRuleWebhooks, makeUnusedWebhooks } from "./RuleWebhooks.ts"
import { makeSeqAt } from "./SeqAt.ts"

/** Alert rules (docs/reference/alerts.md#rules). Each change commits with its audit entry. */
export class AlertRules extends Context.Service<
  AlertRules,
  {
    /** By id. A rule that this version cannot read is left out, and logged by the evaluator. */
    readonly list: Effect.Effect<ReadonlyArray<AlertRuleState>, SqlError>
    readonly get: (id: string) => Effect.Effect<AlertRuleState, NotFound | SqlError>
    readonly add: (
      rule: NewAlertRule,
      caller: Caller
    ) => Effect.Effect<AlertRuleState, BadRequest | Conflict | SqlError>
    readonly put: (
      id: string,
      rule: ChangedAlertRule,
      caller: Caller
    ) => Effect.Effect<AlertRuleState, BadRequest | NotFound | SqlError>
    readonly remove: (id: string, caller: Caller) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/AlertRules") {
  static readonly layer = Layer.effect(
    AlertRules,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const clock = yield* DatabaseClock
      const outbox = yield* Outbox
      const seqAt = yield* makeSeqAt
      const ruleWebhooks = yield* makeRuleWebhooks
      const removeUnused = yield* makeUnusedWebhooks
      const writer = yield* makeFiringWriter
      const changes = yield* makeChangedRules(writer)

      const rowOf = (id: string) =>
        Effect.map(sql<RuleRow>`SELECT ${ruleColumns(sql)} FROM alert_rules WHERE id = ${id}`, ([row]) => row)

      const stateOf = (row: RuleRow): ReadonlyArray<AlertRuleState> => {
        const rule = storedRule(row)
        return Result.isSuccess(rule) ? [ruleState(rule.success, row)] : []
      }

      const list = Effect.map(sql<RuleRow>`SELECT ${ruleColumns(sql)} FROM alert_rules ORDER BY id`, (rows) =>
        rows.flatMap(stateOf)
      ).pipe(Effect.withSpan("AlertRules.list"))

      const get = Effect.fn("AlertRules.get")(function* (id: string) {
        const row = yield* rowOf(id)
        const [state] = row === undefined ? [] : stateOf(row)
        return state ?? (yield* alertRuleNotFound(id))
      })

      const record = (action: string, rule: AlertRule, caller: Caller, at: string) => {
        const { enabled, levels, match, measure, name, per, telemetry = "count", window } = rule
        const details = { name, enabled, match, measure, per, window, telemetry, levels: levels.map(({ at }) => at) }
        return audit.record({
          caller,
          action: `alert_rule.${action}`,
          resource: "alert_rule",
          resourceId: rule.id,
          details,
          at
        })
      }

      /** The rule with its subscriptions; an error names the field. */
      const checked = Effect.fnUntraced(function* (rule: AlertRule, before: AlertRule | undefined, caller: Caller) {
        const problem = ruleProblem(rule)
        if (problem !== undefined) return yield* badRequest(problem)
        const withKeys = withStoredKeys(rule.levels, before?.levels)
        if (Result.isFailure(withKeys)) return yield* badRequest(withKeys.failure)
        const levels = yield* Effect.forEach(withKeys.success, (level, number) =>
          Effect.map(
            Effect.forEach(level.actions, (action, index) =>
              ruleWebhooks.resolve(action, `levels.${number}.actions.${index}`, caller)
            ),
            (actions) => ({ ...level, actions })
          )
        )
        return { ...rule, levels }
      })

      /** The position after which a new rule counts, and whether it counts older events first. */
      const beginOf = Effect.fnUntraced(function* (rule: AlertRule, now: number) {
        const [row] = yield* sql<{ readonly seq: bigint }>`
          SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS seq FROM event_seq`
        const end = row?.seq ?? 0n
        if (rule.backfill !== true) return { from: end, backfill: null, silent: 0n, since: now }
        const isPeriod = isCalendarWindow(rule.window) || isRollingWindow(rule.window)
        const since = isPeriod ? periodOf(rule.window, rule.zone, now).start : yield* oldestRun(now)
        const from = BigInt(yield* seqAt(since))
        return { from, backfill: from, silent: end, since }
      })
      const oldestRun = (now: number) =>
        Effect.map(
          sql<{
            readonly at: Date | null
          }>`SELECT min(created_at) AS at FROM runs WHERE ${hasStatus(sql, "unfinished")}`,
          ([row]) => row?.at?.getTime() ?? now
        )

      /**
       * Locks the cursor, so that no step has begun with the old rules. Without rules the cursor has not moved: it
       * begins at the end of the log.
       */
      const lockCursor = sql`
        UPDATE alert_cursor SET rules_version = rules_version + 1,
          seq = CASE WHEN EXISTS (SELECT FROM alert_rules WHERE enabled) THEN seq ELSE event_watermark() END`

      const add = Effect.fn("AlertRules.add")(function* (given: NewAlertRule, caller: Caller) {
        if ((yield* rowOf(given.id)) !== undefined) return yield* alertRuleExists(given.id)
        return yield* again(insertRule(given, caller))
      })

      const insertRule = Effect.fnUntraced(function* (given: NewAlertRule, caller: Caller) {
        const rule = yield* checked(given, undefined, caller)
        const now = yield* clock.now
        const at = isoTime(now)
        const insert = Effect.gen(function* () {
          yield* lockCursor
          if (!(yield* ruleWebhooks.exist(rule))) return yield* new WebhookRemoved()
          const [count] = yield* sql<{ readonly rules: number }>`SELECT count(*)::int AS rules FROM alert_rules`
          if ((count?.rules ?? 0) >= MAX_ALERT_RULES) return yield* tooManyOf(MAX_ALERT_RULES, "alert rules")
          const begin = yield* beginOf(rule, now)
          const [row] = yield* sql<RuleRow>`
            INSERT INTO alert_rules (id, rule, enabled, from_seq, backfill_seq, silent_seq, counted_since, created_at,
                                     updated_at)
            VALUES (${rule.id}, ${JSON.stringify(rule)}::text::json, ${rule.enabled}, ${begin.from},
                    ${begin.backfill}::bigint, ${begin.silent}, ${isoTime(begin.since)}::timestamptz,
                    ${at}::timestamptz, ${at}::timestamptz)
            ON CONFLICT DO NOTHING RETURNING ${ruleColumns(sql)}`
          if (row === undefined) return yield* alertRuleExists(rule.id)
          yield* record("create", rule, caller, at)
          return ruleState(rule, row)
        })
        return yield* sql.withTransaction(insert)
      })

      /** Ends the open firings of a rule, and lets its next counts fire again. */
      const reset = Effect.fnUntraced(function* (id: string, now: number) {
        const open = yield* sql<{ readonly id: string }>`
          SELECT id::text AS id FROM alert_firings WHERE rule_id = ${id} AND resolved_at IS NULL`
        yield* writer.end(
          open.map((one) => ({ id: one.id, by: "rule" as const, at: now })),
          now
        )
        yield* sql`
          UPDATE alert_firings SET period = period || ' ' || id::text
          WHERE rule_id = ${id} AND NOT period LIKE '% ' || id::text`
      })

      const put = Effect.fn("AlertRules.put")((id: string, given: ChangedAlertRule, caller: Caller) =>
        again(change(id, given, caller))
      )

      const change = Effect.fnUntraced(function* (id: string, body: ChangedAlertRule, caller: Caller) {
        const { backfilling, createdAt, error, id: named = id, updatedAt, ...given } = body
        if (named !== id) return yield* badRequest(`id must be ${id}, as in the path`)
        const row = yield* rowOf(id)
        if (row === undefined) return yield* alertRuleNotFound(id)
        const stored = storedRule(row)
        const before = Result.isSuccess(stored) ? stored.success : undefined
        const rule = yield* checked({ id, ...given }, before, caller)
        const now = yield* clock.now
        const at = isoTime(now)
        const isSame =
          before !== undefined &&
          row.error === null &&
          COUNTED.every((field) => before[field] === rule[field]) &&
          (before.telemetry ?? "count") === (rule.telemetry ?? "count")
        const write = Effect.gen(function* () {
          yield* lockCursor
          if (!(yield* ruleWebhooks.exist(rule))) return yield* new WebhookRemoved()
          // An enabled rule counts from now on what it has missed while it was not.
          const isResumed = rule.enabled && !row.enabled
          if (isSame) {
            if (needsRecheck(before, rule)) yield* changes.moveFirings(rule, now)
            if (isResumed) yield* changes.forgetEnded(id)
          } else {
            yield* reset(id, now)
            yield* sql`DELETE FROM alert_counters WHERE rule_id = ${id}`
            yield* sql`DELETE FROM alert_amounts WHERE rule_id = ${id}`
            yield* sql`DELETE FROM alert_paces WHERE rule_id = ${id}`
            yield* sql`DELETE FROM alert_deadlines WHERE rule_id = ${id}`
          }
          const begin = isSame && !isResumed ? undefined : yield* beginOf(rule, now)
          const [changed] = yield* sql<RuleRow>`
            UPDATE alert_rules SET rule = ${JSON.stringify(rule)}::text::json, enabled = ${rule.enabled}, error = NULL,
                                   from_seq = coalesce(${begin?.from ?? null}::bigint, from_seq),
                                   silent_seq = coalesce(${begin?.silent ?? null}::bigint, silent_seq),
                                   backfill_seq = CASE WHEN ${begin !== undefined}::boolean
                                                       THEN ${begin?.backfill ?? null}::bigint ELSE backfill_seq END,
                                   counted_since = CASE WHEN ${isSame}::boolean THEN counted_since
                                                        ELSE ${isoTimeOrNull(begin?.since)}::timestamptz END,
                                   updated_at = ${at}::timestamptz
            WHERE id = ${id} RETURNING ${ruleColumns(sql)}`
          if (changed === undefined) return yield* alertRuleNotFound(id)
          if (isSame && (isResumed || needsRecheck(before, rule))) yield* changes.request(rule, now)
          yield* record("update", rule, caller, at)
          yield* removeUnused(caller, at)
          return ruleState(rule, changed)
        })
        const state = yield* sql.withTransaction(write)
        outbox.wake()
        return state
      })

      const remove = Effect.fn("AlertRules.remove")(function* (id: string, caller: Caller) {
        const now = yield* clock.now
        const at = isoTime(now)
        const erase = Effect.gen(function* () {
          yield* lockCursor
          yield* reset(id, now)
          const removed = yield* sql<RuleRow>`DELETE FROM alert_rules WHERE id = ${id} RETURNING ${ruleColumns(sql)}`
          if (removed.length === 0) return
          yield* audit.record({
            ...{ caller, action: "alert_rule.delete", resource: "alert_rule", resourceId: id, details: {}, at }
          })
          yield* removeUnused(caller, at)
        })
        yield* sql.withTransaction(erase)
        outbox.wake()
      })
      return AlertRules.of({ list, get, add, put, remove })
    })
  )
}

/** The last rule of a subscription was removed while another rule was about to use it. */
class WebhookRemoved extends Data.TaggedError("WebhookRemoved") {}

/** Makes the subscription again that was removed meanwhile. */
const again = <A, E, R>(write: Effect.Effect<A, E | WebhookRemoved, R>) =>
  Effect.retry(write, { while: (error) => error instanceof WebhookRemoved, times: 5 }).pipe(
    Effect.catchIf(
      (error): error is WebhookRemoved => error instanceof WebhookRemoved,
      () => Effect.fail(badRequest("a webhook of the rule was removed meanwhile"))
    )
  )

/** A change of these, or of `telemetry`, starts the counts of a rule again. */
const COUNTED = ["match", "per", "window", "zone", "measure"] as const
