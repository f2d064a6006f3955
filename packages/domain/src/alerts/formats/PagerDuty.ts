import type * as Schema from "effect/Schema"
import { lineText } from "../../values/ChatMessage.ts"
import type { AlertNotice } from "../Firing.ts"
import { factsOf, linkOf, titleOf } from "./AlertText.ts"

/** Characters of the summary and of `source`, `component` and `group`, as PagerDuty limits them. */
const MAX_SUMMARY = 1_024
const MAX_FIELD = 255

/**
 * An event of the Events API v2. The id of the firing is the `dedup_key`: PagerDuty joins all events of a firing in one
 * incident, which an acknowledged firing acknowledges and a resolved one resolves.
 */
export const pagerDutyBody = (notice: AlertNotice): Schema.Json => {
  const { firing, routingKey = "" } = notice
  const { acknowledgedAt, id, key, measure, ruleId, scenarioRef, severity, startsAt, status } = firing
  const link = linkOf(notice)
  const action = status === "resolved" ? "resolve" : acknowledgedAt === undefined ? "trigger" : "acknowledge"
  return {
    routing_key: routingKey,
    event_action: action,
    dedup_key: id,
    payload: {
      summary: lineText(titleOf(notice), MAX_SUMMARY),
      source: "runplane",
      severity,
      timestamp: startsAt,
      component: lineText(scenarioRef ?? key, MAX_FIELD),
      group: lineText(ruleId, MAX_FIELD),
      class: lineText(measure, MAX_FIELD),
      custom_details: Object.fromEntries(factsOf(notice).map(({ name, text }) => [name, text]))
    },
    client: "Runplane",
    ...(link !== undefined && { client_url: link, links: [{ href: link, text: "Open in Runplane" }] })
  }
}
