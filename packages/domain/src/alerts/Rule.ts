import * as Schema from "effect/Schema"
import { MAX_MARK_COMMENT, MarkName, MarkValue } from "../marks/Mark.ts"
import { MAX_QUERY_LENGTH } from "../query/Query.ts"
import { about, Field, isOfForm, isOneLine } from "../values/Field.ts"
import { AlertPer } from "./Keys.ts"
import {
  ADMISSION_MEASURES,
  ALERT_MEASURES,
  isPlainMeasure,
  MARK_MEASURES,
  mayRefuse,
  measureKind,
  measureOf
} from "./Measures.ts"
import { isCalendarWindow } from "./Windows.ts"

const optional = Schema.optionalKey

/** Characters of the id of a rule. */
export const MAX_RULE_ID = 64
/** Characters of the name of a rule. */
export const MAX_RULE_NAME = 100
export const MAX_RULE_LEVELS = 8
/** Actions of one level. */
export const MAX_RULE_ACTIONS = 10
/** The shortest time between two notifications of one open firing. Milliseconds. */
export const MIN_REPEAT_MS = 60_000
/** The longest one: 31 days. */
export const MAX_REPEAT_MS = 31 * 86_400_000
/** Characters of a tag that a rule adds to a run. */
export const MAX_RULE_TAG = 200
/** Largest threshold of a level. */
export const MAX_THRESHOLD = 1e15

export const AlertSeverity = Schema.Literals(["info", "warning", "critical"]).annotate({
  identifier: "AlertSeverity",
  description: "How urgent an alert is"
})
export type AlertSeverity = typeof AlertSeverity.Type

export const AlertWindow = Schema.Literals(["run", "1h", "24h", "day", "week", "month"]).annotate({
  identifier: "AlertWindow",
  description: "Each run by itself, the last hour or 24 hours by minute, or a calendar period in the zone of the rule"
})
export type AlertWindow = typeof AlertWindow.Type

/** How a rule counts the reports of telemetry (docs/reference/alerts.md#telemetry). */
export const AlertTelemetry = Schema.Literals(["count", "act"]).annotate({
  identifier: "AlertTelemetry",
  description:
    "count: what telemetry reports is counted apart, and notifies, marks and tags only; act: as what a runtime reports"
})
export type AlertTelemetry = typeof AlertTelemetry.Type

const MARK_NAME = "[A-Za-z][A-Za-z0-9_-]{0,63}"
const named = MARK_MEASURES.map((kind) => `${kind}:${MARK_NAME}`)
const markMeasure = new RegExp(`^(?:${named.join("|")})$`)
const MEASURE_NAMES = `${ALERT_MEASURES.join(", ")}, or ${MARK_MEASURES.map((kind) => `${kind}:`).join(", ")} and the name of a mark`

/** One of `ALERT_MEASURES`, or one of `MARK_MEASURES` with the name of a mark. */
export const AlertMeasure = Schema.String.annotate(about(`One of ${MEASURE_NAMES}`, "costUsd")).check(
  Schema.makeFilter((measure: string) => isPlainMeasure(measure) || markMeasure.test(measure), {
    expected: `one of ${MEASURE_NAMES}`,
    toJsonSchema: () => ({ pattern: `^(?:${[...ALERT_MEASURES, ...named].join("|")})$` })
  })
)

/**
 * Runs, votes or marks without which a rate or a mean has no value: the first failed run of a day is not a failure rate
 * of 1.
 */
export const minRunsOf = ({ measure, minRuns, window }: Pick<AlertRule, "measure" | "minRuns" | "window">): number =>
  minRuns ?? (window === "run" ? 1 : (measureOf(measure).usualMinRuns ?? 1))

export const AlertFormat = Schema.Literals(["generic", "slack", "teams", "alertmanager", "pagerduty", "mail"]).annotate(
  { identifier: "AlertFormat", description: "Form of the body that a receiver understands" }
)
export type AlertFormat = typeof AlertFormat.Type

