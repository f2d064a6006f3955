import type { AlertBudget } from "@runplane/api"
import { type AlertFiring, exhaustedAt } from "@runplane/domain"
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

/** A budget as a bar. Shares are of its width, 0 to 1. */
export interface BudgetBar {
  readonly limit: number
  readonly spent: number
  readonly reserved: number
  /** The part of the period that has passed. */
  readonly elapsed: number
  readonly levels: ReadonlyArray<{ readonly share: number; readonly tone: Tone }>
  /** The tone of the highest level that is reached. */
  readonly tone: Tone
  /** `exhausted about 16:40 at this pace` */
  readonly forecast: string
}

const SOON_MS = 24 * 3_600_000

const within = (share: number): number => Math.min(1, Math.max(0, share))

export const budgetBar = (budget: AlertBudget, now: number): BudgetBar => {
  const limit = budget.levels.at(-1)?.at ?? 0
  const startsAt = Date.parse(budget.startsAt)
  const endsAt = Date.parse(budget.endsAt)
  // The bar also shows spending over the limit.
  const width = Math.max(limit, budget.spent + budget.reserved)
  const share = (amount: number) => (width === 0 ? 0 : within(amount / width))
  const reached = budget.levels.findLast(({ at }) => budget.spent >= at)
  const at = exhaustedAt({ spent: budget.spent, limit, startsAt, endsAt }, now)
  return {
    limit,
    spent: share(budget.spent),
    reserved: share(budget.spent + budget.reserved) - share(budget.spent),
    elapsed: within((now - startsAt) / (endsAt - startsAt)),
    levels: budget.levels.map((level) => ({ share: share(level.at), tone: severityTone[level.severity] })),
    tone: reached === undefined ? "good" : severityTone[reached.severity],
    forecast: forecastOf(at, now, endsAt)
  }
}

const forecastOf = (at: number | undefined, now: number, endsAt: number): string => {
  if (at === undefined) return `lasts until ${dateTime(endsAt)} at this pace`
  if (at <= now) return `exhausted; the period ends ${dateTime(endsAt)}`
  return `exhausted about ${at - now < SOON_MS ? clockMinute(at) : dateTime(at)} at this pace`
}
