import type { ControlPlaneCalls, DashboardOverview } from "@runplane/api"
import * as Effect from "effect/Effect"
import { isOld, useRead } from "../../ui/useRead.ts"
import { useReady } from "../../ui/useReady.ts"
import { counted, cut, dollars, NAME_LENGTH, whole } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { serviceNow } from "../../view/live/ServerClock.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import { type OverviewRange, runsLink, searchOf } from "./OverviewQuery.ts"

/** A problem that needs a check, with a link. */
export interface Concern {
  readonly id: string
  readonly tone: "bad" | "warn"
  readonly text: string
  readonly href: string
}

/** A run without an event for this long is silent. Minutes. */
export const SILENT_MINUTES = 5
/** Running runs whose forecast is read. */
const MOST_FORECASTS = 8

const MINUTE = 60_000

/** Running runs that can no longer reach a positive outcome. */
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
    return { ids, checked: data.length, running: total }
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
    const { data } = yield* api.runs.list({
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
    return data.flatMap(({ id, lastEventSeq }) => (lastEventSeq < firstSeq ? [id] : []))
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
/** Rules of open alerts that a line names. */
const MOST_NAMED = 3

/** The problems that the service reports, and the checks that could not be read. */
export const useAttention = (overview: DashboardOverview, range: OverviewRange) => {
  const ready = useReady()
  const drift = useRead(["drift"], (api) => api.admin.runtimeSessions(), { everyMs: LATER_MS })
  const hooks = useRead(["webhooks"], (api) => api.webhooks.list(), { everyMs: LATER_MS })
  const silent = useRead(["silent runs"], silentRuns, { everyMs: LATER_MS })
  const denied = useRead(
    ["denials", range.query],
    (api) =>
      api.crossRunEvents.list({
        query: { type: ["policy.denied"], afterTs: new Date(range.span.from).toISOString(), afterSeq: 0, limit: 1 }
      }),
    { everyMs: LATER_MS }
  )
  const stuck = useRead(["out of reach"], outOfReach, { everyMs: LATER_MS })

  const outlier = useRead(["cost outlier", range.query], costOutlier(overview, range), {
    everyMs: LATER_MS
  })

  const alerts = useRead(["alerts", "open"], (api) => api.alerts.list({ query: { ...OPEN_ALERTS, offset: 0 } }), {
    everyMs: LATER_MS
  })

  const concerns: Array<Concern> = []
  const add = (id: string, tone: Concern["tone"], text: string, href: string) => concerns.push({ id, tone, text, href })
  if (ready.data !== undefined) {
    const { circuitBreaker, database, log, runtime, streamConsumer } = ready.data.checks
    if (database !== "ok") add("database", "bad", "The database does not answer", "/operations")
    if (!runtime.ok)
      add("runtime", "bad", `The runtime does not answer: ${runtime.detail ?? "no reason given"}`, "/operations")
    if (circuitBreaker !== "CLOSED") add("breaker", "bad", `The circuit breaker is ${circuitBreaker}`, "/operations")
    if (!log.ok) add("log", "warn", `Events are stored late: ${log.detail}`, "/operations")
    if (streamConsumer !== "ok") add("streams", "warn", "Streams of runs are not connected", "/operations")
  }
  const [alert] = alerts.data?.data ?? []
  if (alerts.data !== undefined && alert !== undefined) {
    const { data, total } = alerts.data
    const critical = data.filter(({ severity }) => severity === "critical").length
    const names = [...new Set(data.map(({ ruleName }) => cut(ruleName, NAME_LENGTH)))].slice(0, MOST_NAMED).join(", ")
    add(
      "alerts",
      critical > 0 ? "bad" : "warn",
      `${counted(total, "open alert")}${critical === 0 ? "" : `, ${critical} critical`}: ${names}`,
      total === 1 ? `/alerts?id=${alert.id}` : "/alerts"
    )
  }
  const { failedRuns } = overview.kpis
  if (failedRuns > 0) {
    add("failed", "bad", `${counted(failedRuns, "run")} failed in this time`, runsLink(range, "status:failed"))
  }
  const { data: counts, labels } = overview.charts.errorClasses
  const lost = counts[labels.indexOf("SESSION_LOST")] ?? 0
  if (lost > 0) {
    const text = `The runtime lost ${counted(lost, "session")} in this time`
    add("lost", "bad", text, runsLink(range, "errorCode:SESSION_LOST"))
  }
  if (outlier.data !== undefined && outlier.data !== null) {
    const { costUsd, id, mean, title } = outlier.data
    add(
      "cost",
      "warn",
      `${title} cost ${dollars(costUsd, [mean])}; the mean is ${dollars(mean, [costUsd])}`,
      `/runs/${id}?view=cost`
    )
  }
  if (stuck.data !== undefined && stuck.data.ids.length > 0) {
    const { checked, ids, running } = stuck.data
    const [first = ""] = ids
    const part = checked < running ? ` (the ${whole(checked)} latest of ${whole(running)} were checked)` : ""
    const text = `${counted(ids.length, "running run")} can no longer reach a positive outcome${part}`
    add("reach", "warn", text, ids.length === 1 ? `/runs/${first}?view=decision` : "/runs?status=running")
  }
  if (silent.data !== undefined && silent.data.length > 0) {
    const [first = ""] = silent.data
    const text = `${counted(silent.data.length, "run")} without an event for ${SILENT_MINUTES} minutes`
    add("silent", "warn", text, silent.data.length === 1 ? `/runs/${first}` : `/runs?${SILENT_LIST}`)
  }
  if (denied.data?.total !== undefined && denied.data.total > 0) {
    const text = `${counted(denied.data.total, "denial")} by policy in this time`
    add("denied", "warn", text, runsLink(range, "event:policy.denied"))
  }
  if (drift.data !== undefined) {
    const { missingFromRuntime, untrackedSessions } = drift.data
    if (untrackedSessions.length > 0) {
      add(
        "untracked",
        "warn",
        `${counted(untrackedSessions.length, "live session")} without a run`,
        "/operations#drift"
      )
    }
    if (missingFromRuntime !== null && missingFromRuntime.length > 0) {
      add("missing", "warn", `${counted(missingFromRuntime.length, "run")} whose session is gone`, "/operations#drift")
    }
  }
  for (const { active, deliveryStats, id, url } of hooks.data ?? []) {
    const failed = deliveryStats?.failed ?? 0
    if (failed > 0)
      add(`hook-${id}`, "warn", `${counted(failed, "delivery", "deliveries")} to ${url} failed`, `/webhooks?id=${id}`)
    else if (!active) add(`hook-${id}`, "warn", `The webhook ${url} is not active`, `/webhooks?id=${id}`)
  }
  const reads = [alerts, ready, drift, hooks, silent, denied, stuck, outlier]
  return {
    concerns,
    isPending: reads.some(({ isPending }) => isPending),
    /** The reads that failed or could not be refreshed. */
    old: reads.filter(isOld)
  }
}
