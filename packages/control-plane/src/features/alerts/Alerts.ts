import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type AlertBudget,
  type AlertNote,
  type AlertPage,
  type AlertSilence,
  type AlertsQuery,
  alertNotFound,
  type BadRequest,
  badRequest,
  type Conflict,
  ControlPlaneApi,
  MAX_ALERT_SILENCES,
  MAX_SILENCE_DAYS,
  type NewAlertSilence,
  type NotFound,
  runNotFound,
  tooManyOf
} from "@runplane/api"
import { type AlertFiring, isoTime, type RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { waitedSince } from "../../event-log/consume/LogLag.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { asCaller } from "../../platform/http/CurrentCaller.ts"
import { readPage } from "../../platform/http/ListPage.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { Ids } from "../../platform/Ids.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { type FiringRow, firingColumns, toFiring } from "./AlertRows.ts"
import { AlertRules } from "./AlertRules.ts"
import { AlertTests } from "./AlertTests.ts"
import { makeBudgets } from "./budgets/Budgets.ts"
import { makeSilences } from "./Silences.ts"

/** Firings and silences (docs/reference/alerts.md#firings). Each change commits with its audit entry. */
export class Alerts extends Context.Service<
  Alerts,
  {
    /** `runId` restricts the list to the firings that an event of the run has opened. */
    readonly list: (query: AlertsQuery, runId?: RunId) => Effect.Effect<AlertPage, SqlError>
    readonly get: (id: string) => Effect.Effect<AlertFiring, NotFound | SqlError>
    readonly acknowledge: (
      id: string,
      note: AlertNote,
      caller: Caller
    ) => Effect.Effect<AlertFiring, NotFound | SqlError>
    readonly budgets: (at: string | undefined) => Effect.Effect<ReadonlyArray<AlertBudget>, SqlError>
    readonly silences: Effect.Effect<ReadonlyArray<AlertSilence>, SqlError>
    readonly silence: (
      given: NewAlertSilence,
      caller: Caller
    ) => Effect.Effect<AlertSilence, BadRequest | Conflict | SqlError>
    readonly unsilence: (id: string, caller: Caller) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/Alerts") {
  static readonly layer = Layer.effect(
    Alerts,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const clock = yield* DatabaseClock
      const budgets = yield* makeBudgets
      const ids = yield* Ids
      const { recheck } = yield* makeSilences
      // A step of the evaluator updates firings too: the two follow each other.
      const lockCursor = sql`SELECT FROM alert_cursor FOR UPDATE`
      const now = Effect.map(clock.now, isoTime)

      /** Between the oldest event that is not evaluated yet and now; 0 without rules. */
      const lagMs = Effect.map(
        sql<{ readonly lag: number | null }>`
          SELECT ${waitedSince(sql, sql`c.seq`)} * 1000 AS lag
          FROM alert_cursor c WHERE EXISTS (SELECT FROM alert_rules WHERE enabled)`,
        ([row]) => Math.max(0, Math.round(row?.lag ?? 0))
      )

      const list = Effect.fn("Alerts.list")(function* (query: AlertsQuery, runId?: RunId) {
        const { limit, offset, order = "newest", rule, severity, status } = query
        const where = sql.and([
          sql`true`,
          ...(runId === undefined ? [] : [sql`f.run_id = ${runId}::uuid`]),
          ...(rule === undefined ? [] : [sql`f.rule_id = ${rule}`]),
          ...(severity === undefined ? [] : [sql`f.severity = ${severity}`]),
          ...(status === undefined
            ? []
            : [status === "open" ? sql`f.resolved_at IS NULL` : sql`f.resolved_at IS NOT NULL`])
        ])
        const from = sql`alert_firings f`
        const newest = status === "resolved" ? sql`f.resolved_at DESC, f.id` : sql`f.starts_at DESC, f.id`
        const columns = firingColumns(sql)
        const { rows, total } = yield* readPage<FiringRow>(sql, {
          ...{ columns, from, where, limit, offset },
          order: order === "urgent" ? urgentFirst(sql) : newest
        })
        return { data: rows.map(toFiring), total, limit, offset, lagMs: yield* lagMs }
      })

      const find = Effect.fnUntraced(function* (id: string) {
        const [row] = yield* sql<FiringRow>`
          SELECT ${firingColumns(sql)} FROM alert_firings f WHERE f.id = ${id}::uuid`
        return row === undefined ? yield* alertNotFound(id) : toFiring(row)
      })
      const get = Effect.fn("Alerts.get")(find)

      const acknowledge = Effect.fn("Alerts.acknowledge")(function* (id: string, { note }: AlertNote, caller: Caller) {
        const at = yield* now
        const write = Effect.gen(function* () {
          const [row] = yield* sql<FiringRow>`
            UPDATE alert_firings f SET acknowledged_at = ${at}::timestamptz, acknowledged_by = ${caller.actor.actorId},
                                       note = ${note ?? null}
            WHERE f.id = ${id}::uuid RETURNING ${firingColumns(sql)}`
          if (row === undefined) return yield* alertNotFound(id)
          const details = { ...(note !== undefined && { note }) }
          yield* audit.record({ caller, action: "alert.acknowledge", resource: "alert", resourceId: id, details, at })
          return toFiring(row)
        })
        return yield* sql.withTransaction(write)
      })

      const silences = Effect.gen(function* () {
        const rows = yield* sql<SilenceRow>`
          SELECT id::text AS id, match, until, reason, author, created_at FROM alert_silences
          WHERE until > ${yield* now}::timestamptz ORDER BY created_at DESC, id`
        return rows.map(toSilence)
      }).pipe(Effect.withSpan("Alerts.silences"))

      const silence = Effect.fn("Alerts.silence")(function* (
        { match: given, reason, until }: NewAlertSilence,
        caller: Caller
      ) {
        const id = yield* ids.uuid
        const at = yield* now
        // A blank match selects all runs; as the empty one it also covers firings without a run.
        const match = given.trim() === "" ? "" : given
        if (Date.parse(until) > Date.parse(at) + MAX_SILENCE_MS) {
          return yield* badRequest(`until must be at most ${MAX_SILENCE_DAYS} days ahead: ${until}`)
        }
        const write = Effect.gen(function* () {
          yield* lockCursor
          const [row] = yield* sql<SilenceRow>`
            INSERT INTO alert_silences (id, match, until, reason, author, created_at)
            SELECT ${id}::uuid, ${match}, ${new Date(until).toISOString()}::timestamptz, ${reason},
                   ${caller.actor.actorId}, ${at}::timestamptz
            WHERE (SELECT count(*) FROM alert_silences) < ${MAX_ALERT_SILENCES}
            RETURNING id::text AS id, match, until, reason, author, created_at`
          if (row === undefined) return yield* tooManyOf(MAX_ALERT_SILENCES, "silences")
          yield* recheck(at)
          const details = { match, until, reason, ...coversOf(match) }
          yield* audit.record({ caller, action: "alert.silence", resource: "alert", resourceId: id, details, at })
          return toSilence(row)
        })
        return yield* sql.withTransaction(write)
      })

      const unsilence = Effect.fn("Alerts.unsilence")(function* (id: string, caller: Caller) {
        const at = yield* now
        const write = Effect.gen(function* () {
          yield* lockCursor
          const removed = yield* sql`DELETE FROM alert_silences WHERE id = ${id}::uuid RETURNING id`
          if (removed.length === 0) return
          yield* recheck(at)
          yield* audit.record({ caller, action: "alert.unsilence", resource: "alert", resourceId: id, details: {}, at })
        })
        yield* sql.withTransaction(write)
      })
      return Alerts.of({ list, get, acknowledge, budgets, silences, silence, unsilence })
    })
  )
}

