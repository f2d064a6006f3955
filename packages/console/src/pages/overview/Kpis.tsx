import type { DashboardKpis, DashboardOverview } from "@runplane/api"
import { Link } from "wouter"
import { CostText } from "../../ui/CostText.tsx"
import { changeOf, pointsOf } from "../../view/charts/Series.ts"
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
  /** The name stands before the value. */
  readonly isNameFirst?: boolean
  /** Order of the list of its runs. */
  readonly sort?: string
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
    title: "runs",
    hint: "Created in this time",
    value: ({ totalRuns }) => totalRuns,
    say: whole,
    search: "",
    goodIs: "neither"
  },
  {
    id: "active",
    title: "active",
    hint: "Not ended yet",
    value: ({ activeRuns }) => activeRuns,
    say: whole,
    search: "status:(queued,starting,binding_session,running,suspended)",
    goodIs: "neither"
  },
  {
    id: "positive",
    title: "positive",
    hint: "Share of the ended runs that completed and were not declined",
    value: positiveShare,
    say: percent,
    search: "status:completed -outcome:negative",
    isShare: true,
    goodIs: "more"
  },
  {
    id: "declined",
    title: "declined",
    hint: "Completed with a negative decision",
    value: ({ declinedRuns }) => declinedRuns,
    say: whole,
    search: "status:completed outcome:negative",
    goodIs: "neither"
  },
  {
    id: "failed",
    title: "failed",
    hint: "Ended without a decision, with an error",
    value: ({ failedRuns }) => failedRuns,
    say: whole,
    search: "status:failed",
    goodIs: "less"
  },
  {
    id: "suspended",
    title: "suspended",
    hint: "Waiting to be resumed",
    value: ({ suspendedRuns }) => suspendedRuns,
    say: whole,
    search: "status:suspended",
    goodIs: "neither"
  },
  {
    id: "tokens",
    title: "tokens",
    hint: "Of all LLM calls of these runs",
    value: ({ totalTokens }) => totalTokens,
    say: compact,
    search: "has:tokens",
    sort: "tokens",
    goodIs: "neither"
  },
  {
    id: "cost",
    title: "cost",
    hint: "Estimated by the prices of the models",
    value: ({ totalCostUsd, totalCostUsdExact = totalCostUsd }) => totalCostUsdExact,
    say: listedDollars,
    guessed: ({ guessedCostUsd }) => guessedCostUsd,
    search: "has:cost",
    isNameFirst: true,
    sort: "dearest",
    goodIs: "less"
  },
  {
    id: "p50",
    title: "median time",
    hint: "Half of the completed runs took less",
    value: ({ p50DurationMs }) => p50DurationMs,
    say: duration,
    search: "status:completed",
    isNameFirst: true,
    sort: "slowest",
    goodIs: "less"
  },
  {
    id: "p95",
    title: "95th percentile",
    hint: "One completed run of twenty took longer",
    value: ({ p95DurationMs }) => p95DurationMs,
    say: duration,
    search: "status:completed",
    isNameFirst: true,
    sort: "slowest",
    goodIs: "less"
  }
]

interface KpisProps {
  readonly overview: DashboardOverview
  readonly before: DashboardOverview | undefined
  readonly range: OverviewRange
}

/** The key figures as one line of text, each with its change against the time before, and a link to its runs. */
export const Kpis = ({ before, overview, range }: KpisProps) => (
  <ul className="flex flex-wrap gap-x-4 px-1" aria-label="Key figures">
    {KPIS.map((kpi) => {
      const value = kpi.value(overview.kpis)
      return (
        <li key={kpi.id} className="min-w-0">
          <Link
            href={runsLink(range, kpi.search, undefined, kpi.sort)}
            title={`${kpi.hint}. Open these runs`}
            data-kpi={kpi.id}
            className="inline-flex items-baseline gap-1 rounded leading-6 whitespace-nowrap hover:underline"
          >
            {kpi.isNameFirst === true ? <span className="text-soft">{kpi.title}</span> : null}
            <span className="num font-semibold" data-value>
              {value === undefined ? (
                "–"
              ) : kpi.guessed === undefined ? (
                kpi.say(value)
              ) : (
                <CostText cost={{ costUsd: value, guessedCostUsd: kpi.guessed(overview.kpis) }} say={kpi.say} />
              )}
            </span>
            {kpi.isNameFirst === true ? null : <span className="text-soft">{kpi.title}</span>}
            <Change now={value} before={before === undefined ? undefined : kpi.value(before.kpis)} {...kpi} />
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
