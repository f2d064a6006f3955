import { type ChatFact, type ChatMessage, lineText, safeLink } from "../../values/ChatMessage.ts"
import { usdText } from "../../values/Money.ts"
import type { AlertEvent, AlertFiring, AlertNotice } from "../Firing.ts"
import type { MeasureUnit } from "../Measure.ts"
import { measureOf, measureTitle } from "../Measures.ts"
import type { AlertSeverity } from "../Rule.ts"

/** Characters of a title, and of the value of a fact. */
const MAX_TITLE = 200
const MAX_FACT = 300

/** `critical: Budget of support: cost is $96.40, threshold $95.00` */
export const titleOf = ({ event, firing }: AlertNotice): string => {
  const { at, measure, ruleName, severity, value } = firing
  const state = event === "alert.fired" ? severity : `${STATES[event]} (${severity})`
  // The value is the one at the firing: later notifications speak of the past.
  const verb = event === "alert.fired" ? "is" : "was"
  const reached = `${measureTitle(measure)} ${verb} ${amountText(measure, value, [at])}, threshold ${amountText(measure, at, [value])}`
  return `${state}: ${lineText(`${lineText(ruleName, MAX_TITLE / 2)}: ${reached}`, MAX_TITLE)}`
}

const STATES: Readonly<Record<Exclude<AlertEvent, "alert.fired">, string>> = {
  "alert.repeated": "still open",
  "alert.resolved": "resolved",
  "alert.action_failed": "action failed"
}

/** Why a firing ended. */
const ENDINGS: Readonly<Record<NonNullable<AlertFiring["resolvedBy"]>, string>> = {
  value: "as the value is back on the other side of its bound",
  period: "as the period ended",
  run: "as the run ended",
  rule: "as the rule was changed, disabled or removed"
}

/** What an alert says, in the order of reading. */
export const factsOf = ({ failedAction, firing }: AlertNotice): ReadonlyArray<ChatFact> => {
  const { acknowledgedBy, at, endsAt, key, measure, note, per, period, periodEndsAt, resolvedBy, ruleName } = firing
  const { runId, scenarioRef, startsAt, value, window } = firing
  const direction = measureOf(measure).firesBelow ? "below" : "at least"
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ["Rule", ruleName],
    [
      "Measure",
      `${measureTitle(measure)}: ${amountText(measure, value, [at])} (level: ${direction} ${amountText(measure, at, [value])})`
    ],
    ["Telemetry", telemetryText(firing)],
    ["Action", failedAction && `${failedAction.type} failed: ${failedAction.error}`],
    [per === "all" ? "Of" : `Of ${per}`, per === "run" ? undefined : per === "all" ? "all runs" : key],
    ["Period", window === "run" ? undefined : period + (periodEndsAt === undefined ? "" : ` until ${periodEndsAt}`)],
    ["Scenario", per === "scenario" ? undefined : scenarioRef],
    ["Run", runId],
    ["Since", startsAt],
    ["Resolved", endsAt && (resolvedBy === undefined ? endsAt : `${endsAt}, ${ENDINGS[resolvedBy]}`)],
    ["Acknowledged by", acknowledgedBy],
    ["Note", note]
  ]
  return facts.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text: lineText(text, MAX_FACT) }]))
}

/** Who reported it, and what the rule did not do for that reason. */
const telemetryText = ({ telemetry }: AlertFiring): string | undefined => {
  if (telemetry === undefined) return undefined
  const { mode, source, withheld = [] } = telemetry
  const by = source === undefined ? "reported by telemetry" : `reported by telemetry of ${source}`
  const counted = mode === "count" ? ", counted apart" : ""
  return withheld.length === 0 ? `${by}${counted}` : `${by}${counted}; not executed: ${withheld.join(", ")}`
}

export const linkOf = ({ link }: AlertNotice): string | undefined => safeLink(link)

/** An alert as chats show it. */
export const messageOf = (notice: AlertNotice): ChatMessage => {
  const { event, firing } = notice
  const color = event === "alert.resolved" ? "Good" : COLORS[firing.severity]
  return { title: titleOf(notice), color, facts: factsOf(notice), link: linkOf(notice) }
}

const COLORS: Readonly<Record<AlertSeverity, ChatMessage["color"]>> = {
  info: "Accent",
  warning: "Warning",
  critical: "Attention"
}

/**
 * An amount in the unit of its measure: `$12.50`, `12.5 %`, `90 s`, `10 min`, `1,200`. `beside` are the other amounts
 * of the line: sums of money have the same decimals there.
 */
export const amountText = (measure: string, amount: number, beside: ReadonlyArray<number> = []): string =>
  AMOUNTS[measureOf(measure).unit](amount, beside)

const numberText = (amount: number): string => amount.toLocaleString("en-US", { maximumFractionDigits: 2 })

/** A time from which on minutes are easier to read than seconds. */
const LEAST_MINUTES_MS = 120_000

const AMOUNTS: Readonly<Record<MeasureUnit, (amount: number, beside: ReadonlyArray<number>) => string>> = {
  dollars: (amount, beside) => usdText(amount, 2, beside),
  milliseconds: (amount) =>
    amount < LEAST_MINUTES_MS ? `${numberText(amount / 1_000)} s` : `${numberText(amount / 60_000)} min`,
  share: (amount) => `${numberText(amount * 100)} %`,
  number: numberText
}