const isHttpUrl = Schema.makeFilter(
  (text: string) => text.length <= 2_048 && /^https?:\/\/[^\s/@]+(?:\/\S*)?$/i.test(text) && URL.canParse(text),
  { expected: "an http or https URL without credentials", toJsonSchema: () => ({ format: "uri", maxLength: 2_048 }) }
)

const ofType = <const Type extends string>(type: Type) =>
  Schema.Literal(type).annotate({ description: "Kind of the action" })

const WebhookAction = Schema.Struct({
  type: ofType("webhook"),
  url: optional(
    Field.text(
      "Receiver. The service makes a subscription for it, and answers show that instead",
      "https://example.org/hooks/alerts"
    ).check(isHttpUrl)
  ),
  subscription: optional(Schema.String.annotate({ description: "Id of a webhook subscription", format: "uuid" })),
  format: AlertFormat,
  routingKey: optional(
    Field.text("Key of the integration in PagerDuty; answers show its last 4 characters").check(
      Schema.isMinLength(1),
      Schema.isMaxLength(100),
      isOneLine
    )
  )
})

const MarkAction = Schema.Struct({ type: ofType("mark"), name: MarkName, value: MarkValue })

const TagAction = Schema.Struct({
  type: ofType("tag"),
  tag: Field.text("Tag of the run", "over-budget").check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_RULE_TAG),
    isOneLine
  )
})

const SuspendAction = Schema.Struct({ type: ofType("suspend") })

const CancelAction = Schema.Struct({
  type: ofType("cancel"),
  allowCancel: optional(Field.flag("Must be true: a cancelled run cannot continue"))
})

/** What a firing does (docs/reference/alerts.md#actions). */
export const AlertAction = Schema.Union([WebhookAction, MarkAction, TagAction, SuspendAction, CancelAction]).annotate({
  identifier: "AlertAction",
  description: "A notification, a mark or a tag of the run, or a command to it"
})
export type AlertAction = typeof AlertAction.Type
export type AlertWebhookAction = typeof WebhookAction.Type

export const AlertActions = Schema.Array(AlertAction)
  .annotate({ description: "What a firing of this level does" })
  .check(Schema.isMaxLength(MAX_RULE_ACTIONS))

export const AlertLevel = Schema.Struct({
  at: Schema.Finite.annotate(about("Threshold, in the unit of the measure", 80)).check(
    Schema.isGreaterThanOrEqualTo(0),
    Schema.isLessThanOrEqualTo(MAX_THRESHOLD)
  ),
  severity: AlertSeverity,
  actions: AlertActions
}).annotate({ description: "A threshold and what happens there" })
export type AlertLevel = typeof AlertLevel.Type

/** A rule (docs/reference/alerts.md#rules). `ruleProblem` has the conditions between its fields. */
export const AlertRule = Schema.Struct({
  id: Field.text("Id of the rule, chosen by its author", "support-budget").check(
    Schema.isMaxLength(MAX_RULE_ID),
    isOfForm(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
  ),
  name: Field.text("Name, for readers", "Budget of support").check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_RULE_NAME),
    isOneLine
  ),
  enabled: Field.flag("Whether it is evaluated"),
  match: Field.text("Runs that count, in the query language of runs; empty means all", "environment:production").check(
    Schema.isMaxLength(MAX_QUERY_LENGTH)
  ),
  per: AlertPer,
  window: AlertWindow,
  zone: Field.text("IANA name of the zone of calendar periods", "Europe/Berlin").check(
    Schema.makeFilter((zone: string) => isZone(zone), { expected: "the IANA name of a time zone" })
  ),
  measure: AlertMeasure,
  levels: Schema.Array(AlertLevel)
    .annotate({ description: "Thresholds, ascending" })
    .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_RULE_LEVELS)),
  minRuns: optional(
    Schema.Int.annotate(
      about("Runs, votes or marks that a rate or a mean needs; 5 for rates over several runs, else 1", 10)
    ).check(Schema.isGreaterThanOrEqualTo(1), Schema.isLessThanOrEqualTo(1_000_000))
  ),
  resolveBelow: optional(
    Schema.Finite.annotate(about("A firing ends when the measure is under it", 70)).check(
      Schema.isGreaterThanOrEqualTo(0),
      Schema.isLessThanOrEqualTo(MAX_THRESHOLD)
    )
  ),
  repeatEveryMs: optional(
    Schema.Int.annotate(about("Milliseconds between two notifications of an open firing", 3_600_000)).check(
      Schema.isGreaterThanOrEqualTo(MIN_REPEAT_MS),
      Schema.isLessThanOrEqualTo(MAX_REPEAT_MS)
    )
  ),
  admission: optional(Field.flag("Whether runs that would exceed the last level are refused")),
  expectedCostUsd: optional(
    Schema.Finite.annotate(
      about("US dollars that admission reserves for a run, instead of the usual cost of its scenario", 0.25)
    ).check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThanOrEqualTo(MAX_THRESHOLD))
  ),
  telemetry: optional(AlertTelemetry),
  backfill: optional(Field.flag("Whether a new rule counts the events since the start of its window, silently"))
}).annotate({
  identifier: "AlertRule",
  description: "A threshold over what runs do, and what happens when it is reached"
})
export type AlertRule = typeof AlertRule.Type

