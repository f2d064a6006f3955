import * as Schema from "effect/Schema"
import { Field } from "../values/Field.ts"
import { AlertPer } from "./Keys.ts"
import { AlertSeverity, AlertTelemetry, AlertWindow } from "./Rule.ts"

const optional = Schema.optionalKey

/** A level of a rule that was reached, for one key in one period (docs/reference/alerts.md#firings). */
export const AlertFiring = Schema.Struct({
  id: Field.text("Id of the firing: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"),
  ruleId: Field.text("Id of its rule", "support-budget"),
  ruleName: Field.text("Name of its rule when it fired", "Budget of support"),
  measure: Field.text("What was measured", "costUsd"),
  per: AlertPer,
  window: AlertWindow,
  key: Field.text("Of a run its id, of a tag the tag; `all` without a key", "support/refund@1.0.0"),
  period: Field.text("The period in which it fired; of the window `run` the id of the run", "2026-07"),
  periodEndsAt: optional(Field.time("End of a calendar period")),
  level: Field.integer("Number of the level, from 0", 1),
  at: Field.number("Threshold of the level", 95),
  severity: AlertSeverity,
  value: Field.number("The measure when it fired", 96.4),
  runId: optional(Field.text("Run whose event reached the level", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11")),
  scenarioRef: optional(Field.text("Scenario of that run", "support/refund@1.0.0")),
  seq: optional(Field.integer("Position in the log of the event that reached the level", 4711)),
  telemetry: optional(
    Schema.Struct({
      mode: AlertTelemetry,
      source: optional(Field.text("Source of the span, log record or mark that reached the level", "support-agents")),
      withheld: optional(
        Schema.Array(Schema.Literals(["suspend", "cancel"])).annotate({
          description: "Actions of the level that are not executed, because only telemetry has reached it"
        })
      )
    }).annotate({
      description: "Present when telemetry reached the level; with `count` the value is of telemetry alone"
    })
  ),
  status: Schema.Literals(["open", "resolved"]).annotate({ description: "A resolved firing does not open again" }),
  startsAt: Field.time("When the level was reached"),
  endsAt: optional(Field.time("When it was resolved")),
  resolvedBy: optional(
    Schema.Literals(["value", "period", "run", "rule"]).annotate({
      description: "Why it ended: the measure, the end of the period or of the run, or a change of the rule"
    })
  ),
  silenced: Field.flag("Whether a silence suppresses its notifications, or did so when it ended"),
  acknowledgedAt: optional(Field.time("When it was acknowledged")),
  acknowledgedBy: optional(Field.text("Caller that acknowledged it", "key:5e884898")),
  note: optional(Field.text("Note of the acknowledgement", "the team is on it"))
}).annotate({ identifier: "AlertFiring", description: "A level of a rule that was reached" })
export type AlertFiring = typeof AlertFiring.Type

/** The events of alerts that webhooks deliver (docs/reference/webhooks.md#webhook-events). */
export const ALERT_EVENTS = ["alert.fired", "alert.repeated", "alert.resolved", "alert.action_failed"] as const
export type AlertEvent = (typeof ALERT_EVENTS)[number]

/** One notification of a firing: the input of every format. Times are ISO 8601. */
export interface AlertNotice {
  readonly event: AlertEvent
  /** When the notification was made. */
  readonly timestamp: string
  readonly firing: AlertFiring
  /** Page of the firing's run, or of the alert, in the console; undefined where no public URL is known. */
  readonly link: string | undefined
  /** Of `alert.action_failed`. */
  readonly failedAction?: { readonly type: string; readonly error: string }
  /** Of the format `pagerduty`. */
  readonly routingKey?: string
}
