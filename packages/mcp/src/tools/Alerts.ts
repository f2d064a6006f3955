import type { AlertFiring } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "../Shape.ts"
import { page, tool } from "../ToolSpec.ts"
import { bounded, limit, text } from "./Inputs.ts"

const scalar = Schema.optionalKey(Schema.Json)

const alertRow = (firing: AlertFiring) =>
  defined({
    id: firing.id,
    rule: firing.ruleId,
    severity: firing.severity,
    status: firing.status,
    measure: firing.measure,
    at: firing.at,
    value: firing.value,
    startsAt: firing.startsAt,
    runId: firing.runId,
    telemetry: firing.telemetry?.mode,
    acknowledged: firing.acknowledgedAt !== undefined
  })

const noteOf = ({ acknowledgedBy, id, note }: AlertFiring) =>
  note === undefined ? [] : [{ of: defined({ id, by: acknowledgedBy }), text: note }]

const alertsList = tool({
  name: "alerts_list",
  title: "List alerts",
  description:
    "Alerts that rules have reported, open ones unless status is given, the newest first. Not for failed runs without a rule " +
    "(runs_search with q `status:failed`).",
  access: "viewer",
  input: {
    status: Schema.optionalKey(Schema.Literals(["open", "resolved"])),
    rule: Schema.optionalKey(text("Only of the rule with this id")),
    limit: limit(50, 20),
    cursor: Schema.optionalKey(bounded(0, 1_000_000).annotate({ description: "nextCursor of the page before" }))
  },
  output: { total: scalar, ...page },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const offset = input.cursor ?? 0
    const { data, total } = yield* plane.api.alerts.list({
      query: {
        status: input.status ?? "open",
        limit: input.limit ?? 20,
        offset,
        ...(input.rule !== undefined && { rule: input.rule })
      }
    })
    const next = offset + data.length
    return {
      facts: { total },
      items: data.map((firing, index) => ({ row: alertRow(firing), said: noteOf(firing), cursor: offset + index + 1 })),
      nextCursor: next < total ? next : undefined,
      omitted: Math.max(0, total - next),
      rest: "alerts_list"
    }
  })
})

const alertAcknowledge = tool({
  name: "alert_acknowledge",
  title: "Acknowledge an alert",
  description:
    "Records that the caller knows of an alert, which stops its repetitions. Not to end an alert: it ends when its measure " +
    "falls, or with its period.",
  access: "operator",
  hints: { destructive: false, idempotent: true },
  input: { alertId: text("Id of the alert"), note: Schema.optionalKey(text("For readers")) },
  output: { id: scalar, status: scalar },
  call: Effect.fnUntraced(function* ({ alertId, note }, { backend: { plane } }) {
    const payload = note === undefined ? {} : { note }
    const firing = yield* plane.api.alerts.acknowledge({ params: { id: alertId }, payload })
    return { facts: alertRow(firing), said: noteOf(firing), rest: "alerts_list" }
  })
})

export const alertTools = [alertsList, alertAcknowledge]
