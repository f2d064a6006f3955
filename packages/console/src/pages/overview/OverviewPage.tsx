import type { DashboardCharts, DashboardKpis, DashboardOverview } from "@runplane/api"
import { X } from "lucide-react"
import { Suspense } from "react"
import { useNow, useTitle, useUrlState } from "../../ui/hooks.ts"
import { Loaded, Panel, Sheet } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { Skeleton } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { bucketsOf, fromFirstData, type TimeSpan } from "../../view/charts/Series.ts"
import { dateTime } from "../../view/format/Format.ts"
import { isMuchGuessed } from "../../view/format/Guesses.ts"
import { OFTEN_MS } from "../../view/live/Polls.ts"
import type { Scope } from "../../view/query/Scope.ts"
import { Attention } from "./Attention.tsx"
import { Decided } from "./Decided.tsx"
import { Kpis } from "./Kpis.tsx"
import { type OverviewRange, overTime, overviewParams, rangeOf } from "./OverviewQuery.ts"
import { Scenarios } from "./Scenarios.tsx"
import { Trends } from "./Trends.tsx"
import { useDecided } from "./useDecided.ts"

const Charts = lazily(() => import("./Charts.tsx"))

const GuessedCosts = lazily(() => import("./GuessedCosts.tsx"))

const WINDOWS: ReadonlyArray<readonly [Exclude<Scope["window"], "">, string]> = [
  ["1h", "1 h"],
  ["6h", "6 h"],
  ["24h", "24 h"],
  ["7d", "7 days"],
  ["30d", "30 days"]
]

const ModelCosts = lazily(() => import("./ModelCosts.tsx"))

/** Step by which the end of an open window moves; the time before the window is read again with each step. */
const STEP_MS = 60_000

/** The figures of all runs, and the problems that need a check. */
export default function OverviewPage() {
  const [state, set] = useUrlState(overviewParams)
  const now = useNow(OFTEN_MS)
  const minute = Math.ceil(now / STEP_MS) * STEP_MS
  const range = rangeOf(state, minute)
  useTitle("Overview")
  // The same key from minute to minute: what was read stays on the page when the next minute cannot be read.
  const overview = useRead(
    ["overview", { ...state, models: undefined, charts: false }],
    (api) => api.dashboard.overview({ query: range.query }),
    {
      everyMs: OFTEN_MS
    }
  )
  const before = useRead(["overview", range.before], (api) => api.dashboard.overview({ query: range.before }))
  const buckets = fromFirstData(
    bucketsOf(range.span, range.bucketMs),
    overview.data === undefined ? [] : overTime(overview.data.charts)
  )
  return (
    <Sheet
      title="Overview"
      note={state.environment === "" ? undefined : state.environment}
      actions={
        <>
          {range.window === undefined ? (
            <button
              type="button"
              className="btn num"
              title="Back to a time range that ends now"
              onClick={() => set({ from: undefined, to: undefined }, { push: true })}
            >
              {dateTime(range.span.from)} – {dateTime(range.span.to)} <X size={13} aria-hidden />
              <span className="sr-only">leave this time range</span>
            </button>
          ) : null}
          <span
            className="inline-flex overflow-hidden rounded-md border border-line-strong"
            role="group"
            aria-label="Time"
          >
            {WINDOWS.map(([window, title]) => (
              <button
                key={window}
                type="button"
                aria-pressed={range.window === window}
                className={`h-[26px] px-2 font-medium whitespace-nowrap ${
                  range.window === window ? "bg-accent-soft text-accent" : "bg-panel text-soft hover:bg-sunken"
                }`}
                onClick={() => set({ window, from: undefined, to: undefined }, { push: true })}
              >
                {title}
              </button>
            ))}
          </span>
        </>
      }
    >
      <Loaded read={overview} what="The overview cannot be read" rows={8} height={64}>
        {(shown) => (
          <>
            <Attention overview={shown} range={range} />
            <Kpis overview={shown} before={before.data} range={range} />
            {isMuchGuessed(costOf(shown.kpis), shown.kpis.guessedCostUsd) ? (
              <Suspense fallback={null}>
                <GuessedCosts
                  costUsd={costOf(shown.kpis)}
                  guessedCostUsd={shown.kpis.guessedCostUsd ?? 0}
                  range={range}
                />
              </Suspense>
            ) : null}
            <Bands
              overview={shown}
              range={range}
              buckets={buckets}
              onZoom={({ from, to }) => set({ from, to }, { push: true })}
            />
            <Scenarios overview={shown} range={range} />
            <Suspense fallback={null}>
              <ModelCosts
                isOpen={state.models ?? isCheap(shown.kpis)}
                onOpen={(models) => set({ models })}
                range={range}
              />
            </Suspense>
            {hasFigures(shown.charts) ? (
              <Panel
                title="All charts"
                actions={
                  <button
                    type="button"
                    className="btn"
                    aria-expanded={state.charts}
                    onClick={() => set({ charts: !state.charts })}
                  >
                    {state.charts ? "Hide" : "Show"}
                  </button>
                }
              >
                {state.charts ? (
                  <Suspense fallback={<Skeleton rows={4} height={120} />}>
                    <Charts
                      charts={shown.charts}
                      guessedCostUsd={shown.kpis.guessedCostUsd}
                      range={range}
                      buckets={buckets}
                      onZoom={({ from, to }) => set({ from, to }, { push: true })}
                    />
                  </Suspense>
                ) : null}
              </Panel>
            ) : null}
          </>
        )}
      </Loaded>
    </Sheet>
  )
}

interface BandsProps {
  readonly overview: DashboardOverview
  readonly range: OverviewRange
  readonly buckets: ReadonlyArray<number>
  readonly onZoom: (span: TimeSpan) => void
}

/** What was decided, then money and time: both know the decided runs. */
const Bands = ({ buckets, onZoom, overview: { charts, kpis }, range }: BandsProps) => {
  const found = useDecided(range)
  if (!hasFigures(charts)) return null
  return (
    <>
      <Decided found={found} range={range} />
      <Trends
        charts={charts}
        guessedCostUsd={kpis.guessedCostUsd}
        range={range}
        buckets={buckets}
        found={found}
        onZoom={onZoom}
      />
    </>
  )
}

/** Runs up to which the cost by model is read without a request: the service reads every call for it. */
const FEW_RUNS = 1_000
const isCheap = ({ totalRuns, totalTokens }: DashboardKpis): boolean => totalRuns <= FEW_RUNS && totalTokens > 0

const costOf = ({ totalCostUsd, totalCostUsdExact = totalCostUsd }: DashboardKpis): number => totalCostUsdExact

/** Empty charts say less than none. */
const hasFigures = (charts: DashboardCharts): boolean =>
  Object.values(charts).some(({ data }) => data.some((value) => value !== 0))