/** Unhandled ones first, then by severity; among these the longest open ones first. */
const urgentFirst = (sql: PgClient.PgClient) => sql`
  f.acknowledged_at IS NOT NULL OR f.silenced, array_position(ARRAY['critical', 'warning', 'info'], f.severity),
  f.starts_at, f.id`

interface SilenceRow {
  readonly id: string
  readonly match: string
  readonly until: Date
  readonly reason: string
  readonly author: string
  readonly created_at: Date
}

const MAX_SILENCE_MS = MAX_SILENCE_DAYS * 86_400_000

/** What a silence without `match` says of itself, in its answers and in the audit log. */
const coversOf = (match: string): Pick<AlertSilence, "covers"> => (match.trim() === "" ? { covers: "all alerts" } : {})

const toSilence = ({ created_at, until, ...row }: SilenceRow): AlertSilence => ({
  ...row,
  ...coversOf(row.match),
  until: until.toISOString(),
  createdAt: created_at.toISOString()
})

/** The endpoints of alerts (docs/reference/alerts.md). */
export const AlertsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "alerts",
  Effect.fnUntraced(function* (handlers) {
    const alerts = yield* Alerts
    const rules = yield* AlertRules
    const tests = yield* AlertTests
    const runs = yield* RunRepository
    const ofRun = Effect.fnUntraced(function* (reference: string, query: AlertsQuery) {
      const runId = (yield* runs.resolve(reference)) ?? (yield* runNotFound(reference))
      return yield* alerts.list(query, runId)
    })
    return handlers.handleAll({
      rules: () => orUnavailable(rules.list),
      addRule: ({ payload }) => asCaller((caller) => rules.add(payload, caller)),
      rule: ({ params }) => orUnavailable(rules.get(params.id)),
      putRule: ({ params, payload }) => asCaller((caller) => rules.put(params.id, payload, caller)),
      removeRule: ({ params }) => asCaller((caller) => rules.remove(params.id, caller)),
      tryRule: ({ payload }) => orUnavailable(tests.runDraft(payload)),
      testRule: ({ params }) => orUnavailable(Effect.flatMap(rules.get(params.id), tests.run)),
      budgets: ({ query }) => orUnavailable(alerts.budgets(query.at)),
      silences: () => orUnavailable(alerts.silences),
      addSilence: ({ payload }) => asCaller((caller) => alerts.silence(payload, caller)),
      removeSilence: ({ params }) => asCaller((caller) => alerts.unsilence(params.id, caller)),
      list: ({ query }) => orUnavailable(alerts.list(query)),
      ofRun: ({ params, query }) => orUnavailable(ofRun(params.id, query)),
      get: ({ params }) => orUnavailable(alerts.get(params.id)),
      acknowledge: ({ params, payload }) => asCaller((caller) => alerts.acknowledge(params.id, payload, caller))
    })
  })
)
