import type { ControlPlaneCalls, DashboardOverview } from "@runplane/api"
import * as Effect from "effect/Effect"
import { isOld, useRead } from "../../ui/useRead.ts"
import { useReady } from "../../ui/useReady.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { serviceNow } from "../../view/live/ServerClock.ts"
import { concernsOf, type Looked, SILENT_MINUTES } from "../../view/overview/Concerns.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import { type OverviewRange, runsLink, searchOf } from "./OverviewQuery.ts"

/** Running runs whose forecast is read. */
const MOST_FORECASTS = 8

const MINUTE = 60_000

/** Running runs that can no longer reach a positive outcome, among those with the latest events. */
const outOfReach = (api: ControlPlaneCalls) =>
  Effect.gen(function* () {
    const { data, total } = yield* api.runs.list({
      query: {
        status: "running",
        limit: MOST_FORECASTS,
        offset: 0,
        sortBy: "updatedAt",
        sortOrder: "desc",
        includeArchived: false
      }
    })
    const forecasts = yield* Effect.forEach(
      data,
      // A run may be deleted meanwhile.
      ({ id }) =>
        Effect.option(Effect.map(api.decisions.forecast({ params: { id }, query: {} }), (answer) => ({ id, answer }))),
      { concurrency: 4 }
    )
    const ids = forecasts.flatMap((found) => {
      if (found._tag === "None") return []
      const positive = found.value.answer.outcomes.find(({ outcome }) => outcome === "positive")
      return positive?.status === "impossible" ? [found.value.id] : []
    })
    return { ids, looked: data.length, of: total } satisfies Looked
  })

const UNFINISHED = "status:(starting,binding_session,running)"
const SILENT_LIST = new URLSearchParams({ q: UNFINISHED, sort: "oldest" }).toString()
const MOST_RUNS = 200

/**
 * Unfinished runs without an event since then: those whose last event has a smaller seq than the first of all events
 * since. Among the oldest ones.
 */
const silentRuns = (api: ControlPlaneCalls) =>
  Effect.gen(function* () {
    const since = new Date(serviceNow() - SILENT_MINUTES * MINUTE).toISOString()
    const after = yield* api.crossRunEvents.list({ query: { afterTs: since, afterSeq: 0, limit: 1 } })
    const firstSeq = after.data[0]?.seq ?? Number.POSITIVE_INFINITY
    const { data, total } = yield* api.runs.list({
      query: {
        q: UNFINISHED,
        createdBefore: since,
        limit: MOST_RUNS,
        offset: 0,
        sortBy: "createdAt",
        sortOrder: "asc",
        includeArchived: false
      }
    })
    const ids = data.flatMap(({ id, lastEventSeq }) => (lastEventSeq < firstSeq ? [id] : []))
    return { ids, looked: data.length, of: total } satisfies Looked
  })

/** Runs with a cost from which on a mean says something. */
const LEAST_RUNS = 10
/** A run that cost this many times the mean is an outlier. */
const OUTLIER = 5

/** The most expensive run of the time range, if it is an outlier. */
const costOutlier =
  ({ kpis }: DashboardOverview, range: OverviewRange) =>
  (api: ControlPlaneCalls) =>
    Effect.gen(function* () {
      const q = searchOf(range, "has:cost")
      const { data, total } = yield* api.runs.list({
        query: { q, limit: 1, offset: 0, sortBy: "cost", sortOrder: "desc", includeArchived: true }
      })
      const [first] = data
      const { totalCostUsd, totalCostUsdExact = totalCostUsd } = kpis
      const costUsd = first?.usage?.estimatedCostUsd ?? 0
      const mean = totalCostUsdExact / Math.max(1, total)
      if (first === undefined || total < LEAST_RUNS || costUsd < OUTLIER * mean) return null
      return { id: first.id, costUsd, mean, title: runFacts(first).title }
    })

const OPEN_ALERTS = { status: "open", limit: 100 } as const

/** The problems that the service reports, and the checks that could not be read. */
export const useAttention = (overview: DashboardOverview, range: OverviewRange) => {
  const ready = useReady()
  const drift = useRead(["drift"], (api) => api.admin.runtimeSessions(), { everyMs: LATER_MS })
  const hooks = useRead(["webhooks"], (api) => api.webhooks.list(), { everyMs: LATER_MS })
  const silent = useRead(["silent runs", "looked"], silentRuns, { everyMs: LATER_MS })
  const denied = useRead(
    ["denials", range.query],
    (api) =>
      api.crossRunEvents.list({
        query: { type: ["policy.denied"], afterTs: new Date(range.span.from).toISOString(), afterSeq: 0, limit: 1 }
      }),
    { everyMs: LATER_MS }
  )
  const stuck = useRead(["out of reach", "looked"], outOfReach, { everyMs: LATER_MS })

  const outlier = useRead(["cost outlier", range.query], costOutlier(overview, range), {
    everyMs: LATER_MS
  })

  const alerts = useRead(["alerts", "open"], (api) => api.alerts.list({ query: { ...OPEN_ALERTS, offset: 0 } }), {
    everyMs: LATER_MS
  })

  const { data: counts, labels } = overview.charts.errorClasses
  const concerns = concernsOf(
    {
      ready: ready.data,
      alerts: alerts.data,
      figures: { ...overview.kpis, lostSessions: counts[labels.indexOf("SESSION_LOST")] ?? 0 },
      outlier: outlier.data,
      stuck: stuck.data,
      silent: silent.data,
      refusals: denied.data?.total,
      drift: drift.data,
      hooks: hooks.data
    },
    { runs: (search) => runsLink(range, search), unfinished: `/runs?${SILENT_LIST}` }
  )
  const checks = [
    { name: "the state of the service", read: ready },
    { name: "alerts", read: alerts },
    { name: "forecasts of running runs", read: stuck },
    { name: "runs without events", read: silent },
    { name: "refusals", read: denied },
    { name: "the dearest run", read: outlier },
    { name: "sessions of the runtime", read: drift },
    { name: "webhooks", read: hooks }
  ]
  return {
    concerns,
    isPending: checks.some(({ read }) => read.isPending),
    /** The checks that failed or could not be refreshed. */
    old: checks.filter(({ read }) => isOld(read)),
    /** The time of the oldest answer. */
    since: Math.min(...checks.map(({ read }) => read.dataUpdatedAt)),
    /** Running runs that the forecast has not been read of. */
    forecasts: stuck.data
  }
}
