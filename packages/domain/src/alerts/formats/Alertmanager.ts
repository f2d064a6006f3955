import type * as Schema from "effect/Schema"
import { lineText } from "../../values/ChatMessage.ts"
import type { AlertFiring, AlertNotice } from "../Firing.ts"
import { amountText, factsOf, linkOf, titleOf } from "./AlertText.ts"

/** Alertmanager ends an alert that is not sent again. So an open alert is sent again in this time. Milliseconds. */
export const ALERTMANAGER_RESEND_MS = 5 * 60_000
/** An open alert ends when this many of its repetitions are lost. */
const LOST_REPETITIONS = 4

const MAX_LABEL = 200

/**
 * The body of `POST /api/v2/alerts`. The labels identify the alert, so all notifications of a firing have the same
 * ones. `endsAt` of an open firing is in the future, and moves with each repetition.
 */
export const alertmanagerBody = (notice: AlertNotice): Schema.Json => {
  const { firing, timestamp } = notice
  const link = linkOf(notice)
  const ends = firing.endsAt ?? isoAfter(timestamp, LOST_REPETITIONS * ALERTMANAGER_RESEND_MS)
  return [
    {
      labels: labelsOf(firing),
      annotations: {
        summary: titleOf(notice),
        description: factsOf(notice)
          .map(({ name, text }) => `${name}: ${text}`)
          .join("\n")
      },
      startsAt: firing.startsAt,
      // Alertmanager refuses an alert that ends before it starts.
      endsAt: Date.parse(ends) < Date.parse(firing.startsAt) ? firing.startsAt : ends,
      ...(link !== undefined && { generatorURL: link })
    }
  ]
}

/** Rules of one name, keys and levels are alerts of their own. */
const labelsOf = ({ at, key, measure, per, ruleId, ruleName, ...firing }: AlertFiring) => {
  const { runId, scenarioRef, severity, telemetry } = firing
  const labels = {
    alertname: ruleName,
    severity,
    scenario: scenarioRef ?? "",
    run: runId ?? "",
    rule: ruleId,
    [per === "run" || per === "scenario" ? "key" : per]: key,
    threshold: amountText(measure, at),
    // The same level of what is counted apart is an alert of its own.
    telemetry: telemetry?.mode === "count" ? "apart" : ""
  }
  // Alertmanager drops labels without a value.
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (value === "" ? [] : [[name, lineText(value, MAX_LABEL)]]))
  )
}

const isoAfter = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString()
