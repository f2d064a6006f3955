import { AlertFiring } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference, textParam, UuidParam } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import {
  AlertBudget,
  AlertNote,
  AlertPage,
  AlertRuleState,
  AlertSilence,
  AlertTest,
  alertBudgetsQuery,
  alertsQuery,
  ChangedAlertRule,
  MAX_BUDGET_KEYS,
  NewAlertRule,
  NewAlertSilence,
  TESTED_DAYS
} from "./Alerts.ts"

const rule = { id: textParam("Id of the rule", "support-budget") }
const id = { id: UuidParam }
const created = HttpApiSchema.status(201)

/** Rules over the log, and what they have reported (docs/reference/alerts.md). */
export class AlertsGroup extends HttpApiGroup.make("alerts")
  .add(
    HttpApiEndpoint.get("rules", "/alerts/rules", { success: Schema.Array(AlertRuleState) }).annotateMerge(
      operation({
        id: "listAlertRules",
        access: "viewer",
        summary: "List the alert rules",
        description: "By id. Each with the error that keeps it from being evaluated, if there is one."
      })
    ),
    HttpApiEndpoint.post("addRule", "/alerts/rules", {
      payload: bodySchema(NewAlertRule, { unknownKeys: "reject" }),
      success: AlertRuleState.pipe(created),
      error: [Failure.AlertRuleRefused, Failure.AlertRuleConflict]
    }).annotateMerge(
      operation({
        id: "createAlertRule",
        access: "admin",
        summary: "Add an alert rule",
        description:
          "It counts events from now on, or with `backfill` those since the start of its window, without notifications " +
          "for them. An error names the field."
      })
    ),
    HttpApiEndpoint.get("rule", "/alerts/rules/:id", {
      params: rule,
      success: AlertRuleState,
      error: Failure.AlertRuleNotFound
    }).annotateMerge(
      operation({
        id: "getAlertRule",
        access: "viewer",
        summary: "Read an alert rule",
        description: "As it is evaluated."
      })
    ),
    HttpApiEndpoint.put("putRule", "/alerts/rules/:id", {
      params: rule,
      payload: bodySchema(ChangedAlertRule, { unknownKeys: "reject" }),
      success: AlertRuleState,
      error: [Failure.AlertRuleRefused, Failure.AlertRuleNotFound]
    }).annotateMerge(
      operation({
        id: "putAlertRule",
        access: "admin",
        summary: "Replace an alert rule",
        description:
          "A change of what is counted (match, per, window, zone, measure, telemetry) starts its counts again and resolves its open " +
          "alerts; other changes keep both."
      })
    ),
    HttpApiEndpoint.delete("removeRule", "/alerts/rules/:id", {
      params: rule,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      operation({
        id: "deleteAlertRule",
        access: "admin",
        summary: "Remove an alert rule",
        description: "Its open alerts are resolved, and stay in the list. An unknown one counts as removed."
      })
    ),
    HttpApiEndpoint.post("tryRule", "/alerts/rules/test", {
      payload: bodySchema(ChangedAlertRule, { unknownKeys: "reject" }),
      success: AlertTest,
      error: [Failure.AlertRuleRefused]
    }).annotateMerge(
      operation({
        id: "tryAlertRule",
        access: "operator",
        summary: "Test a rule before it is added",
        description: `What the rule of the body would have reported in the last ${TESTED_DAYS} days. Nothing is sent or stored.`
      })
    ),
    HttpApiEndpoint.post("testRule", "/alerts/rules/:id/test", {
      params: rule,
      success: AlertTest,
      error: [Failure.AlertRuleNotFound, Failure.AlertRuleRefused]
    }).annotateMerge(
      operation({
        id: "testAlertRule",
        access: "operator",
        summary: "Test an alert rule",
        description: `What it would have reported in the last ${TESTED_DAYS} days. Nothing is sent or stored.`
      })
    ),
    HttpApiEndpoint.get("budgets", "/alerts/budgets", {
      query: alertBudgetsQuery,
      success: Schema.Array(AlertBudget)
    }).annotateMerge(
      operation({
        id: "listAlertBudgets",
        access: "viewer",
        summary: "List the budgets",
        description:
          `Of each enabled rule on costs or tokens of a calendar period: what its current period, or the one of a time, has spent, at most ${MAX_BUDGET_KEYS} ` +
          "keys of a rule, with the pace at which each is spent. The worst first: those that are exhausted soonest."
      })
    ),
    HttpApiEndpoint.get("silences", "/alerts/silences", { success: Schema.Array(AlertSilence) }).annotateMerge(
      operation({
        id: "listAlertSilences",
        access: "viewer",
        summary: "List the silences",
        description: "Those that have not ended, the newest first."
      })
    ),
    HttpApiEndpoint.post("addSilence", "/alerts/silences", {
      payload: bodySchema(NewAlertSilence, { unknownKeys: "reject" }),
      success: AlertSilence.pipe(created),
      error: [Failure.AlertRuleRefused, Failure.TooManySilences]
    }).annotateMerge(
      operation({
        id: "createAlertSilence",
        access: "operator",
        summary: "Silence alerts",
        description: "Alerts of runs that match still open, and are not notified until the silence ends."
      })
    ),
    HttpApiEndpoint.delete("removeSilence", "/alerts/silences/:id", {
      params: id,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      operation({
        id: "deleteAlertSilence",
        access: "operator",
        summary: "End a silence",
        description: "An unknown one counts as ended."
      })
    ),
    HttpApiEndpoint.get("list", "/alerts", { query: alertsQuery, success: AlertPage }).annotateMerge(
      operation({
        id: "listAlerts",
        access: "viewer",
        summary: "List alerts",
        description: "The newest or the most urgent first, with the lag of the evaluator behind the log."
      })
    ),
    HttpApiEndpoint.get("ofRun", "/runs/:id/alerts", {
      params: { id: RunReference },
      query: alertsQuery,
      success: AlertPage,
      error: Failure.RunNotFound
    }).annotateMerge(
      operation({
        id: "listRunAlerts",
        access: "viewer",
        summary: "List the alerts of a run",
        description: "Those that an event of the run has opened, the newest first."
      })
    ),
    HttpApiEndpoint.get("get", "/alerts/:id", {
      params: id,
      success: AlertFiring,
      error: Failure.AlertNotFound
    }).annotateMerge(
      operation({ id: "getAlert", access: "viewer", summary: "Read an alert", description: "As it is now." })
    ),
    HttpApiEndpoint.post("acknowledge", "/alerts/:id/ack", {
      params: id,
      payload: bodySchema(AlertNote, { unknownKeys: "reject" }),
      success: AlertFiring,
      error: Failure.AlertNotFound
    }).annotateMerge(
      operation({
        id: "acknowledgeAlert",
        access: "operator",
        summary: "Acknowledge an alert",
        description: "It stays open, and is not repeated. A later acknowledgement replaces the note."
      })
    )
  )
  .annotateMerge(tag("Alerts", "Rules over the log, budgets, and what they have reported")) {}
