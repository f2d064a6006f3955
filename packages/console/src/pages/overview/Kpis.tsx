import type { DashboardKpis, DashboardOverview } from "@runplane/api"
import { Link } from "wouter"
import { CostText } from "../../ui/CostText.tsx"
import { Spark } from "../../ui/charts/Spark.tsx"
import { changeOf, overBuckets, pointsOf } from "../../view/charts/Series.ts"
import { compact, duration, listedDollars, percent, points, whole } from "../../view/format/Format.ts"
import { type OverviewRange, runsLink } from "./OverviewQuery.ts"

interface Kpi {
  readonly id: string
  readonly title: string
  readonly hint: string
  readonly value: (kpis: DashboardKpis) => number | undefined
  readonly say: (value: number) => string
  /** For money: the part of it that is a guess. */
  readonly guessed?: (kpis: DashboardKpis) => number | undefined
  readonly trend: (overview: DashboardOverview) => ReadonlyArray<number>
  readonly trendLabels?: (overview: DashboardOverview) => ReadonlyArray<string>
  /** Conditions of the runs that it counts. */
  readonly search: string
  readonly goodIs: "more" | "less" | "neither"
  /** The value is a share: it changes by points. */
  readonly isShare?: boolean
}

const endedRuns = (kpis: DashboardKpis) => kpis.completedRuns + kpis.failedRuns + kpis.cancelledRuns

/** Of the runs that ended, those that completed and were not declined. */
const positiveShare = (kpis: DashboardKpis) =>
  endedRuns(kpis) === 0 ? undefined : (kpis.completedRuns - kpis.declinedRuns) / endedRuns(kpis)

const KPIS: ReadonlyArray<Kpi> = [
  {
    id: "total",
    title: "Runs",
    hint: "Created in this time",
    value: ({ totalRuns }) => totalRuns,
    say: whole,
    trend: ({ trends }) => trends.totalRuns,
    search: "",
    goodIs: "neither"
  },
  {
    id: "active",
    title: "Active",
    hint: "Not ended yet",
    value: ({ activeRuns }) => activeRuns,
    say: whole,
    trend: ({ trends }) => trends.activeRuns,
    search: "status:(queued,starting,binding_session,running,suspended)",
    goodIs: "neither"
  },
  {
    id: "positive",
    title: "Positive outcome",
    hint: "Share of the ended runs that completed and were not declined; the bars count these runs",
    value: positiveShare,
    say: percent,
    trend: ({ trends }) => trends.completedRuns.map((count, at) => count - (trends.declinedRuns[at] ?? 0)),
    search: "status:completed -outcome:negative",
    isShare: true,
    goodIs: "more"
  },
  {
    id: "declined",
    title: "Declined",
    hint: "Completed with a negative decision",
    value: ({ declinedRuns }) => declinedRuns,
    say: whole,
    trend: ({ trends }) => trends.declinedRuns,
    search: "status:completed outcome:negative",
    goodIs: "neither"
  },
  {
    id: "failed",
    title: "Failed",
    hint: "Ended without a decision, with an error",
    value: ({ failedRuns }) => failedRuns,
    say: whole,
    trend: ({ trends }) => trends.failedRuns,
    search: "status:failed",
    goodIs: "less"
  },
  {
    id: "suspended",
    title: "Suspended",
    hint: "Waiting to be resumed",
    value: ({ suspendedRuns }) => suspendedRuns,
    say: whole,
    trend: ({ trends }) => trends.suspendedRuns,
    search: "status:suspended",
    goodIs: "neither"
  },
  {
    id: "tokens",
    title: "Tokens",
    hint: "Of all LLM calls of these runs",
    value: ({ totalTokens }) => totalTokens,
    say: compact,
    trend: ({ trends }) => trends.tokens,
    search: "has:tokens",
    goodIs: "neither"
  },
  {
    id: "cost",
    title: "Cost",
    hint: "Estimated by the prices of the models",
    value: ({ totalCostUsd, totalCostUsdExact = totalCostUsd }) => totalCostUsdExact,
    say: listedDollars,
    guessed: ({ guessedCostUsd }) => guessedCostUsd,
    trend: ({ trends }) => trends.costUsd,
    search: "has:cost",
    goodIs: "less"
  },
  {
    id: "p50",
    title: "Duration p50",
    hint: "Half of the completed runs took less",
    value: ({ p50DurationMs }) => p50DurationMs,
    say: duration,
    trend: ({ charts }) => charts.latencyP50.data,
    trendLabels: ({ charts }) => charts.latencyP50.labels,
    search: "status:completed",
    goodIs: "less"
  },
  {
    id: "p95",
    title: "Duration p95",
    hint: "One completed run of twenty took longer",
    value: ({ p95DurationMs }) => p95DurationMs,
    say: duration,
    trend: ({ charts }) => charts.latencyP95.data,
    trendLabels: ({ charts }) => charts.latencyP95.labels,
    search: "status:completed",
    goodIs: "less"
  }
]

