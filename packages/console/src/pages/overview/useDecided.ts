import type { ControlPlaneCalls, Run } from "@runplane/api"
import * as Effect from "effect/Effect"
import { useMemo } from "react"
import { newestRuns } from "../../ui/search/useRunSearch.ts"
import { useRead } from "../../ui/useRead.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { caseSearches, decidedRuns, flipsOf } from "../../view/overview/Decided.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { spanMs } from "../../view/query/Scope.ts"
import { type OverviewRange, searchOf } from "./OverviewQuery.ts"

/** Runs of one read. */
const MOST_RUNS = 200
const LIST = { ...newestRuns(MOST_RUNS), include: ["decision"] } as const

/** The search for the decisions of the band. */
export const DECIDED = "outcome:(for,against,decided,denied)"

/** The runs of the same cases in the week before the time of the page. */
const earlierRuns =
  (searches: ReadonlyArray<string>, { query: { environment }, span }: OverviewRange) =>
  (api: ControlPlaneCalls) => {
    const [from, to] = [span.from - spanMs["7d"], span.from].map((ms) => new Date(ms).toISOString())
    const within = `createdAt:>=${from} createdAt:<${to}${
      environment === undefined ? "" : ` environment:${queryValue(environment)}`
    }`
    return Effect.map(
      Effect.forEach(searches, (search) => api.runs.list({ query: { ...LIST, q: `${search} ${within}` } }), {
        concurrency: 2
      }),
      (pages) => ({
        runs: pages.flatMap(({ data }) => data),
        isCut: pages.some(({ data, total }) => data.length < total)
      })
    )
  }

const NOTHING: ReadonlyArray<Run> = []

/** The decisions in the time of the page, and those with another outcome than in the week before. */
export const useDecided = (range: OverviewRange) => {
  const read = useRead(
    ["decided", range.query],
    (api) => api.runs.list({ query: { ...LIST, q: searchOf(range, DECIDED) } }),
    { everyMs: LATER_MS }
  )
  const runs = read.data?.data ?? NOTHING
  const searches = useMemo(() => caseSearches(runs), [runs])
  // Read again when another case was decided: the week before does not change.
  const before = useRead(["decided before", range.query, searches], earlierRuns(searches, range), {
    enabled: searches.length > 0
  })
  const earlier = before.data?.runs ?? NOTHING
  return useMemo(() => {
    const flips = flipsOf(runs, earlier)
    const decided = decidedRuns(runs, new Set(flips.flatMap(({ runs: ids }) => ids)))
    return { read, before, runs, decided, flips, total: read.data?.total ?? 0 }
  }, [read, before, runs, earlier])
}
