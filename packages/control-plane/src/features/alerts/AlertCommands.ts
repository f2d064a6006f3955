import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AlertAction,
  type AlertFiring,
  amountText,
  backoffMs,
  isoTime,
  measureTitle,
  RunId,
  targetProblem,
  valueProblem
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { RunAdministration } from "../../event-log/runs/RunAdministration.ts"
import { boundOf, timeAfter } from "../../marks/MarkChain.ts"
import { MarkDefinitions } from "../../marks/MarkDefinitions.ts"
import { MarkWriter } from "../../marks/MarkWriter.ts"
import { AuditTrail } from "../../platform/audit/AuditTrail.ts"
import { isDatabaseFailure } from "../../platform/http/OutageAnswers.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { type Leased, makeLeasedRows } from "../../platform/postgres/LeasedRows.ts"
import { Runs } from "../../runs/Runs.ts"
import { AlertNotices, ruleCaller } from "./AlertNotices.ts"
import { actionsOf, type FiringRow, firingColumns, toFiring } from "./AlertRows.ts"

/** Commands that one round executes, and that are executed at the same time. */
const ROUND = 20
const CONCURRENCY = 4
/** The pauses after failed attempts. */
const RETRIES = { firstMs: 2_000, longestMs: Number.POSITIVE_INFINITY }
/** Attempts at a runtime that is unavailable; a refusal ends the command at once. */
const MOST_ATTEMPTS = 8
/** Longer than an attempt lasts: afterwards another process may try. Milliseconds. */
const LEASE_MS = 60_000

/** Why an action is not possible. */
interface Refused {
  readonly message: string
  readonly isTemporary: boolean
}
const refused = (message: string): Refused => ({ message, isTemporary: false })

/**
 * Executes the commands of firings, each once, by the path of an operator (docs/reference/alerts.md#actions). A refusal
 * is reported as `alert.action_failed`.
 */
export class AlertCommands extends Context.Service<
  AlertCommands,
  {
    /** Executes the due commands; returns how many there were. */
    readonly execute: Effect.Effect<number, SqlError>
  }
