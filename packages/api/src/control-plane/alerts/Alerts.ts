import {
  AlertFiring,
  AlertRule,
  AlertSeverity,
  about,
  type BudgetSpending,
  Field,
  MAX_ALERT_NOTE
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, isoDate, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { searchText } from "../query/DescribedField.ts"
import { runQueryFields } from "../query/QueryFields.ts"
import { Timestamp } from "../runs/Run.ts"

const optional = Schema.optionalKey

export const MAX_ALERT_RULES = 1_000
export const MAX_ALERT_SILENCES = 1_000
/** Longest time of a silence, days. */
export const MAX_SILENCE_DAYS = 90
export const MAX_ALERT_PAGE = 500
/** Firings that a test of a rule lists. */
export const MAX_TESTED_FIRINGS = 500
/** Keys of one rule in the list of budgets. */
export const MAX_BUDGET_KEYS = 50
/** Days of the log that a test of a rule reads. */
export const TESTED_DAYS = 7

const match = searchText(
  runQueryFields,
  "Runs that count, in the query language of runs; empty means all",
  "environment:production"
)

const { id, ...changeable } = AlertRule.fields

/** The fields of a rule as requests have them, without its id. */
const requested = {
  ...changeable,
  enabled: withDefault(AlertRule.fields.enabled, true),
  match: withDefault(match, ""),
  zone: withDefault(AlertRule.fields.zone, "UTC")
}

/** The body of `POST /alerts/rules`. */
export const NewAlertRule = Schema.Struct({ id, ...requested }).annotate({
  identifier: "AlertRuleRequest",
  description: "A new rule"
})
export type NewAlertRule = typeof NewAlertRule.Type

/** What answers add to a rule. */
const served = {
  error: optional(Field.text("Why it cannot be evaluated; it is tried again after a change")),
  backfilling: optional(Schema.Literal(true).annotate({ description: "Present while it counts older events" })),
  createdAt: Field.time("When it was made"),
  updatedAt: Field.time("When it last changed")
}

/** The body of `PUT /alerts/rules/:id`: also a rule as it was served, whose further members change nothing. */
export const ChangedAlertRule = Schema.Struct({
  ...requested,
  id: optional(id),
  error: served.error,
  backfilling: served.backfilling,
  createdAt: optional(served.createdAt),
  updatedAt: optional(served.updatedAt)
}).annotate({
  identifier: "AlertRuleChange",
  description: "A rule as it is to be, or as it was served"
})
export type ChangedAlertRule = typeof ChangedAlertRule.Type

/** A rule as it is served: urls are replaced by subscriptions, and keys are masked. */
export const AlertRuleState = Schema.Struct({ ...AlertRule.fields, ...served }).annotate({
  identifier: "AlertRuleState",
  description: "A rule and whether it can be evaluated"
})
export type AlertRuleState = typeof AlertRuleState.Type

/** The query of `GET /alerts`. */
export const alertsQuery = querySchema({
  status: optional(Schema.Literals(["open", "resolved"]).annotate(about("Only alerts with this status", "open"))),
  severity: optional(Schema.Literals(AlertSeverity.literals).annotate(about("Only of this severity", "critical"))),
  rule: optional(Field.text("Only of the rule with this id", "support-budget")),
  order: optional(
    Schema.Literals(["newest", "urgent"]).annotate(
      about(
        "newest: resolved ones by their end, others by their start; urgent: not acknowledged and not silenced first, " +
          "then by severity, then the longest open",
        "urgent"
      )
    )
  ),
  limit: withDefault(integer({ min: 1, max: MAX_ALERT_PAGE }).annotate(about("Most alerts of the page", 100)), 100),
  offset: withDefault(integer({ min: 0, max: 1_000_000 }).annotate(about("Alerts before the page", 0)), 0)
})
export type AlertsQuery = typeof alertsQuery.Type

/** The answer of `GET /alerts` and `GET /runs/:id/alerts`. */
export const AlertPage = Schema.Struct({
  data: Schema.Array(AlertFiring).annotate({ description: "The alerts of this page, in the given order" }),
  total: Field.integer("All alerts that match", 3),
  limit: Field.integer("Most alerts of a page", 100),
  offset: Field.integer("Alerts before this page", 0),
  lagMs: Field.integer("Milliseconds since the oldest event that the evaluator has not read yet", 0)
}).annotate({ identifier: "AlertPage", description: "A page of alerts" })
export type AlertPage = typeof AlertPage.Type

/** The answer of `POST /alerts/rules/:id/test`. */
export const AlertTest = Schema.Struct({
  since: Field.time("Start of the tested time"),
  until: Field.time("End of the tested time"),
  events: Field.integer("Events that were read", 12_345),
  complete: Field.flag("False when the log has more events in that time than a test reads, or more would have fired"),
  firings: Schema.Array(AlertFiring).annotate({ description: "What would have fired, the oldest first" })
}).annotate({ identifier: "AlertTest", description: "What a rule would have done; nothing was sent or stored" })
export type AlertTest = typeof AlertTest.Type

/** The query of `GET /alerts/budgets` (docs/reference/alerts.md#budgets). */
export const alertBudgetsQuery = querySchema({
  at: optional(isoDate("The periods of this time; the current ones unless given", "2026-11-01"))
})

/** What a budget has spent in its current period (docs/reference/alerts.md#budgets). */
export const AlertBudget = Schema.Struct({
  ruleId: AlertRule.fields.id,
  name: AlertRule.fields.name,
  measure: AlertRule.fields.measure,
  per: AlertRule.fields.per,
  window: AlertRule.fields.window,
  key: AlertFiring.fields.key,
  period: AlertFiring.fields.period,
  startsAt: Field.time("Start of the period"),
  endsAt: Field.time("End of the period"),
  levels: Schema.Array(Schema.Struct({ at: Field.number("Threshold", 80), severity: AlertSeverity })).annotate({
    description: "The levels, ascending; the last one is the limit"
  }),
  spent: Field.number("The measure so far", 62.5),
  telemetry: optional(
    Field.number("What telemetry has reported beside that, where the rule counts it apart; it is not in `spent`", 12.5)
  ),
  reserved: Field.number("US dollars that admission has reserved for open runs", 1.25),
  countedSince: optional(Field.time("Since when the rule counts, where that is known")),
  pace: optional(
    Schema.Struct({
      perHour: Field.number("The measure in an hour", 2.5),
      of: Schema.Literals(["hour", "day"]).annotate({ description: "Whether the last hour or the last day is faster" })
    }).annotate({ description: "How fast it is spent now; absent for another time, and before it can be measured" })
  )
}).annotate({ identifier: "AlertBudget", description: "What a budget has spent in its current period" })
export type AlertBudget = typeof AlertBudget.Type

/** A budget as the forecast of its end reads it. */
export const spendingOf = ({ countedSince, endsAt, levels, pace, spent, startsAt }: AlertBudget): BudgetSpending => ({
  spent,
  limit: levels.at(-1)?.at ?? 0,
  startsAt: Date.parse(startsAt),
  endsAt: Date.parse(endsAt),
  countedSince: countedSince === undefined ? undefined : Date.parse(countedSince),
  pace
})

/** The body of `POST /alerts/:id/ack`. */
export const AlertNote = Schema.Struct({
  note: optional(Field.text("For readers", "the team is on it").check(Schema.isMaxLength(MAX_ALERT_NOTE)))
}).annotate({ identifier: "AlertNote", description: "An acknowledgement" })
export type AlertNote = typeof AlertNote.Type

/** The body of `POST /alerts/silences`. */
export const NewAlertSilence = Schema.Struct({
  match: withDefault(match, ""),
  until: Timestamp.check(
    Schema.makeFilter((text: string) => !Number.isNaN(Date.parse(text)), { expected: "an ISO 8601 time" })
  ),
  reason: Field.text("For readers", "planned maintenance").check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_ALERT_NOTE)
  )
}).annotate({ identifier: "AlertSilenceRequest", description: "Notifications to suppress" })
export type NewAlertSilence = typeof NewAlertSilence.Type

export const AlertSilence = Schema.Struct({
  id: Field.text("Id of the silence: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"),
  match: Field.text("Runs whose alerts are not notified", "environment:staging"),
  until: Field.time("End of the silence"),
  reason: Field.text("For readers", "planned maintenance"),
  author: Field.text("Caller that made it", "key:5e884898"),
  createdAt: Field.time("When it was made"),
  covers: optional(
    Schema.Literal("all alerts").annotate({
      description: "Of a silence without match: it covers all alerts; absent otherwise"
    })
  )
}).annotate({ identifier: "AlertSilence", description: "Suppresses notifications about runs that match" })
export type AlertSilence = typeof AlertSilence.Type