/** Whether the zone is in the data of this process. */
const isZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}

/** Why the fields of a rule do not fit each other, with the name of the field; undefined when they do. */
export const ruleProblem = (rule: Omit<AlertRule, "id">): string | undefined => {
  const { admission, expectedCostUsd, levels, measure, per, resolveBelow, window } = rule
  const kind = measureKind(measure)
  const { clock, firesBelow, per: keys, unit } = measureOf(measure)
  if (clock !== undefined && (per !== "run" || window !== "run")) {
    return `per and window must be run for the measure ${kind}`
  }
  if (per === "run" && window !== "run") return "window must be run when per is run"
  if (!keys.includes(per)) {
    return `per must not be ${per} for the measure ${kind}`
  }
  for (const [number, level] of levels.entries()) {
    const before = levels[number - 1]
    if (before !== undefined && level.at <= before.at) {
      return `levels.${number}.at must be greater than levels.${number - 1}.at`
    }
    if (unit === "share" && level.at > 1) {
      return `levels.${number}.at must be a share of at most 1 for the measure ${kind}: 0.5 is 50 %`
    }
    for (const [index, action] of level.actions.entries()) {
      const problem = actionProblem(action)
      if (problem !== undefined) return `levels.${number}.actions.${index}.${problem}`
    }
  }
  if (resolveBelow !== undefined && !firesBelow && resolveBelow > (levels[0]?.at ?? 0)) {
    return "resolveBelow must not be greater than levels.0.at"
  }
  if (resolveBelow !== undefined && firesBelow && resolveBelow < (levels.at(-1)?.at ?? 0)) {
    return `resolveBelow must not be less than levels.${levels.length - 1}.at for the measure ${kind}`
  }
  if (admission === true && (!mayRefuse(measure) || !isCalendarWindow(window))) {
    return `admission needs the measure ${ADMISSION_MEASURES.join(" or ")} and one of the windows day, week and month`
  }
  if (expectedCostUsd !== undefined && admission !== true) return "expectedCostUsd needs admission"
  if (admission === true && (per === "agent" || per === "model")) return `per must not be ${per} with admission`
  return undefined
}

const actionProblem = (action: AlertAction): string | undefined => {
  if (action.type === "cancel" && action.allowCancel !== true) return "allowCancel must be true"
  if (action.type !== "webhook") return undefined
  if ((action.url === undefined) === (action.subscription === undefined)) {
    return "url or subscription must be given, not both"
  }
  if (action.format === "pagerduty" && action.routingKey === undefined) {
    return "routingKey must be given for the format pagerduty"
  }
  return undefined
}

/** Characters of the reason of a silence and of the note of an acknowledgement. */
export const MAX_ALERT_NOTE = MAX_MARK_COMMENT
