import { type AlertBudget, spendingOf } from "@runplane/api"
import { type AlertFiring, type BudgetSpending, exhaustedAt, SHORTEST_PACE_MS } from "@runplane/domain"
import { clockMinute, dateTime } from "../format/Format.ts"
import type { Tone } from "../format/Status.ts"

export const severityTone: Readonly<Record<AlertBudget["levels"][number]["severity"], Tone>> = {
  info: "accent",
  warning: "warn",
  critical: "bad"
}

/** `reported by telemetry of support, counted apart; not executed: cancel` */
export const telemetryText = ({ mode, source, withheld = [] }: NonNullable<AlertFiring["telemetry"]>): string => {
  const by = `reported by telemetry${source === undefined ? "" : ` of ${source}`}${mode === "count" ? ", counted apart" : ""}`
  return withheld.length === 0 ? by : `${by}; not executed: ${withheld.join(", ")}`
}

/** Why an alert ended. */
export const endingText: Readonly<Record<NonNullable<AlertFiring["resolvedBy"]>, string>> = {
  value: "its value is back",
  period: "its period ended",
  run: "its run ended",
  rule: "its rule was changed"
}

/** The current period of a budget. */
export const periodText: Readonly<Record<AlertBudget["window"], string>> = {
  run: "",
  "1h": "",
  "24h": "",
  day: "today",
  week: "this week",
  month: "this month"
}

/** A budget as a bar. Shares are of its width, 0 to 1. */
export interface BudgetBar {
  readonly limit: number
  readonly spent: number
  readonly reserved: number
  /** The part of the period that has passed. */
  readonly elapsed: number
  readonly levels: ReadonlyArray<{ readonly share: number; readonly tone: Tone }>
  /** The tone of the highest level that is reached, and at least a warning where the limit is reached soon. */
  readonly tone: Tone
  /** `exhausted about 16:40 at the pace of the last hour` */
  readonly forecast: string
  /** `counted since 29 Nov, 12:00`; empty when it is counted since the start of its period. */
  readonly since: string
}

const SOON_MS = 24 * 3_600_000

const within = (share: number): number => Math.min(1, Math.max(0, share))

export const budgetBar = (budget: AlertBudget, now: number): BudgetBar => {
  const spending = spendingOf(budget)
  const { countedSince, endsAt, limit, startsAt } = spending
  // The bar also shows spending over the limit.
  const width = Math.max(limit, budget.spent + budget.reserved)
  const share = (amount: number) => (width === 0 ? 0 : within(amount / width))
  const reached = budget.levels.findLast(({ at }) => budget.spent >= at)
  const at = exhaustedAt(spending, now)
  const tone = reached === undefined ? "good" : severityTone[reached.severity]
  return {
    limit,
    spent: share(budget.spent),
    reserved: share(budget.spent + budget.reserved) - share(budget.spent),
    elapsed: within((now - startsAt) / (endsAt - startsAt)),
    levels: budget.levels.map((level) => ({ share: share(level.at), tone: severityTone[level.severity] })),
    tone: at !== undefined && at - now < SOON_MS && tone !== "bad" ? "warn" : tone,
    forecast: forecastOf(spending, at, now),
    since:
      countedSince === undefined || countedSince <= startsAt
        ? ""
        : `counted since ${now - countedSince < SOON_MS ? clockMinute(countedSince) : dateTime(countedSince)}`
  }
}

const forecastOf = (
  { countedSince, endsAt, pace, spent, startsAt }: BudgetSpending,
  at: number | undefined,
  now: number
): string => {
  if (at !== undefined && at <= now) return `exhausted; the period ends ${dateTime(endsAt)}`
  if (at === undefined && (pace?.perHour === 0 || spent === 0)) return "nothing was spent in the last day"
  const countedFrom = Math.max(startsAt, countedSince ?? 0)
  if (pace === undefined && now - countedFrom < SHORTEST_PACE_MS) return "its pace is not known yet"
  const by = pace === undefined ? "at the mean pace so far" : `at the pace of the last ${pace.of}`
  if (at === undefined) return `lasts until ${dateTime(endsAt)} ${by}`
  return `exhausted about ${at - now < SOON_MS ? clockMinute(at) : dateTime(at)} ${by}`
}