interface KpisProps {
  readonly overview: DashboardOverview
  readonly before: DashboardOverview | undefined
  readonly range: OverviewRange
  readonly buckets: ReadonlyArray<number>
}

/** The key figures, each with its trend, the change against the time before, and a link to its runs. */
export const Kpis = ({ before, buckets, range, overview }: KpisProps) => (
  <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3 md:grid-cols-5 2xl:grid-cols-10" aria-label="Key figures">
    {KPIS.map((kpi) => {
      const value = kpi.value(overview.kpis)
      const labels = kpi.trendLabels?.(overview) ?? overview.trends.labels
      return (
        <li key={kpi.id} className="min-w-0">
          <Link
            href={runsLink(range, kpi.search)}
            title={`${kpi.hint}. Open these runs`}
            data-kpi={kpi.id}
            className="panel flex h-full flex-col gap-0.5 px-3 py-2 hover:border-line-strong"
          >
            <span className="label truncate">{kpi.title}</span>
            <span className="flex items-baseline justify-between gap-1">
              <span className="num text-[19px] leading-6 font-semibold tracking-tight whitespace-nowrap" data-value>
                {value === undefined ? (
                  "–"
                ) : kpi.guessed === undefined ? (
                  kpi.say(value)
                ) : (
                  <CostText cost={{ costUsd: value, guessedCostUsd: kpi.guessed(overview.kpis) }} say={kpi.say} />
                )}
              </span>
              <Change now={value} before={before === undefined ? undefined : kpi.value(before.kpis)} {...kpi} />
            </span>
            <Spark values={overBuckets({ labels, data: kpi.trend(overview) }, buckets, 0)} />
          </Link>
        </li>
      )
    })}
  </ul>
)

interface ChangeProps {
  readonly now: number | undefined
  readonly before: number | undefined
  readonly say: (value: number) => string
  readonly goodIs: Kpi["goodIs"]
  readonly isShare?: boolean
}

const SMALL = 0.005

const Change = ({ before, goodIs, isShare = false, now, say }: ChangeProps) => {
  const change = isShare ? pointsOf(now, before) : changeOf(now, before)
  if (change === undefined || before === undefined) return null
  const isSame = Math.abs(change) < SMALL
  const isGood = goodIs === "more" ? change > 0 : change < 0
  const tone = isSame || goodIs === "neither" ? "text-muted" : isGood ? "text-good" : "text-bad"
  return (
    <span className={`num text-[11px] whitespace-nowrap ${tone}`} title={`${say(before)} in the time before`}>
      {isSame ? "=" : `${change > 0 ? "+" : "−"}${isShare ? points(Math.abs(change)) : amount(Math.abs(change))}`}
      <span className="sr-only"> against the time before</span>
    </span>
  )
}

const amount = (share: number) => (share >= 10 ? `${compact(share)}×` : percent(share))
