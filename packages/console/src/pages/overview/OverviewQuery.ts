import type { DashboardCharts, DashboardQuery } from "@runplane/api"
import { bucketMs, type TimeSpan } from "../../view/charts/Series.ts"
import { scenarioSearch } from "../../view/gates/GateLinks.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { type Scope, scopeParams, spanMs } from "../../view/query/Scope.ts"
import { choiceParam, flagParam, numberParam, type ValuesOf } from "../../view/query/UrlState.ts"

/**
 * The state of the overview. `models`: with the cost by model; without it, where
 * the time has few runs; `charts`: with
 * all charts. `from` and `to`, milliseconds, win over the window: a
 * drag over a chart sets them.
 */
export const overviewParams = {
  ...scopeParams,
  from: numberParam(1),
  to: numberParam(1),
  models: choiceParam,
  charts: flagParam
}
export type OverviewState = ValuesOf<typeof overviewParams>

/** The time range of the page, as query and as the charts draw it. */
export interface OverviewRange {
  readonly query: DashboardQuery
  /** The time range of the same length before it. */
  readonly before: DashboardQuery
  readonly span: TimeSpan
  readonly bucketMs: number
  readonly window: Exclude<Scope["window"], ""> | undefined
}

const iso = (ms: number) => new Date(ms).toISOString()

export const rangeOf = ({ environment, from, to, window }: OverviewState, now: number): OverviewRange => {
  const narrowed = environment === "" ? {} : { environment }
  if (from !== undefined && to !== undefined && to > from) {
    const span = { from, to }
    return {
      query: { ...narrowed, from: iso(from), to: iso(to) },
      before: { ...narrowed, from: iso(from - (to - from)), to: iso(from) },
      span,
      bucketMs: bucketMs(span, true),
      window: undefined
    }
  }
  const named = window === "" ? "24h" : window
  const length = spanMs[named]
  const span = { from: now - length, to: now }
  return {
    query: { ...narrowed, window: named },
    before: { ...narrowed, from: iso(span.from - length), to: iso(span.from) },
    span,
    bucketMs: bucketMs(span, false),
    window: named
  }
}

/** The search for the runs that a figure of the overview counts. */
export const searchOf = ({ query, span }: OverviewRange, search = "", scenario?: string): string => {
  const { environment } = query
  const parts = [
    search,
    scenario === undefined ? "" : scenarioSearch(scenario),
    environment === undefined ? "" : `environment:${queryValue(environment)}`,
    `createdAt:>=${iso(span.from)}`,
    query.to === undefined ? "" : `createdAt:<${iso(span.to)}`
  ]
  return parts.filter((part) => part !== "").join(" ")
}

/** The list of those runs. Archived ones are among the figures. `sort`: the name of an order of the list. */
export const runsLink = (range: OverviewRange, search = "", scenario?: string, sort?: string): string =>
  `/runs?${new URLSearchParams({
    q: searchOf(range, search, scenario),
    archived: "true",
    ...(sort !== undefined && { sort })
  }).toString()}`

/** The charts that are no series over time. */
const BY_NAME: ReadonlySet<string> = new Set(["errorClasses", "perScenario"])

/** The series over time, of all charts. */
export const overTime = (charts: DashboardCharts) =>
  Object.entries(charts).flatMap(([name, chart]) => (BY_NAME.has(name) ? [] : [chart]))