>()("runplane/control-plane/AlertCommands") {
  static readonly layer = Layer.effect(
    AlertCommands,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const clock = yield* DatabaseClock
      const definitions = yield* MarkDefinitions
      const marks = yield* MarkWriter
      const notices = yield* AlertNotices
      const runs = yield* Runs
      const upkeep = yield* RunAdministration
      const outbox = yield* Outbox
      const commands = makeLeasedRows<CommandRow>(sql, {
        table: "alert_commands",
        key: "id",
        dueAt: "next_attempt_at",
        isOpen: sql`done_at IS NULL
          AND EXISTS (SELECT FROM alert_firings f WHERE f.id = firing_id AND f.run_id IS NOT NULL)`,
        columns: sql`claimed.id::text AS command_id, claimed.action, ${firingColumns(sql)}`,
        joined: sql`JOIN alert_firings f ON f.id = claimed.firing_id`
      })

      const addMark = Effect.fnUntraced(function* (
        id: string,
        runId: RunId,
        { name, value }: Extract<AlertAction, { readonly type: "mark" }>,
        firing: AlertFiring,
        at: string
      ) {
        const target = { kind: "run" } as const
        const problem = targetProblem(name, target) ?? valueProblem(yield* definitions.find(name), value)
        if (problem !== undefined) return yield* Effect.fail(refused(problem))
        const chain = yield* marks.lock(runId)
        if (chain === undefined) return yield* Effect.fail(refused(`run ${runId} not found`))
        const [known] = yield* sql`SELECT FROM marks WHERE id = ${id}::uuid`
        if (known !== undefined) return
        const bound = boundOf(chain)
        if (bound !== undefined) return yield* Effect.fail(refused(`run ${runId} has ${bound} already`))
        const caller = ruleCaller(firing.ruleName)
        const author = caller.actor.actorId
        const comment = reasonOf(firing)
        const createdAt = timeAfter(chain, at)
        yield* marks.add(chain, [{ id, runId, target, name, value, comment, source: "rule", author, createdAt }])
        const details = { runId, name, source: "rule", target }
        yield* audit.record({ caller, action: "mark.add", resource: "mark", resourceId: id, details, at })
      }, sql.withTransaction)

      const addTag = Effect.fnUntraced(function* (runId: RunId, tag: string, firing: AlertFiring, at: string) {
        if (!(yield* upkeep.addTag(runId, tag, at))) return yield* Effect.fail(refused(`run ${runId} not found`))
        const caller = ruleCaller(firing.ruleName)
        yield* audit.record({ caller, action: "run.tag", resource: "run", resourceId: runId, details: { tag }, at })
      }, sql.withTransaction)

      /** An earlier attempt may have succeeded without its outcome being stored. */
      const isDone = Effect.fnUntraced(function* (row: CommandRow, status: string) {
        if (row.attempts === 1) return false
        return (yield* runs.get(row.run_id)).status === status
      })

      const perform = Effect.fnUntraced(function* (
        row: CommandRow,
        action: AlertAction,
        firing: AlertFiring,
        at: string
      ) {
        const runId = RunId.make(row.run_id)
        const caller = ruleCaller(firing.ruleName)
        switch (action.type) {
          case "webhook":
            return
          case "mark":
            return yield* addMark(row.command_id, runId, action, firing, at)
          case "tag":
            return yield* addTag(runId, action.tag, firing, at)
          case "suspend":
            if (!(yield* isDone(row, "suspended"))) yield* runs.suspend(runId, reasonOf(firing), caller)
            return
          case "cancel":
            if (!(yield* isDone(row, "cancelled"))) yield* runs.cancel(runId, reasonOf(firing), caller)
        }
      })

      const executeOne = Effect.fnUntraced(function* (row: CommandRow) {
        const at = isoTime(yield* clock.now)
        const firing = toFiring(row)
        const actions = actionsOf(row)
        const action = actions[row.action]
        if (action === undefined) return
        const outcome = yield* Effect.result(perform(row, action, firing, at))
        if (Result.isSuccess(outcome)) {
          yield* sql`UPDATE alert_commands SET done_at = ${at}::timestamptz WHERE id = ${row.command_id}::uuid`
          outbox.wake()
          return
        }
        const { failure } = outcome
        const isTemporary =
          isDatabaseFailure(failure) || ("isTemporary" in failure ? failure.isTemporary : failure.statusCode >= 500)
        if (isTemporary && (isDatabaseFailure(failure) || row.attempts < MOST_ATTEMPTS)) {
          return yield* commands.postpone(row.command_id, row, backoffMs(RETRIES, row.attempts - 1))
        }
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`
              UPDATE alert_commands SET done_at = ${at}::timestamptz, error = ${failure.message}
              WHERE id = ${row.command_id}::uuid`
            const failedAction = { type: action.type, error: failure.message }
            yield* notices.send([{ event: "alert.action_failed", firing, actions, failedAction }], at)
          })
        )
        outbox.wake()
        yield* Effect.logWarning(
          `the alert rule ${firing.ruleId} cannot ${action.type} run ${row.run_id}: ${failure.message}`
        )
      })

      const execute = Effect.gen(function* () {
        let executed = 0
        /** A lease begins when its command does, so the next one is claimed after this one. */
        const executeFrom = Effect.fnUntraced(function* (first: CommandRow) {
          let row: CommandRow | undefined = first
          while (row !== undefined) {
            yield* executeOne(row)
            executed += 1
            row = executed < ROUND ? (yield* commands.claim({ limit: 1, leaseMs: LEASE_MS }))[0] : undefined
          }
        })
        const first = yield* commands.claim({ limit: CONCURRENCY, leaseMs: LEASE_MS })
        yield* Effect.forEach(first, executeFrom, { concurrency: CONCURRENCY, discard: true })
        return executed
      }).pipe(Effect.withTracerEnabled(false))
      return AlertCommands.of({ execute })
    })
  )
}

/** Why a rule acts, for the audit log and the session. */
const reasonOf = ({ at, measure, ruleName, telemetry, value }: AlertFiring): string => {
  const by =
    telemetry === undefined
      ? ""
      : `, reported by telemetry${telemetry.source === undefined ? "" : ` of ${telemetry.source}`}`
  return `alert rule ${ruleName}: ${measureTitle(measure)} is ${amountText(measure, value, [at])}, the threshold is ${amountText(measure, at, [value])}${by}`
}

interface CommandRow extends FiringRow, Leased {
  readonly command_id: string
  readonly action: number
  readonly run_id: string
}
