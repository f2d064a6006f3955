import type * as Schema from "effect/Schema"
import type { AlertNotice } from "../Firing.ts"
import type { AlertFormat } from "../Rule.ts"
import { alertmanagerBody } from "./Alertmanager.ts"
import { genericBody } from "./Generic.ts"
import { mailBody } from "./Mail.ts"
import { pagerDutyBody } from "./PagerDuty.ts"
import { slackBody } from "./Slack.ts"
import { teamsBody } from "./Teams.ts"

const BODIES: Readonly<Record<AlertFormat, (notice: AlertNotice) => Schema.Json>> = {
  generic: genericBody,
  slack: slackBody,
  teams: teamsBody,
  alertmanager: alertmanagerBody,
  pagerduty: pagerDutyBody,
  mail: mailBody
}

/**
 * The body of a notification as the receiver of the format expects it: JSON of at most some 20 kilobytes, whatever the
 * names in it are (docs/reference/alerts.md#formats).
 */
export const alertBody = (format: AlertFormat, notice: AlertNotice): Schema.Json => BODIES[format](notice)
