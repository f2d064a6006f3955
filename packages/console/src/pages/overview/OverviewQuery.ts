import type { DashboardQuery } from "@runplane/api"
import { type Scope, scopeParams, spanMs } from "../../view/Scope.ts"
import { bucketMs, type TimeSpan } from "../../view/Series.ts"
import { numberParam, type ValuesOf } from "../../view/UrlState.ts"

/** The state of the overview. `from` and `to`, milliseconds, win over the window: a drag over a chart sets them. */
export const overviewParams = { ...scopeParams, from: numberParam(1), to: numberParam(1) }
export type OverviewState = ValuesOf<typeof overviewParams>

/** What is looked at, as the service is asked for it and as the page draws it. */
export interface Look {
  readonly query: DashboardQuery
  /** The same time before it. */
  readonly before: DashboardQuery
  readonly span: TimeSpan
  readonly bucketMs: number
  readonly window: Exclude<Scope["window"], ""> | undefined
}

const iso = (ms: number) => new Date(ms).toISOString()

export const lookOf = ({ environment, from, to, window }: OverviewState, now: number): Look => {
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

/** A value of a search: in quotes where it has more than letters and digits. */
const quoted = (text: string) => (/^[\w./@-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`)

/** The list of the runs that a figure of the overview counts. */
export const runsLink = ({ query, span }: Look, search = "", scenario?: string): string => {
  const { environment } = query
  const parts = [
    search,
    scenario === undefined ? "" : `(sourceRef:${quoted(scenario)} OR scenarioRef:${quoted(scenario)})`,
    environment === undefined ? "" : `environment:${quoted(environment)}`,
    `createdAt:>=${iso(span.from)}`,
    query.to === undefined ? "" : `createdAt:<${iso(span.to)}`
  ]
  // Archived runs are among the figures.
  return `/runs?${new URLSearchParams({ q: parts.filter((part) => part !== "").join(" "), archived: "true" }).toString()}`
}
